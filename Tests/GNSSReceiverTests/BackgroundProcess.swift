import Glibc
import LinuxPlatform

/// A process of the test's own, ended with the value.
final class BackgroundProcess {
    private(set) var processID: pid_t = 0

    /// Starts `arguments[0]`, found by `PATH`, with `input` opened as its standard input, or with `open` for it.
    init(_ arguments: [String], input: String = "/dev/null", open: CInt? = nil) throws {
        var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let open {
            unsafe posix_spawn_file_actions_adddup2(&actions, open, STDIN_FILENO)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY | O_NOCTTY, 0)
        }
        // gpsd complains of the missing D-Bus, which is no concern of the test.
        unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        let code = unsafe posix_spawnp(&processID, arguments[0], &actions, nil, &pointers, environ)
        guard code == 0 else { throw SystemError(call: "start \(arguments[0])", number: code) }
    }

    deinit { stop() }

    /// Waits until the process has ended by itself.
    func end() {
        guard processID > 0 else { return }
        waitpid(processID, nil, 0)
        processID = 0
    }

    /// Ends the process and waits until it has gone.
    func stop() {
        guard processID > 0 else { return }
        // Not SIGTERM: the child inherits the mask of a pool's thread, which blocks it.
        kill(processID, SIGKILL)
        waitpid(processID, nil, 0)
        processID = 0
    }
}
