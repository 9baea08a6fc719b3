package import CLinux
import Glibc

/// A program that is run to its end, without a shell, with limits on its time and output.
///
/// The program leads its own process group. Its standard input is empty, its signal handling is the default, and it
/// inherits no other descriptors. However it ends, its whole group is killed. Processes that left the group are killed
/// too if this process may adopt orphans (`ChildTable`). The time limit holds even if another process keeps the output
/// open.
package struct ChildProcess: Sendable {
    package enum Termination: Sendable, Hashable {
        case exited(CInt)
        case signalled(CInt)
        /// The program was killed because it took too long.
        case timedOut
        /// The program was killed because its task was cancelled.
        case cancelled
        /// The program was killed because it wrote more than allowed.
        case tooMuchOutput
        /// The program wasn't started, or didn't end, because this user may not kill the process with this id. That
        /// process is the program itself, or was left behind by an earlier run.
        case stillRuns(pid_t)
        /// The program wasn't started, because processes of an earlier run have been killed but haven't ended yet. The
        /// value is their number.
        case isBeingEnded(Int)
    }

    /// The result of a run.
    package struct Outcome: Sendable, Hashable {
        package let ending: Termination
        package let standardOutput: [UInt8]
        /// The last 4 KiB of the program's standard error.
        package let standardError: [UInt8]
        /// The processes that the program left running. The program isn't started again until they have ended.
        package var remains = ChildTable.Remains()
    }

    /// The program and its arguments. A name without a slash is looked up in this process's `PATH`.
    package var arguments: [String]
    /// The program's whole environment. It inherits no variables from this process.
    package var environment: [String: String]
    package var timeLimit: Duration
    /// The maximum size of the program's standard output, in bytes.
    package var outputLimit: Int

    package init(
        arguments: [String], environment: [String: String] = [:], timeLimit: Duration = .seconds(15),
        outputLimit: Int = 64 * 1024
    ) {
        self.arguments = arguments
        self.environment = environment
        self.timeLimit = timeLimit
        self.outputLimit = outputLimit
    }

    /// Whether `/dev/null` exists. It is the standard input of every program.
    package static var hasNullDevice: Bool { (try? FileStatus(followingLinksAt: "/dev/null")) != nil }

    /// Runs the program, waits for its end on a dedicated thread, and returns the outcome. If the task is cancelled,
    /// the program is killed.
    ///
    /// - Throws: an error if the program can't be started.
    package func run() async throws(SystemError) -> Outcome {
        let cancellation = try EventDescriptor()
        let result = await withTaskCancellationHandler {
            await onThreadIfPossible(named: "waypost-child") { () -> Result<Outcome, SystemError> in
                if let obstacle = arguments.first.flatMap({ Termination(ChildTable.remains(of: $0)) }) {
                    return .success(Outcome(ending: obstacle, standardOutput: [], standardError: []))
                }
                do throws(SystemError) {
                    let started = try StartedProcess(arguments: arguments, environment: environment)
                    return .success(started.finish(self, cancellation: cancellation))
                } catch {
                    return .failure(error)
                }
            } afterwards: {
                ChildTable.keepReaping()
            }
        } onCancel: {
            cancellation.signal()
        }
        return try result.get().get()
    }
}

extension ChildProcess.Termination {
    /// Creates the ending that names the processes in `remains`; `nil` if there are none.
    fileprivate init?(_ remains: ChildTable.Remains) {
        if let first = remains.refused.first {
            self = .stillRuns(first)
        } else if remains.unended > 0 {
            self = .isBeingEnded(remains.unended)
        } else {
            return nil
        }
    }
}

/// A running child process, with the reading ends of its pipes. Each value must be consumed by calling `finish`.
struct StartedProcess: ~Copyable {
    private let program: String
    private let processID: pid_t
    /// A pidfd, which becomes readable when the process has ended.
    private let exitDescriptor: OwnedDescriptor
    private let output: OwnedDescriptor
    private let errors: OwnedDescriptor

    init(arguments: [String], environment: [String: String]) throws(SystemError) {
        guard let program = arguments.first else { throw SystemError(call: "start a program", number: EINVAL) }
        let output = try Pipe()
        let errors = try Pipe()
        try ChildTable.willStart()
        let processID: pid_t
        do throws(SystemError) {
            processID = try Self.spawn(
                program, arguments: arguments, environment: environment.map { "\($0.key)=\($0.value)" },
                output: output.writingEnd.raw,
                errors: errors.writingEnd.raw)
        } catch {
            ChildTable.didEnd(nil)
            throw error
        }
        ChildTable.didStart(processID)
        // The process hasn't been reaped, so its id can't have been reused even if it has ended.
        do {
            exitDescriptor = OwnedDescriptor(
                owning: try valueOrSystemError("watch \(program)") { clinux_pidfd_open(processID) })
        } catch {
            kill(-processID, SIGKILL)
            kill(processID, SIGKILL)
            _ = Self.reap(processID)
            throw error
        }
        self.program = program
        self.processID = processID
        self.output = output.keepReadingEnd()
        self.errors = errors.keepReadingEnd()
    }

    /// Reads the output until the process ends, reaches a limit of `rules`, or is cancelled. Then kills its process
    /// group. Returns the outcome.
    consuming func finish(_ rules: ChildProcess, cancellation: EventDescriptor) -> ChildProcess.Outcome {
        let deadline = ContinuousClock.now.advanced(by: rules.timeLimit)
        var standardOutput: [UInt8] = []
        var standardError: [UInt8] = []
        var isOutputOpen = true
        var areErrorsOpen = true
        var ended: ChildProcess.Termination?
        while ended == nil {
            var watched = [
                pollfd(fd: exitDescriptor.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: cancellation.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isOutputOpen ? output.raw : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: areErrorsOpen ? errors.raw : -1, events: Int16(POLLIN), revents: 0),
            ]
            let left = ContinuousClock.now.duration(to: deadline)
            _ = unsafe poll(&watched, nfds_t(watched.count), wholeMilliseconds(left))
            // Read the output before checking whether the program has ended, because all output that was written
            // before the end belongs to the result.
            if isOutputOpen {
                isOutputOpen = Self.drain(output, into: &standardOutput, keepingLast: nil, limit: rules.outputLimit)
            }
            if areErrorsOpen {
                areErrorsOpen = Self.drain(errors, into: &standardError, keepingLast: 4096, limit: .max)
            }
            if standardOutput.count > rules.outputLimit {
                ended = .tooMuchOutput
            } else if watched[0].revents != 0 {
                break
            } else if watched[1].revents != 0 {
                ended = .cancelled
            } else if left <= .zero {
                ended = .timedOut
            }
        }
        var isRefused = false
        if ended != nil {
            _ = signal(SIGTERM)
            _ = hasEnded(within: 500)
            isRefused = signal(SIGKILL)
            _ = hasEnded(within: 500)
        }
        // Kill the rest of the group. The group's id can't have been reused, because the process hasn't been reaped
        // yet.
        kill(-processID, SIGKILL)
        let remains: ChildTable.Remains
        if hasEnded(within: 0) {
            let status = Self.reap(processID)
            ended = ended ?? status
            remains = ChildTable.endOrphans(of: program)
        } else {
            // The process belongs to another user and can't be killed, or is waiting for a disk and can't end yet.
            remains = ChildTable.abandon(processID, of: program, isRefused: isRefused)
            ended = ChildProcess.Termination(remains) ?? ended
        }
        return ChildProcess.Outcome(
            ending: ended ?? .exited(-1), standardOutput: Array(standardOutput.prefix(rules.outputLimit)),
            standardError: standardError, remains: remains)
    }

    /// Signals the process, and the process group that it leads. Returns whether this user isn't allowed to signal the
    /// process.
    private borrowing func signal(_ number: CInt) -> Bool {
        let isRefused = clinux_pidfd_send_signal(exitDescriptor.raw, number) != 0 && errno == EPERM
        kill(-processID, number)
        return isRefused
    }

    private borrowing func hasEnded(within milliseconds: CInt) -> Bool {
        var watched = pollfd(fd: exitDescriptor.raw, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&watched, 1, milliseconds) > 0
    }

    /// Reads the output that has arrived. Stops after a fixed amount, so that a program that writes endlessly doesn't
    /// delay the checks. Returns `false` at the end of the stream.
    private static func drain(
        _ descriptor: borrowing OwnedDescriptor, into bytes: inout [UInt8], keepingLast tail: Int?, limit: Int
    ) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        for _ in 0..<16 where bytes.count <= limit {
            let count = unsafe read(descriptor.raw, &buffer, buffer.count)
            guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
            bytes += buffer.prefix(count)
            if let tail, bytes.count > tail { bytes.removeFirst(bytes.count - tail) }
        }
        return true
    }

    private static func reap(_ processID: pid_t) -> ChildProcess.Termination {
        defer { ChildTable.didEnd(processID) }
        var status: CInt = 0
        while unsafe waitpid(processID, &status, 0) < 0 {
            guard errno == EINTR else { return .exited(-1) }
        }
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }
}

extension StartedProcess {
    /// Starts the program by posix_spawn(3), and returns its process id. The program leads a new process group, with
    /// default signal handling and empty input.
    static func spawn(
        _ program: String, arguments: [String], environment: [String], output: CInt, errors: CInt
    ) throws(SystemError) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors, 2)
        // Libraries may have opened descriptors without the close-on-exec flag.
        unsafe clinux_close_from(&actions, 3)

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // The main thread blocks the signals that it waits for. The child must not inherit this mask, because those
        // signals must be able to terminate the child.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var processID: pid_t = 0
        let code = unsafe withStringVector(arguments) { argv in
            unsafe withStringVector(environment) { envp in
                unsafe posix_spawnp(&processID, program, &actions, &attributes, argv, envp)
            }
        }
        guard code == 0 else { throw SystemError(call: "start \(program)", number: code) }
        return processID
    }
}

/// Calls `body` with a null-terminated array of C strings, and returns its result. The array is valid only during the
/// call.
private func withStringVector<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
        guard let start = buffer.baseAddress else { preconditionFailure("the vector has at least its terminating nil") }
        return unsafe body(start)
    }
}
