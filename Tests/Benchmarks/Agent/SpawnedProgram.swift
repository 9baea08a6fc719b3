import FoundationEssentials
import Glibc
import LinuxPlatform

/// A program that runs beside the benchmark under a process id that is known, so that its figures can be read.
final class SpawnedProgram: Sendable {
    let processID: pid_t
    private let isReaped = Locked(false)

    /// Starts a program with empty input; what it writes goes to the file `output`, or nowhere.
    init(_ arguments: [String], environment: [String] = [], output: String = "/dev/null") throws {
        guard let program = arguments.first else { throw BenchmarkError("there is no program to start") }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)

        // Threads of the pool block signals; a child must be endable by them.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

        var argv = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var envp = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe (argv + envp).forEach { unsafe free($0) } }
        var processID: pid_t = 0
        let code = unsafe posix_spawnp(&processID, program, &actions, &attributes, &argv, &envp)
        guard code == 0 else { throw SystemError(call: "start \(program)", number: code) }
        self.processID = processID
    }

    deinit { if !isReaped.withLock({ $0 }) { end(by: SIGKILL) } }

    /// Asks the program to end, and waits until it has.
    func stop() { end(by: SIGTERM) }

    /// Waits until the program has ended by itself; gives its exit code, or -1 when a signal ended it.
    @discardableResult
    func wait() -> CInt {
        var status: CInt = 0
        while unsafe waitpid(processID, &status, 0) < 0, errno == EINTR {}
        isReaped.withLock { $0 = true }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -1
    }

    private func end(by signal: CInt) {
        kill(processID, signal)
        wait()
    }
}
