import CLinux
import Glibc
package import LinuxPlatform

/// A program that a test has started, with its output as lines; killed when this object is released.
///
/// This type is for programs that run until they are signalled, `ChildProcess` for programs that end by themselves.
package final class RunningProgram: Sendable {
    package enum Termination: Sendable, Hashable {
        case exited(Int32)
        case signalled(Int32)
    }

    package let processID: Int32
    package let startedAt: ContinuousClock.Instant
    /// The lines of standard output.
    package let output: LineFlow
    /// The lines of standard error.
    package let errors: LineFlow
    private let ending = Locked<Termination?>(nil)

    /// Starts the program `arguments[0]`, found by `PATH`. The program inherits only `environment` and the descriptor
    /// `input`, and no blocked signals. Without `input`, its standard input is empty.
    package init(
        _ arguments: [String], environment: [String: String] = [:], input: CInt? = nil
    ) throws(SystemError) {
        let (outputEnds, errorEnds) = (try Self.pipe(), try Self.pipe())
        let output = OwnedDescriptor(owning: outputEnds.reading)
        let errors = OwnedDescriptor(owning: errorEnds.reading)
        // The writing ends are closed here after the start, so that the streams end with the program.
        let outputWriter = OwnedDescriptor(owning: outputEnds.writing)
        let errorWriter = OwnedDescriptor(owning: errorEnds.writing)
        startedAt = .now
        processID = try Self.spawn(
            arguments, environment, input: input, output: outputWriter.raw, errors: errorWriter.raw)
        self.output = try LineFlow(reading: output)
        self.errors = try LineFlow(reading: errors)
    }

    deinit { kill() }

    /// Kills the program and waits for its end.
    package func kill() { reap(afterKilling: true) }

    /// Sends a signal, unless the program has ended.
    package func signal(_ number: Int32) {
        ending.withLock { if $0 == nil { Glibc.kill(processID, number) } }
    }

    /// Waits until all threads of the program sleep, so that the program has nothing to do.
    package func waitUntilAtRest() async throws {
        let threads = "/proc/\(processID)/task"
        func isAtRest(_ thread: String) -> Bool {
            // If the thread has ended in between, the list is read again.
            guard let line = try? FileSystem.read(1024, at: 0, of: "\(threads)/\(thread)/stat") else { return false }
            return String(decoding: line, as: UTF8.self).split(separator: ")").last?.hasPrefix(" S") == true
        }
        while try !FileSystem.names(inDirectory: threads).allSatisfy(isAtRest) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Waits for the end of the program and of both streams. Kills the program if the test's time is over.
    @discardableResult
    package func end() async -> Termination {
        await errors.end()
        await output.end()
        return reap(afterKilling: Task.isCancelled)
    }

    /// Sends SIGTERM and waits for the program's end. Returns the ending, and the time until then.
    @discardableResult
    package func terminate() async -> (ending: Termination, took: Duration) {
        let start = ContinuousClock.now
        signal(SIGTERM)
        let ending = await end()
        return (ending, start.duration(to: .now))
    }

    @discardableResult
    private func reap(afterKilling kills: Bool) -> Termination {
        ending.withLock { ending in
            if let ending { return ending }
            if kills { Glibc.kill(processID, SIGKILL) }
            var status: CInt = 0
            while unsafe waitpid(processID, &status, 0) < 0, errno == EINTR {}
            let number = status & 0x7F
            let found: Termination = number == 0 ? .exited(status >> 8 & 0xFF) : .signalled(number)
            ending = found
            return found
        }
    }

    private static func pipe() throws(SystemError) -> (reading: CInt, writing: CInt) {
        var ends: [CInt] = [-1, -1]
        try valueOrSystemError("pipe") { unsafe clinux_pipe(&ends) }
        return (ends[0], ends[1])
    }

    private static func spawn(
        _ arguments: [String], _ environment: [String: String], input: CInt?, output: CInt, errors: CInt
    ) throws(SystemError) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input {
            unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        unsafe clinux_close_from(&actions, 3)

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // The threads of a pool block signals, and a child inherits its signal mask.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

        var argumentStrings = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var settings = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer { unsafe (argumentStrings + settings).forEach { unsafe free($0) } }
        var processID: pid_t = 0
        let code = unsafe posix_spawnp(&processID, arguments[0], &actions, &attributes, &argumentStrings, &settings)
        guard code == 0 else { throw SystemError(call: "start \(arguments[0])", number: code) }
        return processID
    }
}
