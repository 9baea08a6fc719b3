import LinuxPlatform

/// Remembers across a restart that Fleet Engine has not been told the vehicle's last state: a file beside the outbox.
struct OwedState: Sendable {
    private let path: String

    init(besideOutbox outbox: String) { path = outbox + ".owed-state" }

    /// Whether a state is owed.
    var isOwed: Bool {
        get async {
            let path = path
            return await onThread(named: "owed-state") { (try? FileSystem.entry(at: path)) ?? nil != nil }
        }
    }

    /// Notes that the state is owed, or that it has been told.
    func set(_ isOwed: Bool, log: LogWriter) async {
        let path = path
        let failure: SystemError? = await onThread(named: "owed-state") {
            do throws(SystemError) {
                let exists = try FileSystem.entry(at: path) != nil
                if isOwed, !exists { try FileSystem.createFile(at: path) }
                if !isOwed, exists { try FileSystem.removeFile(at: path) }
                return nil
            } catch { return error }
        }
        if let failure { log.write(.warning, "the state owed to Fleet Engine cannot be noted: \(failure)") }
    }
}
