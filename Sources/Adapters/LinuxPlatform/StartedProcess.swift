import CLinux
import Glibc

/// A child process that runs, with our ends of its pipes; must be brought to its end by `finish`.
struct StartedProcess: ~Copyable {
    private let program: String
    private let processID: pid_t
    /// Readable when the process has ended.
    private let exit: OwnedDescriptor
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
                program, arguments, environment.map { "\($0.key)=\($0.value)" }, output: output.writingEnd.raw,
                errors: errors.writingEnd.raw)
        } catch {
            ChildTable.didEnd(nil)
            throw error
        }
        ChildTable.didStart(processID)
        // Not reaped yet, so the id is still its own, even when it has ended.
        do {
            exit = OwnedDescriptor(owning: try valueOrSystemError("watch \(program)") { clinux_pidfd_open(processID) })
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

    /// Reads until the process has ended by itself or one of the limits of `rules` ends it; then ends its group.
    consuming func finish(_ rules: ChildProcess, cancellation: EventDescriptor) -> ChildProcess.Outcome {
        let deadline = ContinuousClock.now.advanced(by: rules.timeLimit)
        var written: [UInt8] = []
        var complaint: [UInt8] = []
        var isOutputOpen = true
        var areErrorsOpen = true
        var ended: ChildProcess.Ending?
        while ended == nil {
            var watched = [
                pollfd(fd: exit.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: cancellation.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isOutputOpen ? output.raw : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: areErrorsOpen ? errors.raw : -1, events: Int16(POLLIN), revents: 0),
            ]
            let left = ContinuousClock.now.duration(to: deadline)
            _ = unsafe poll(&watched, nfds_t(watched.count), left.pollTimeout)
            // Read first: what was written before the end belongs to it.
            if isOutputOpen { isOutputOpen = Self.drain(output, into: &written, keepingLast: nil, rules.outputLimit) }
            if areErrorsOpen { areErrorsOpen = Self.drain(errors, into: &complaint, keepingLast: 4096, .max) }
            if written.count > rules.outputLimit {
                ended = .tooMuchOutput
            } else if watched[0].revents != 0 {
                break
            } else if watched[1].revents != 0 {
                ended = .cancelled
            } else if left <= .zero {
                ended = .timedOut
            }
        }
        if ended != nil {
            signal(SIGTERM)
            waitForEnd()
            signal(SIGKILL)
            waitForEnd()
        }
        kill(-processID, SIGKILL)  // whatever it left in its group; the id is free only after reaping
        var strays: [pid_t] = []
        if hasEnded {
            let status = Self.reap(processID)
            ended = ended ?? status
            strays = ChildTable.endOrphans(of: program)
        } else {
            // Another user's process may not be signalled, and one that waits for a disk does not hear.
            ChildTable.gaveUp(processID, of: program)
            ended = .goesOn(processID)
        }
        return ChildProcess.Outcome(
            ending: ended ?? .exited(-1), standardOutput: Array(written.prefix(rules.outputLimit)),
            standardError: complaint, strays: strays)
    }

    /// To the process wherever it went, and to the group that it was given.
    private borrowing func signal(_ number: CInt) {
        _ = clinux_pidfd_send_signal(exit.raw, number)
        kill(-processID, number)
    }

    /// For half a second at most.
    private borrowing func waitForEnd() {
        var watched = pollfd(fd: exit.raw, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&watched, 1, 500)
    }

    private var hasEnded: Bool {
        var watched = pollfd(fd: exit.raw, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&watched, 1, 0) > 0
    }

    /// Takes what is there without waiting, a bounded part of it, so that one who writes without end does not keep the
    /// limits from being looked at; false at the end of the stream.
    private static func drain(
        _ descriptor: borrowing OwnedDescriptor, into bytes: inout [UInt8], keepingLast tail: Int?, _ limit: Int
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

    private static func reap(_ processID: pid_t) -> ChildProcess.Ending {
        defer { ChildTable.didEnd(processID) }
        var status: CInt = 0
        while unsafe waitpid(processID, &status, 0) < 0 {
            guard errno == EINTR else { return .exited(-1) }
        }
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }
}
