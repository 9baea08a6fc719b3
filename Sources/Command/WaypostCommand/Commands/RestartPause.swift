import LinuxPlatform
import Operations

/// The pause before a service that can't read its configuration ends. systemd starts it again 5 s later; only releases
/// from 254 on can lengthen these 5 s by themselves.
enum RestartPause {
    /// Returns the pause after a number of automatic restarts.
    static func duration(afterRestarts count: Int) -> Duration { .seconds(min(max(0, count) * 5, 55)) }

    /// Waits if systemd has restarted the service automatically, because no user waits for the result of such a start.
    /// Returns early if the service is stopped.
    static func wait() async {
        guard let socket = ProcessEnvironment.variables["NOTIFY_SOCKET"] else { return }
        let pause = duration(afterRestarts: await ServiceUnit.restarts)
        guard pause > .zero else { return }
        // Otherwise systemd would end a start that takes longer than its time limit.
        try? ServiceNotifier(socketPath: socket).send(["EXTEND_TIMEOUT_USEC=90000000"])
        try? await Task.sleep(for: pause)
    }
}
