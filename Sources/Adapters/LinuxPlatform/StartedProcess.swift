import CLinux
import Glibc

/// A child process that runs, with our ends of its pipes; must be brought to its end by `finish`.
struct StartedProcess: ~Copyable {
    private let processID: pid_t
    /// Readable when the process has ended.
    private let exit: OwnedDescriptor
    private let output: OwnedDescriptor
    private let errors: OwnedDescriptor

    init(arguments: [String], environment: [String: String]) throws(SystemError) {
        guard let program = arguments.first else { throw SystemError(call: "start a program", number: EINVAL) }
        let output = try Pipe()
        let errors = try Pipe()
        let processID = try Self.spawn(
            program, arguments, environment.map { "\($0.key)=\($0.value)" }, output: output.writingEnd.raw,
            errors: errors.writingEnd.raw)
        // Not reaped yet, so the id is still its own, even when it has ended.
        do {
            exit = OwnedDescriptor(owning: try valueOrSystemError("watch \(program)") { clinux_pidfd_open(processID) })
        } catch {
            kill(-processID, SIGKILL)
            _ = Self.reap(processID)
            throw error
        }
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
        if ended != nil { endGroup() }
        kill(-processID, SIGKILL)  // whatever it left in its group; the id is free only after reaping
        let status = Self.reap(processID)
        return ChildProcess.Outcome(
            ending: ended ?? status, standardOutput: Array(written.prefix(rules.outputLimit)), standardError: complaint)
    }

    /// Asks the group to end and gives it half a second.
    private borrowing func endGroup() {
        kill(-processID, SIGTERM)
        var watched = pollfd(fd: exit.raw, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&watched, 1, 500)
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
        var status: CInt = 0
        while unsafe waitpid(processID, &status, 0) < 0 {
            guard errno == EINTR else { return .exited(-1) }
        }
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }
}
