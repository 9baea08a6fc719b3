import Glibc
package import LinuxPlatform
import ReportedText

/// The lines from a process, a named pipe or a socket, for which a test can wait.
///
/// A thread reads the lines until the end of the stream, or until this object is released.
package final class LineFlow: Sendable {
    package struct Line: Sendable {
        package let text: String
        package let arrivedAt: ContinuousClock.Instant
    }

    private let store = LineStore()
    private let stop: EventDescriptor

    /// Starts to read `descriptor`. `isDatagrams` says that each read returns a message, whose end also ends a line.
    package init(reading descriptor: consuming OwnedDescriptor, isDatagrams: Bool = false) throws(SystemError) {
        stop = try EventDescriptor()
        let (raw, store, stop) = (descriptor.release(), store, stop)
        startThread(named: "line-flow") {
            let descriptor = OwnedDescriptor(owning: raw)
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while case .ready? = try? poll(descriptor.raw, within: nil, unless: stop) {
                var span = buffer.mutableSpan
                guard let count = try? descriptor.read(into: &span), count > 0 else { break }
                store.add(buffer[..<count], endsLine: isDatagrams)
            }
            store.end()
        }
    }

    /// Makes a named pipe at `path`, and reads the lines that are written to it.
    package convenience init(namedPipe path: String) throws(SystemError) {
        try valueOrSystemError("make pipe \(path)") { unsafe mkfifo(path, 0o600) }
        // The pipe is also open for writing, because a pipe without a writer is at its end.
        try self.init(reading: OwnedDescriptor(opening: path, O_RDWR | O_NONBLOCK))
    }

    deinit { stop.signal() }

    package var lines: [Line] { store.lines }

    /// Every line so far as one text.
    package var text: String { lines.map(\.text).joined(separator: "\n") }

    /// Waits until `condition` holds for the lines so far. Returns `false` if the flow or the test ends first.
    package func wait(until condition: ([Line]) -> Bool) async -> Bool {
        while true {
            let (changes, alarm) = AsyncStream.makeStream(of: Never.self)
            let (lines, hasEnded) = store.watch(finishing: alarm)
            if condition(lines) { return true }
            if hasEnded || Task.isCancelled { return false }
            for await _ in changes {}
        }
    }

    /// Waits for the given number of lines that contain `text`, and returns the last of them; `nil` if the flow ends
    /// first.
    @discardableResult
    package func line(saying text: String, times: Int = 1) async -> Line? {
        var found: Line?
        _ = await wait { lines in
            let hits = lines.filter { $0.text.contains(text) }
            if hits.count >= times { found = hits[times - 1] }
            return found != nil
        }
        return found
    }

    package func end() async { _ = await wait { _ in false } }
}

/// The state that the reading thread and the waiting tests share.
private final class LineStore: Sendable {
    private struct State {
        var lines: [LineFlow.Line] = []
        /// The start of a line whose end has not arrived.
        var partialLine: [UInt8] = []
        var hasEnded = false
        var waiters: [AsyncStream<Never>.Continuation] = []
    }

    private let state = Locked(State())

    var lines: [LineFlow.Line] { state.withLock { $0.lines } }

    /// Returns the lines so far. Finishes `alarm` at the next change.
    func watch(finishing alarm: AsyncStream<Never>.Continuation) -> (lines: [LineFlow.Line], hasEnded: Bool) {
        state.withLock { state in
            state.waiters.append(alarm)
            return (state.lines, state.hasEnded)
        }
    }

    func add(_ bytes: ArraySlice<UInt8>, endsLine: Bool) {
        let now = ContinuousClock.now
        change { state in
            state.partialLine += bytes
            if endsLine { state.partialLine.append(UInt8(ascii: "\n")) }
            let parts = state.partialLine.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            for part in parts.dropLast() {
                state.lines.append(LineFlow.Line(text: String(decoding: part, as: UTF8.self), arrivedAt: now))
            }
            state.partialLine = Array(parts.last ?? [])
        }
    }

    func end() {
        let now = ContinuousClock.now
        change { state in
            if !state.partialLine.isEmpty {
                state.lines.append(
                    LineFlow.Line(text: String(decoding: state.partialLine, as: UTF8.self), arrivedAt: now))
            }
            (state.partialLine, state.hasEnded) = ([], true)
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiters = state.withLock { state in
            body(&state)
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.finish() }
    }
}
