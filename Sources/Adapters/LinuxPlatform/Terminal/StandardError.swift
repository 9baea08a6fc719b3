import CLinux
import Glibc
import ReportedText

/// The standard error of this process, for logs and messages.
/// Writing never waits for a reader that hangs, such as a journal on a hanging disk or a paused pager. While output
/// isn't read, further output is dropped and counted.
package enum StandardError {
    private static let output = try? BackgroundOutput(named: "stderr", output: writeAll)
    /// Whether the last line on the terminal was written by `draw`, so that the next output replaces it.
    private static let hasDrawn = Locked(false)
    private static let clearLineSequence = Array("\r\u{1B}[2K".utf8)

    /// Queues `bytes` for writing. `notice` returns the line that is written in place of dropped output.
    package static func write(_ bytes: [UInt8], notice: @escaping BackgroundOutput.Notice = notice(ofDropped:)) {
        enqueue(bytes, notice: notice, isDrawn: false)
    }

    /// Draws a line on the terminal, without a line break. The next output replaces the line, and an empty line clears
    /// it. Does nothing if standard error isn't a terminal.
    package static func draw(_ bytes: [UInt8]) {
        guard isTerminal else { return }
        enqueue(bytes, notice: notice(ofDropped:), isDrawn: !bytes.isEmpty)
        flush(within: .seconds(1))
    }

    /// Queues one output at a time. Otherwise a line from another thread could be appended to a drawn line.
    private static func enqueue(_ bytes: [UInt8], notice: @escaping BackgroundOutput.Notice, isDrawn: Bool) {
        hasDrawn.withLock { hasDrawn in
            let bytes = exchange(&hasDrawn, with: isDrawn) ? clearLineSequence + bytes : bytes
            if let output { output.write(bytes, notice: notice) } else { writeAll(bytes) }
        }
    }

    /// Returns the line that reports that `count` writes were dropped.
    package static func notice(ofDropped count: Int) -> [UInt8] {
        Array("waypost: \(count.counted("message")) dropped: standard error was not read\n".utf8)
    }

    /// Writes `bytes` before the caller writes anything else, for example to standard output. Stops waiting if the
    /// reader hangs.
    package static func writeNow(_ bytes: [UInt8]) {
        write(bytes)
        flush(within: .seconds(1))
    }

    /// Writes the remaining output before the process ends. Stops waiting if the reader hangs.
    package static func finish() async {
        let limit = Duration.milliseconds(250)
        if case .failure = await onThreadIfPossible(named: "last-words", { flush(within: limit) }) {
            flush(within: limit)
        }
    }

    /// Blocks until all output has been written, or until `limit` has passed.
    package static func flush(within limit: Duration) { output?.flush(within: limit) }

    /// Writes all of `bytes`. If that fails (a closed pipe, a full disk), the rest is dropped, because the failure
    /// can't be reported anywhere.
    @Sendable private static func writeAll(_ bytes: [UInt8]) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(STDERR_FILENO, buffer.baseAddress?.advanced(by: done), buffer.count - done)
            }
            if count > 0 {
                done += count
            } else if count < 0, errno == EAGAIN {
                // The descriptor doesn't block, because another process shares it and has set it to nonblocking. So
                // wait for room.
                var room = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&room, 1, -1)
            } else if count == 0 || errno != EINTR {
                return
            }
        }
    }

    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// The width of the terminal in characters; 80 if it is unknown.
    package static var columns: Int {
        var columns: CInt = 0
        var rows: CInt = 0
        let isKnown = unsafe clinux_window_size(STDERR_FILENO, &columns, &rows) == 0 && columns > 0
        return isKnown ? Int(columns) : 80
    }
}

/// An output that may hang. It is written on a dedicated thread, so that no caller waits for it. When its queue is
/// full, further writes are dropped, and their number is reported once the output works again.
package final class BackgroundOutput: Sendable {
    /// A function that returns the line that reports the number of dropped writes.
    package typealias Notice = @Sendable (_ dropped: Int) -> [UInt8]

    /// The maximum number of bytes that can be queued. A single write to an empty queue may be larger.
    private static let capacity = 64 * 1024

    private struct State {
        var queue: [UInt8] = []
        /// The number of writes that were dropped after the bytes in `queue` were queued.
        var droppedCount = 0
        var notice: Notice?
        var isWriting = false
        var isStopped = false
        /// The events to signal once all output has been written.
        var flushes: [EventDescriptor] = []
    }

    private let state = Locked(State())
    private let wakeEvent: EventDescriptor

    /// Starts the thread. `output` must write all the bytes that it is given, and may block for any length of time.
    package init(named name: String, output: @escaping @Sendable ([UInt8]) -> Void) throws(SystemError) {
        wakeEvent = try EventDescriptor()
        try startThreadIfPossible(named: name) { [state, wakeEvent] in
            while true {
                wakeEvent.wait()
                wakeEvent.clear()
                while let (bytes, droppedCount, notice) = Self.takeQueue(of: state) {
                    if !bytes.isEmpty { output(bytes) }
                    if droppedCount > 0, let notice { output(notice(droppedCount)) }
                }
                if state.withLock({ $0.isStopped }) { return }
            }
        }
    }

    deinit {
        state.withLock { $0.isStopped = true }
        wakeEvent.signal()
    }

    /// Queues `bytes` after all earlier output. If they are dropped, `notice` later returns the line that reports it.
    package func write(_ bytes: [UInt8], notice: @escaping Notice) {
        state.withLock { state in
            let hasRoom = state.queue.isEmpty || state.queue.count + bytes.count <= Self.capacity
            if hasRoom, state.droppedCount == 0 {
                state.queue += bytes
            } else {
                state.droppedCount += 1
                state.notice = notice
            }
        }
        wakeEvent.signal()
    }

    /// Blocks until all output has been written, or until `limit` has passed.
    package func flush(within limit: Duration) {
        guard let done = try? EventDescriptor() else { return }
        let isIdle = state.withLock { state in
            let isIdle = state.queue.isEmpty && state.droppedCount == 0 && !state.isWriting
            if !isIdle { state.flushes.append(done) }
            return isIdle
        }
        guard !isIdle else { return }
        _ = try? poll(nil, within: limit, unless: done)
        state.withLock { $0.flushes.removeAll { $0 === done } }
    }

    /// Returns the queued bytes and the number of dropped writes, and empties the queue. Returns `nil` if there is
    /// nothing to write.
    private static func takeQueue(of state: Locked<State>) -> (bytes: [UInt8], droppedCount: Int, notice: Notice?)? {
        state.withLock { state in
            defer {
                state.queue = []
                state.droppedCount = 0
                state.notice = nil
            }
            state.isWriting = !state.queue.isEmpty || state.droppedCount > 0
            if state.isWriting { return (state.queue, state.droppedCount, state.notice) }
            for flush in state.flushes { flush.signal() }
            state.flushes = []
            return nil
        }
    }
}
