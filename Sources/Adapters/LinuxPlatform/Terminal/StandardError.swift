import CLinux
import Glibc
import ReportedText

/// Standard error, for logs and messages.
///
/// Never waits for a reader that hangs, such as a journal on a hanging disk or a paused pager. Output that isn't read
/// is dropped and counted.
package enum StandardError {
    private static let output = try? BackgroundOutput(named: "stderr", output: writeAll)
    /// Whether the terminal's last line was written by `draw`.
    private static let hasDrawn = Locked(false)
    private static let clearing = Array("\r\u{1B}[2K".utf8)

    /// Queues `bytes` for writing. `notice` makes the line that replaces dropped writes.
    package static func write(_ bytes: [UInt8], notice: @escaping BackgroundOutput.Notice = notice(ofDropped:)) {
        put(bytes, notice: notice, isDrawn: false)
    }

    /// Draws a line on a terminal, without a line break. The next output replaces it. An empty line clears it.
    package static func draw(_ bytes: [UInt8]) {
        guard isTerminal else { return }
        put(bytes, notice: notice(ofDropped:), isDrawn: !bytes.isEmpty)
        flush(within: .seconds(1))
    }

    /// Writes one output at a time; otherwise a concurrent line would be appended to a drawn one.
    private static func put(_ bytes: [UInt8], notice: @escaping BackgroundOutput.Notice, isDrawn: Bool) {
        hasDrawn.withLock { hasDrawn in
            let bytes = exchange(&hasDrawn, with: isDrawn) ? clearing + bytes : bytes
            if let output { output.write(bytes, notice: notice) } else { writeAll(bytes) }
        }
    }

    /// Returns the line that replaces `count` dropped writes.
    package static func notice(ofDropped count: Int) -> [UInt8] {
        Array("waypost: \(count.counted("message")) dropped: standard error was not read\n".utf8)
    }

    /// Writes `bytes` before any later standard output, unless the reader hangs.
    package static func writeNow(_ bytes: [UInt8]) {
        write(bytes)
        flush(within: .seconds(1))
    }

    /// Writes the remaining output before the process ends, unless the reader hangs.
    package static func finish() async {
        let limit = Duration.milliseconds(250)
        if case .failure = await onThreadIfAny(named: "last-words", { flush(within: limit) }) { flush(within: limit) }
    }

    /// Blocks until all output is written, but at most for `limit`.
    package static func flush(within limit: Duration) { output?.flush(within: limit) }

    /// Writes all bytes. Drops them if that fails (a closed pipe, a full disk), because there is nowhere left to report
    /// the failure.
    @Sendable private static func writeAll(_ bytes: [UInt8]) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(STDERR_FILENO, buffer.baseAddress?.advanced(by: done), buffer.count - done)
            }
            if count > 0 {
                done += count
            } else if count < 0, errno == EAGAIN {
                // Another process that shares the descriptor made it nonblocking.
                var room = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&room, 1, -1)
            } else if count == 0 || errno != EINTR {
                return
            }
        }
    }

    /// Whether standard error is a terminal.
    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// The width of the terminal in characters; 80 if it is unknown.
    package static var columns: Int {
        var columns: CInt = 0
        var rows: CInt = 0
        let isKnown = unsafe clinux_window_size(STDERR_FILENO, &columns, &rows) == 0 && columns > 0
        return isKnown ? Int(columns) : 80
    }
}

/// An output that may hang, on a dedicated thread, so that a writer never waits. Writes for which there is no room are
/// dropped, and the output reports their number as soon as it resumes.
package final class BackgroundOutput: Sendable {
    /// A function that makes the line that reports `dropped` writes.
    package typealias Notice = @Sendable (_ dropped: Int) -> [UInt8]

    /// The number of bytes that may wait while others are being written. A single write may be larger.
    private static let capacity = 64 * 1024

    private struct State {
        var waiting: [UInt8] = []
        /// The number of writes after `waiting` for which there was no room.
        var dropped = 0
        var notice: Notice?
        var isWriting = false
        var isStopped = false
        /// The events that are signalled when nothing is left to write.
        var flushes: [EventDescriptor] = []
    }

    private let state = Locked(State())
    private let wake: EventDescriptor

    /// Starts the thread. `output` writes all of the bytes that it is passed, and may block for any time.
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

    /// Queues `bytes` after all earlier output. If these bytes are dropped, `notice` makes the line that reports it.
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

    /// Blocks until all output is written, but at most for `limit`.
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

    /// Returns the next output; `nil` if nothing is waiting.
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
