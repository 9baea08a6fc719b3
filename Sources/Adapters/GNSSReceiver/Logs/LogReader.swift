package import GNSS
import Glibc
import LinuxPlatform
import ReportedText
package import Reporting
import TimeAndRandomness

/// A reader that decodes logs one after another, each to its end. A followed log has no end; only the last log can be
/// followed.
///
/// The reader has its own thread, because the disk is slow and decoding takes time. Each log has its own decoder, so
/// that no date is carried over from one log to the next.
package actor LogReader {
    /// The fixes and warnings from one part of a log.
    package struct Chunk: Sendable {
        /// The log's name, as shown to operators.
        package let name: String
        package let fixes: [Fix]
        let warnings: [ReceiverWarning]
        /// The number of bytes of the log that have been read, before decompression.
        package let bytesRead: Int64
        /// The size of the log; `nil` for a pipe.
        package let totalBytes: Int64?
        /// The outcome of the log if this is its last chunk; otherwise `nil`.
        package let outcome: LogOutcome?
        /// The reason why the log couldn't be opened or read further; `nil` if there was no failure.
        package let failure: FixSourceError?
        /// Whether this is the last chunk of the last log.
        package let isLast: Bool
    }

    /// The log that is open, or the previous one if none is open.
    private struct OpenLog {
        enum Source {
            case recordedLog(RecordedLog)
            case growingFile(GrowingFile)
            /// A growing file that doesn't exist yet.
            case missing
        }

        var path = ""
        var decoder: NMEADecoder
        var source: Source?
        var pause = GrowthPause()
        /// The first bytes, which show whether the file is a log.
        var beginning: [UInt8] = []
        /// The times of the first and the last fix so far; `nil` before the first fix.
        var fixTimes: (first: UTCTime, last: UTCTime)?
    }

    package nonisolated let paths: [String]
    /// A name for all logs together, to show operators.
    nonisolated let name: String
    private let executor = ThreadExecutor(named: "gnss-log")
    private let initialDecoder: NMEADecoder
    private let follows: Bool
    private let notify: @Sendable (String) -> Void
    /// The signal that ends every wait when the reading task is cancelled.
    private let stop: EventDescriptor
    private var buffer: [UInt8]
    private var remaining: ArraySlice<String>
    private var log: OpenLog

    /// Creates a reader. It opens the logs later.
    ///
    /// - Parameters:
    ///   - paths: the logs; `-` is standard input. A followed log need not exist yet.
    ///   - decoder: a decoder in its initial state. A copy of it decodes each log.
    ///   - follows: whether another program is still writing the last log, so that its end must be waited for. Standard
    ///     input isn't followed.
    ///   - chunkBytes: the maximum number of bytes decoded for one chunk.
    ///   - notify: called with messages for the operator about a growing file.
    /// - Throws: an error if the system is out of descriptors.
    package init(
        paths: [String], decoder: NMEADecoder = NMEADecoder(), follows: Bool = false, chunkBytes: Int = 64 << 10,
        notify: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(FixSourceError) {
        self.paths = paths
        initialDecoder = decoder
        self.follows = follows
        self.notify = notify
        name = Self.name(of: paths)
        stop = try EventDescriptor.forReceiver()
        buffer = [UInt8](repeating: 0, count: chunkBytes)
        remaining = paths[...]
        log = OpenLog(decoder: decoder)
    }

    /// Returns a name for all logs at `paths` together, to show operators.
    static func name(of paths: [String]) -> String {
        paths.count == 1 ? RecordedLog.name(of: paths[0]) : "\(paths.count) logs"
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Runs `body`, which may block, on the reader's thread, and returns its result. Cancelling the calling task ends
    /// all waits in `body`.
    package func read<Result: Sendable>(_ body: @Sendable (isolated LogReader) -> Result) async -> Result {
        await withTaskCancellationHandler {
            body(self)
        } onCancel: {
            stop.signal()
        }
    }

    /// Opens every log once, so that a wrong name is reported before the first fix. Skips pipes, because they can be
    /// opened only once, and a followed log, because it may not exist yet.
    package func requireAllLogs() throws(FixSourceError) {
        for path in follows ? paths.dropLast() : paths[...] where !RecordedLog.isReadOnce(path) {
            _ = try RecordedLog(path: path, stop: stop)
        }
    }

    /// Returns the next chunk, and waits for it if the log is followed. At the end of a log, its last epoch is
    /// completed.
    package func nextChunk() -> Chunk {
        var fixes: [Fix] = []
        var failure: FixSourceError?
        var hasMore = false
        do throws(FixSourceError) {
            if log.source == nil { try openNextLog() }
            hasMore = try decodeMore { fixes.append($0) }
        } catch { failure = error }
        if !hasMore { log.decoder.finish { fixes.append($0) } }
        if let first = fixes.first, let last = fixes.last {
            log.fixTimes = (log.fixTimes?.first ?? first.timeOfFix, last.timeOfFix)
        }
        var warnings: [ReceiverWarning] = []
        while let warning = log.decoder.takeWarning() { warnings.append(warning) }
        defer { if !hasMore { log.source = nil } }
        return Chunk(
            name: logName, fixes: fixes, warnings: warnings, bytesRead: bytesRead, totalBytes: recordedLog?.totalBytes,
            outcome: hasMore || log.source == nil ? nil : outcome,
            failure: failure, isLast: !hasMore && (failure != nil || remaining.isEmpty))
    }

    private var outcome: LogOutcome {
        LogOutcome(name: logName, statistics: log.decoder.statistics, beginning: log.beginning, fixTimes: log.fixTimes)
    }
    private var logName: String { RecordedLog.name(of: log.path) }
    private var recordedLog: RecordedLog? { if case .recordedLog(let file) = log.source { file } else { nil } }
    private var growingFile: GrowingFile? { if case .growingFile(let file) = log.source { file } else { nil } }
    private var bytesRead: Int64 { recordedLog?.bytesRead ?? growingFile?.offset ?? 0 }

    private func openNextLog() throws(FixSourceError) {
        guard let next = remaining.popFirst() else { return }
        log = OpenLog(path: next, decoder: initialDecoder)
        guard follows, remaining.isEmpty, next != "-" else {
            log.source = .recordedLog(try RecordedLog(path: next, stop: stop))
            return
        }
        if try !openGrowingFile(tolerating: [ENOENT]) {
            log.source = .missing
            notify("\(logName) does not exist yet; waiting for it")
        }
    }

    /// Opens the current path as a growing file. Returns `false` if opening fails with one of the given `errors`.
    private func openGrowingFile(tolerating errors: [CInt]) throws(FixSourceError) -> Bool {
        let file: GrowingFile
        do throws(SystemError) { file = try GrowingFile(path: log.path, from: .start) } catch {
            guard errors.contains(error.number) else {
                throw FixSourceError(log: log.path, RecordedLog.openingFault(at: log.path, error))
            }
            return false
        }
        if let fault = file.fault { throw FixSourceError(log: log.path, fault) }
        log.source = .growingFile(file)
        return true
    }

    /// Decodes the next bytes of the open log. Returns `false` at its end.
    private func decodeMore(_ emit: (Fix) -> Void) throws(FixSourceError) -> Bool {
        try wait(for: nil, within: .zero)
        while true {
            switch log.source {
            case .recordedLog(let file):
                var span = buffer.mutableSpan
                let count = try file.read(into: &span)
                decodeBuffer(count: count, emit)
                return count > 0
            case .growingFile(let file):
                switch try check(file) {
                case .bytes(let count):
                    decodeBuffer(count: count, emit)
                    return true
                case .truncated:
                    notify("\(logName) was truncated; reading it again from the start")
                    // The new content is another recording, so it needs a new decoder.
                    log.decoder.finish(emit)
                    log.decoder = initialDecoder
                    log.pause = GrowthPause()
                    continue
                case .replaced:
                    notify("\(logName) was replaced; reading the new file")
                    if let fault = file.fault { throw FixSourceError(log: log.path, fault) }
                    continue
                case .writersGone where file.kind == .device: return false
                case .writersGone: try reopen(file)
                case .nothingYet: break
                }
            case .missing: if try openGrowingFile(tolerating: GrowingFile.missingFileErrors) { continue }
            case nil: return false
            }
            if try waitForMore(emit) { return true }
        }
    }

    private func decodeBuffer(count: Int, _ emit: (Fix) -> Void) {
        let bytes = buffer
        let new = bytes.span.extracting(first: count)
        if log.beginning.isEmpty { log.beginning = Array(bytes.prefix(min(count, 1024))) }
        // While a recorded log is read, this time doesn't advance, so no pause completes an epoch.
        log.decoder.decode(new, receivedAt: log.pause.time, emit)
        log.pause.recordBytes(new)
    }

    private func check(_ file: GrowingFile) throws(FixSourceError) -> GrowingFile.CheckResult {
        do throws(SystemError) {
            var span = buffer.mutableSpan
            return try file.check(into: &span)
        } catch { throw readFailed(error) }
    }

    /// Reopens a FIFO that has lost its writers, so that the next writer can be waited for. If the FIFO is gone, waits
    /// for the file that replaces it.
    private func reopen(_ file: GrowingFile) throws(FixSourceError) {
        do throws(SystemError) {
            if try file.reopen() { return }
        } catch { throw readFailed(error) }
        log.source = .missing
        notify("\(logName) is gone; waiting for it")
    }

    /// Waits for more bytes of a growing file, or for a pause. Returns whether a pause has completed an epoch.
    private func waitForMore(_ emit: (Fix) -> Void) throws(FixSourceError) -> Bool {
        let maximum = growingFile == nil ? GrowingFile.interval : .seconds(60)
        let start = MonotonicTime.now
        try wait(
            for: growingFile?.raw, within: min(log.pause.timeout(until: log.decoder.idleDeadline) ?? maximum, maximum))
        guard log.pause.recordWait(MonotonicTime.now - start) else { return false }
        var isComplete = false
        log.decoder.handleIdleLine(at: log.pause.time) {
            isComplete = true
            emit($0)
        }
        return isComplete
    }

    /// Waits until `descriptor` is readable or `duration` has passed.
    private func wait(for descriptor: CInt?, within duration: Duration) throws(FixSourceError) {
        do throws(SystemError) {
            if try poll(descriptor, within: duration, unless: stop) != .stopped { return }
        } catch { throw readFailed(error) }
        throw FixSourceError(log: logName, .stopped)
    }

    private func readFailed(_ error: SystemError) -> FixSourceError {
        FixSourceError(log: logName, .readFailed(reason: error.reason, afterBytes: bytesRead))
    }
}
