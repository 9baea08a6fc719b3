import Glibc
import LinuxPlatform
import WaypostTestSupport

/// The real gpsd on a free port, without a receiver at first. It is killed when this object is released.
final class GPSDaemon {
    /// The path of gpsd, if it is installed.
    static let programPath = installedPath(of: "gpsd")

    private static func installedPath(of name: String) -> String? {
        let candidates = ["/usr/sbin/\(name)", "/usr/local/sbin/\(name)", "/usr/bin/\(name)"]
        return candidates.first { path in unsafe access(path, X_OK) == 0 }
    }

    var port: Int { reservation.port }
    private let reservation: LoopbackSocket
    private let directory: TemporaryDirectory
    private var process: RunningProgram?

    init() throws {
        reservation = try LoopbackSocket.reservation()
        directory = try TemporaryDirectory()
        try start()
    }

    /// Starts gpsd in the foreground (-N). It opens its receivers at once (-n) and never writes to them (-b).
    func start() throws {
        unsafe unlink(controlSocket)
        process = try RunningProgram(
            [Self.programPath ?? "gpsd", "-b", "-N", "-n", "-S", "\(port)", "-F", controlSocket])
    }

    func kill() { process?.kill() }

    /// Adds a receiver, as udev's rules do. gpsd, which has dropped root, must be allowed to open it.
    func add(_ device: String) async throws {
        try valueOrSystemError("chmod") { unsafe chmod(device, 0o666) }
        try await sendCommand("add", device: device)
    }

    func remove(_ device: String) async throws { try await sendCommand("remove", device: device) }

    private var controlSocket: String { directory.path("control") }

    private func sendCommand(_ verb: String, device: String) async throws {
        let command = [Self.installedPath(of: "gpsdctl") ?? "gpsdctl", verb, device]
        await (try RunningProgram(command, environment: ["GPSD_SOCKET": controlSocket])).end()
    }
}
