/// The exit codes of every command (sysexits).
enum ExitStatus: Int32, Error, Sendable {
    case done = 0
    case failed = 1
    case usage = 64
    case badInput = 65
    case unavailable = 69
    case badConfiguration = 78
}
