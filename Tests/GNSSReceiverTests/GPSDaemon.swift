import Glibc
import LinuxPlatform

/// A gpsd process of the test's own.
final class GPSDaemon {
    /// Where gpsd is installed; `nil` where it is not.
    static var path: String? {
        ["/usr/sbin/gpsd", "/usr/local/sbin/gpsd", "/usr/bin/gpsd"].first { unsafe access($0, X_OK) == 0 }
    }

    private var processID: pid_t = 0

    /// Starts it in the foreground, reading at once (`-n`), known on `port` of loopback alone.
    init(port: Int, device: String) throws {
        let arguments = [Self.path ?? "gpsd", "-N", "-n", "-S", "\(port)", device]
        var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        let code = unsafe posix_spawn(&processID, arguments[0], nil, nil, &pointers, environ)
        guard code == 0 else { throw SystemError(call: "start \(arguments[0])", number: code) }
    }

    deinit { stop() }

    /// Ends the process and waits until it has gone.
    func stop() {
        guard processID > 0 else { return }
        kill(processID, SIGTERM)
        waitpid(processID, nil, 0)
        processID = 0
    }
}
