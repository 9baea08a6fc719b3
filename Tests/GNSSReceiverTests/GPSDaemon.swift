import Glibc
import LinuxPlatform
import WaypostTestSupport

@testable import GNSSReceiver

/// The real gpsd on a free port, without a receiver at first; killed with the value.
final class GPSDaemon {
    /// Where gpsd is installed; `nil` where it is not.
    static let program = installed("gpsd")

    private static func installed(_ name: String) -> String? {
        let places = ["/usr/sbin/\(name)", "/usr/local/sbin/\(name)", "/usr/bin/\(name)"]
        return places.first { path in unsafe access(path, X_OK) == 0 }
    }

    let port: Int
    private let folder: TemporaryFolder
    private var process: BackgroundProcess?

    init() throws {
        port = try LoopbackSocket(.stream).port  // free a moment ago
        folder = try TemporaryFolder()
        try start()
    }

    /// In the foreground (-N), reading at once (-n) and only reading (-b).
    func start() throws {
        unsafe unlink(controlSocket)
        process = try BackgroundProcess(
            [Self.program ?? "gpsd", "-b", "-N", "-n", "-S", "\(port)", "-F", controlSocket])
    }

    /// With SIGKILL, and gone when this returns.
    func kill() { process?.stop() }

    /// Tells gpsd of a receiver, as udev's rules do. gpsd, which is no longer root, must be allowed to open it.
    func add(_ device: String) throws {
        try valueOrSystemError("chmod") { unsafe chmod(device, 0o666) }
        try tell("add", device)
    }

    func remove(_ device: String) throws { try tell("remove", device) }

    private var controlSocket: String { folder.path("control") }

    private func tell(_ verb: String, _ device: String) throws {
        try BackgroundProcess(
            ["/usr/bin/env", "GPSD_SOCKET=\(controlSocket)", Self.installed("gpsdctl") ?? "gpsdctl", verb, device]
        ).end()
    }
}
