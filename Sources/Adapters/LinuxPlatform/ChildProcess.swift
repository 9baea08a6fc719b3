package import Glibc

/// Runs a program to its end, without a shell, within limits.
///
/// The program leads a process group of its own, with standard input empty, signals as by default, and no descriptor
/// of ours. Whatever ends it, nothing of its group is left; nor of what left the group, where this process may adopt
/// orphans (`ChildTable`). Its time limit holds whatever it does: nobody waits for who else holds its output.
package struct ChildProcess: Sendable {
    /// How it ended.
    package enum Ending: Sendable, Hashable {
        case exited(CInt)
        case signalled(CInt)
        /// Ended by us: it took too long.
        case timedOut
        /// Ended by us: its task was cancelled.
        case cancelled
        /// Ended by us: it wrote more than allowed.
        case tooMuchOutput
        /// This process of it could not be ended, now or at an earlier run, or was left behind by that; none is started
        /// beside it.
        case goesOn(pid_t)
    }

    /// What it left behind.
    package struct Outcome: Sendable, Hashable {
        package let ending: Ending
        package let standardOutput: [UInt8]
        /// The last part of what it wrote there.
        package let standardError: [UInt8]
        /// Processes that it left running and that could not be ended; it is not started again before they have ended.
        package var strays: [pid_t] = []
    }

    /// The program and its arguments; a name without a slash is looked up in our own `PATH`.
    package var arguments: [String]
    /// Its whole environment; nothing is inherited.
    package var environment: [String: String]
    package var timeLimit: Duration
    /// The most that is taken from its standard output, in bytes.
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

    /// Runs and waits on a thread of its own; cancelling the task ends the program.
    ///
    /// - Throws: when the program cannot be started.
    package func run() async throws(SystemError) -> Outcome {
        let cancellation = try EventDescriptor()
        let result = await withTaskCancellationHandler {
            await onThread(named: "waypost-child") { () -> Result<Outcome, SystemError> in
                if let program = arguments.first, let processID = ChildTable.survivor(of: program) {
                    return .success(Outcome(ending: .goesOn(processID), standardOutput: [], standardError: []))
                }
                do throws(SystemError) {
                    let started = try StartedProcess(arguments: arguments, environment: environment)
                    return .success(started.finish(self, cancellation: cancellation))
                } catch {
                    return .failure(error)
                }
            }
        } onCancel: {
            cancellation.signal()
        }
        return try result.get()
    }
}
