package import GNSS
import Glibc
import LinuxPlatform
import ReportedText
package import Reporting
import TimeAndChance

/// Logs through a decoder, one after another: recorded ones to their ends, the last one for ever if it is followed.
///
/// It has a thread of its own, for the disk is slow and decoding is work. Each log gets its own decoder, so that no
/// date is carried over.
package actor LogReader {
    /// What a part of a log held.
    package struct Chunk: Sendable {
        /// What the operator calls the log.
        package let name: String
        package let fixes: [Fix]
        let warnings: [ReceiverWarning]
        /// How much of the log has been read, before unpacking.
        package let bytesRead: Int64
        /// Size of the log; `nil` for what has none.
        package let totalBytes: Int64?
        /// Comes with the log's last chunk.
        package let outcome: LogOutcome?
        /// Why the log could not be opened, or not be read further.
        package let failure: FixSourceError?
        /// Nothing follows, of this log or another.
        package let isLast: Bool
    }

    /// The open log; what follows belongs to it, or to the last one.
    private struct OpenLog {
        enum Source {
            case recorded(RecordedLog)
            case growing(GrowingFile)
            /// A growing file that is waited for.
            case missing
        }

        var path = ""
        var decoder: NMEADecoder
        var source: Source?
        var pause = GrowthPause()
        /// As much as tells what a file is that is no log.
        var beginning: [UInt8] = []
        /// The times of its first fix and its last so far.
        var ends: (first: UTCTime, last: UTCTime)?
    }

    package nonisolated let paths: [String]
    /// What the operator calls the logs together.
    nonisolated let name: String
    private let executor = ThreadExecutor(named: "gnss-log")
    private let newDecoder: NMEADecoder
    private let follows: Bool
    private let tell: @Sendable (String) -> Void
    /// Ends every wait.
    private let stop: EventDescriptor
    private var buffer: [UInt8]
    private var remaining: ArraySlice<String>
    private var log: OpenLog

    /// Opens nothing yet.
    ///
    /// - Parameters:
    ///   - paths: the logs; `-` is standard input. One that is followed need not be there yet.
    ///   - decoder: a decoder that has not met anything yet.
    ///   - follows: whether the last log is one that another program still writes; standard input just ends.
    ///   - chunkBytes: how much is decoded for one chunk at most.
    ///   - tell: called with what becomes of a growing file, in words for the operator.
    /// - Throws: when the system is out of descriptors.
    package init(
        paths: [String], decoder: NMEADecoder = NMEADecoder(), follows: Bool = false, chunkBytes: Int = 64 << 10,
        tell: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(FixSourceError) {
        self.paths = paths
        newDecoder = decoder
        self.follows = follows
        self.tell = tell
        name = Self.name(of: paths)
        stop = try EventDescriptor.forReceiver()
        buffer = [UInt8](repeating: 0, count: chunkBytes)
        remaining = paths[...]
        log = OpenLog(decoder: decoder)
    }

    /// What the operator calls the logs at `paths` together.
    static func name(of paths: [String]) -> String {
        paths.count == 1 ? RecordedLog.name(of: paths[0]) : "\(paths.count) logs"
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Runs `body`, which may block, on the reader's thread; when the task is cancelled, what it reads ends.
    package func read<Result: Sendable>(_ body: @Sendable (isolated LogReader) -> Result) async -> Result {
        await withTaskCancellationHandler {
            body(self)
        } onCancel: {
            stop.signal()
        }
    }

    /// Opens every log once, so that a wrong name is reported before the first fix; but pipes, which can be opened only
    /// once, and one that is followed.
    package func requireAll() throws(FixSourceError) {
        for path in follows ? paths.dropLast() : paths[...] where !RecordedLog.isReadOnce(path) {
            _ = try RecordedLog(path: path, stop: stop)
        }
    }

    /// The next chunk, after a wait for it where the log is followed; only a log's end completes its last epoch.
    package func next() -> Chunk {
        var fixes: [Fix] = []
        var failure: FixSourceError?
        var goesOn = false
        do throws(FixSourceError) {
            if log.source == nil { try openNext() }
            goesOn = try decodeMore { fixes.append($0) }
        } catch { failure = error }
        if !goesOn { log.decoder.finish { fixes.append($0) } }
        if let first = fixes.first, let last = fixes.last {
            log.ends = (log.ends?.first ?? first.timeOfFix, last.timeOfFix)
        }
        var warnings: [ReceiverWarning] = []
        while let warning = log.decoder.takeWarning() { warnings.append(warning) }
        defer { if !goesOn { log.source = nil } }
        return Chunk(
            name: logName, fixes: fixes, warnings: warnings, bytesRead: bytesRead, totalBytes: recorded?.totalBytes,
            outcome: goesOn || log.source == nil ? nil : outcome,
            failure: failure, isLast: !goesOn && (failure != nil || remaining.isEmpty))
    }

    private var outcome: LogOutcome {
        LogOutcome(name: logName, statistics: log.decoder.statistics, beginning: log.beginning, ends: log.ends)
    }
    private var logName: String { RecordedLog.name(of: log.path) }
    private var recorded: RecordedLog? { if case .recorded(let file) = log.source { file } else { nil } }
    private var growing: GrowingFile? { if case .growing(let file) = log.source { file } else { nil } }
    private var bytesRead: Int64 { recorded?.bytesRead ?? growing?.offset ?? 0 }

    private func openNext() throws(FixSourceError) {
        guard let next = remaining.popFirst() else { return }
        log = OpenLog(path: next, decoder: newDecoder)
        guard follows, remaining.isEmpty, next != "-" else {
            log.source = .recorded(try RecordedLog(path: next, stop: stop))
            return
        }
        if try !openGrowing(missing: [ENOENT]) {
            log.source = .missing
            tell("\(logName) is not there yet; waiting for it")
        }
    }

    /// Opens the growing file; false when it is missing, which the system tells by one of these errors.
    private func openGrowing(missing: [CInt]) throws(FixSourceError) -> Bool {
        let file: GrowingFile
        do throws(SystemError) { file = try GrowingFile(path: log.path, from: .start) } catch {
            guard missing.contains(error.number) else {
                throw FixSourceError(log: log.path, RecordedLog.openingFault(log.path, error))
            }
            return false
        }
        if let fault = file.fault { throw FixSourceError(log: log.path, fault) }
        log.source = .growing(file)
        return true
    }

    /// Decodes the next bytes of the open log; false at its end.
    private func decodeMore(_ emit: (Fix) -> Void) throws(FixSourceError) -> Bool {
        try wait(on: nil, for: .zero)
        while true {
            switch log.source {
            case .recorded(let file):
                var span = buffer.mutableSpan
                let count = try file.read(into: &span)
                decode(count, emit)
                return count > 0
            case .growing(let file):
                switch try look(at: file) {
                case .bytes(let count):
                    decode(count, emit)
                    return true
                case .truncated:
                    tell("\(logName) was truncated: it is read from its start again")
                    // What follows is another recording.
                    log.decoder.finish(emit)
                    log.decoder = newDecoder
                    log.pause = GrowthPause()
                    continue
                case .replaced:
                    tell("\(logName) was replaced: the new file is read")
                    if let fault = file.fault { throw FixSourceError(log: log.path, fault) }
                    continue
                case .writersGone where file.kind == .device: return false
                case .writersGone: try reopen(file)
                case .nothingYet: break
                }
            case .missing: if try openGrowing(missing: GrowingFile.missing) { continue }
            case nil: return false
            }
            if try waitForMore(emit) { return true }
        }
    }

    private func decode(_ count: Int, _ emit: (Fix) -> Void) {
        let bytes = buffer
        let new = bytes.span.extracting(first: count)
        if log.beginning.isEmpty { log.beginning = Array(bytes.prefix(min(count, 1024))) }
        // A recording has no moments of its own: its time does not advance, and no pause completes an epoch.
        log.decoder.decode(new, receivedAt: log.pause.time, emit)
        log.pause.bytesArrived(new)
    }

    private func look(at file: GrowingFile) throws(FixSourceError) -> GrowingFile.Look {
        do throws(SystemError) {
            var span = buffer.mutableSpan
            return try file.look(into: &span)
        } catch { throw readFailed(error) }
    }

    /// Waits for the next writer of a FIFO, or for what takes its place.
    private func reopen(_ file: GrowingFile) throws(FixSourceError) {
        do throws(SystemError) {
            if try file.reopen() { return }
        } catch { throw readFailed(error) }
        log.source = .missing
        tell("\(logName) is gone; waiting for it")
    }

    /// Waits for bytes of a growing file, or for the pause that completes an epoch: true when it has.
    private func waitForMore(_ emit: (Fix) -> Void) throws(FixSourceError) -> Bool {
        let longest = growing == nil ? GrowingFile.interval : .seconds(60)
        let start = MonotonicTime.now
        try wait(on: growing?.raw, for: min(log.pause.patience(until: log.decoder.idleDeadline) ?? longest, longest))
        guard log.pause.waited(MonotonicTime.now - start) else { return false }
        var isComplete = false
        log.decoder.lineIsIdle(at: log.pause.time) {
            isComplete = true
            emit($0)
        }
        return isComplete
    }

    /// Until `raw` is readable or the time is over.
    private func wait(on raw: CInt?, for duration: Duration) throws(FixSourceError) {
        do throws(SystemError) {
            if try poll(raw, within: duration, unless: stop) != .stopped { return }
        } catch { throw readFailed(error) }
        throw FixSourceError(log: logName, .stopped)
    }

    private func readFailed(_ error: SystemError) -> FixSourceError {
        FixSourceError(log: logName, .readFailed(reason: error.reason, afterBytes: bytesRead))
    }
}
