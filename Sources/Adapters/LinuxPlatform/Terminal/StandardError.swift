import CLinux
import Glibc
import ReportedText

/// Standard error, for logs and for people.
///
/// A reader that hangs (a journal on a disk that does, a paused pager) is not waited for: what it does not read is
/// dropped, and counted.
package enum StandardError {
    private static let output = try? BackgroundOutput(named: "stderr", output: writeAll)
    /// Whether the terminal's last line is one that was drawn.
    private static let hasDrawn = Locked(false)
    private static let clearing = Array("\r\u{1B}[2K".utf8)

    /// Writes `bytes` soon; `notice` words it when earlier writes were dropped.
    package static func write(_ bytes: [UInt8], notice: @escaping BackgroundOutput.Notice = notice(ofDropped:)) {
        put(bytes, notice: notice, isDrawn: false)
    }

    /// Draws a line, without its end, where a person may be looking: whatever is written next takes its place. Of an
    /// empty one nothing is left.
    package static func draw(_ bytes: [UInt8]) {
        guard isTerminal else { return }
        put(bytes, notice: notice(ofDropped:), isDrawn: !bytes.isEmpty)
        flush(within: .seconds(1))
    }

    /// One after the other, or a line that comes beside a drawn one would stand behind it.
    private static func put(_ bytes: [UInt8], notice: @escaping BackgroundOutput.Notice, isDrawn: Bool) {
        hasDrawn.withLock { hasDrawn in
            let bytes = exchange(&hasDrawn, with: isDrawn) ? clearing + bytes : bytes
            if let output { output.write(bytes, notice: notice) } else { writeAll(bytes) }
        }
    }

    /// The line in place of so many writes that were dropped.
    package static func notice(ofDropped count: Int) -> [UInt8] {
        Array("waypost: \(count.counted("message")) dropped, nothing read standard error\n".utf8)
    }

    /// Writes `bytes` before anything that standard output is given next; but for a reader who hangs.
    package static func writeNow(_ bytes: [UInt8]) {
        write(bytes)
        flush(within: .seconds(1))
    }

    /// What is still to be written when all is done, but for a reader who hangs.
    package static func lastWords() async {
        let limit = Duration.milliseconds(250)
        if case .failure = await onThreadIfAny(named: "last-words", { flush(within: limit) }) { flush(within: limit) }
    }

    /// Blocks until nothing is left to write, for `limit` at most.
    package static func flush(within limit: Duration) { output?.flush(within: limit) }

    /// What cannot be written (a closed pipe, a full disk) is dropped, for there is nowhere left to say so.
    @Sendable private static func writeAll(_ bytes: [UInt8]) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(STDERR_FILENO, buffer.baseAddress?.advanced(by: done), buffer.count - done)
            }
            if count > 0 {
                done += count
            } else if count < 0, errno == EAGAIN {
                // A process that shares it has made it nonblocking.
                var room = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&room, 1, -1)
            } else if count == 0 || errno != EINTR {
                return
            }
        }
    }

    /// Whether a person may be looking.
    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// How many characters a line of the terminal has; of one that does not know, the usual.
    package static var columns: Int {
        var columns: CInt = 0
        var rows: CInt = 0
        let isKnown = unsafe clinux_window_size(STDERR_FILENO, &columns, &rows) == 0 && columns > 0
        return isKnown ? Int(columns) : 80
    }
}

/// An output that may hang, behind a thread of its own: a writer never waits. What finds no room is dropped, and
/// counted in the output as soon as it moves again.
package final class BackgroundOutput: Sendable {
    /// Says that so many writes were dropped.
    package typealias Notice = @Sendable (_ dropped: Int) -> [UInt8]

    /// Bytes that may wait beside those that are being written, if they are of more than one write.
    private static let capacity = 64 * 1024

    private struct State {
        var waiting: [UInt8] = []
        /// Writes that came after `waiting` and found no room.
        var dropped = 0
        var notice: Notice?
        var isWriting = false
        var isStopped = false
        /// To be signalled when nothing is left to write.
        var flushes: [EventDescriptor] = []
    }

    private let state = Locked(State())
    private let wake: EventDescriptor

    /// `output` writes whole what it is given; it may block for as long as it likes.
    package init(named name: String, output: @escaping @Sendable ([UInt8]) -> Void) throws(SystemError) {
        wake = try EventDescriptor()
        try startThreadIfAny(named: name) { [state, wake] in
            while true {
                wake.wait()
                wake.clear()
                while let (bytes, dropped, notice) = Self.next(state) {
                    if !bytes.isEmpty { output(bytes) }
                    if dropped > 0, let notice { output(notice(dropped)) }
                }
                if state.withLock({ $0.isStopped }) { return }
            }
        }
    }

    deinit {
        state.withLock { $0.isStopped = true }
        wake.signal()
    }

    /// Takes `bytes` to be written after all before; left out they count as one, in what `notice` makes of the count.
    package func write(_ bytes: [UInt8], notice: @escaping Notice) {
        state.withLock { state in
            let hasRoom = state.waiting.isEmpty || state.waiting.count + bytes.count <= Self.capacity
            if hasRoom, state.dropped == 0 {
                state.waiting += bytes
            } else {
                state.dropped += 1
                state.notice = notice
            }
        }
        wake.signal()
    }

    /// Blocks until nothing is left to write, for `limit` at most.
    package func flush(within limit: Duration) {
        guard let done = try? EventDescriptor() else { return }
        let isIdle = state.withLock { state in
            let isIdle = state.waiting.isEmpty && state.dropped == 0 && !state.isWriting
            if !isIdle { state.flushes.append(done) }
            return isIdle
        }
        guard !isIdle else { return }
        _ = try? poll(nil, within: limit, unless: done)
        state.withLock { $0.flushes.removeAll { $0 === done } }
    }

    /// What is to be written next; `nil` when nothing is.
    private static func next(_ state: Locked<State>) -> (bytes: [UInt8], dropped: Int, notice: Notice?)? {
        state.withLock { state in
            defer {
                state.waiting = []
                state.dropped = 0
                state.notice = nil
            }
            state.isWriting = !state.waiting.isEmpty || state.dropped > 0
            if state.isWriting { return (state.waiting, state.dropped, state.notice) }
            for flush in state.flushes { flush.signal() }
            state.flushes = []
            return nil
        }
    }
}
