import Glibc
package import GNSS
package import LinuxPlatform
package import LocationReporting
package import TimeAndChance

/// One log through a decoder, a chunk at a time: a recorded one to its end, a growing one for ever. Reading blocks.
package final class DecodedLog {
    private enum Source {
        case recorded(RecordedLog)
        /// `nil` before it is there.
        case growing(GrowingFile?)
    }

    /// What the operator calls it.
    package let name: String
    private let path: String
    private let stop: EventDescriptor
    private let tell: (String) -> Void
    private var source: Source
    private var decoding: GrowingDecoding
    private var buffer: [UInt8]

    /// Opens the log at `path`, or standard input for `-`.
    ///
    /// - Parameters:
    ///   - path: the log; one that is followed need not be there yet.
    ///   - decoder: a decoder that has not met anything yet.
    ///   - follows: whether to wait for more at its end, until `stop` is signalled; standard input just ends.
    ///   - chunkBytes: how much one call of `next` takes at most.
    ///   - stop: ends every wait.
    ///   - tell: called with what becomes of a growing file, in words for the operator.
    /// - Throws: `cannotOpen` or `notALog`, saying what to do.
    package init(
        path: String, decoder: NMEADecoder, follows: Bool = false, chunkBytes: Int, stop: EventDescriptor,
        tell: @escaping (String) -> Void = { _ in }
    ) throws(FixSourceError) {
        (self.path, self.stop, self.tell) = (path, stop, tell)
        name = RecordedLog.name(of: path)
        decoding = GrowingDecoding(decoder: decoder)
        buffer = [UInt8](repeating: 0, count: chunkBytes)
        guard follows, path != "-" else {
            source = .recorded(try RecordedLog(path: path, stop: stop))
            return
        }
        source = .growing(nil)
        do throws(SystemError) { try openFile() } catch {
            guard error.number == ENOENT else { throw RecordedLog.cannotOpen(path, error) }
        }
        try requireLog()
        if case .growing(nil) = source { tell("\(name) is not there yet; waiting for it") }
    }

    /// Whether a file at `path` is a gzip archive, as far as can be seen.
    package static func isArchive(at path: String) -> Bool {
        guard !isReadOnce(path), let file = try? GrowingFile(path: path, from: .start) else { return false }
        return file.kind == .gzip
    }

    /// How much of the file has been read, before unpacking.
    package var bytesRead: Int64 {
        switch source {
        case .recorded(let log): log.bytesRead
        case .growing(let file): file?.offset ?? 0
        }
    }

    /// Size of the file; `nil` for what has no end.
    package var totalBytes: Int64? { if case .recorded(let log) = source { log.totalBytes } else { nil } }
    /// What has been met so far.
    package var statistics: DecoderStatistics { decoding.decoder.statistics }

    /// A kind of warning that has come since it was last taken; `nil` when all are.
    package func takeWarning() -> ReceiverWarning? { decoding.takeWarning() }

    /// Decodes the next chunk, after waiting for it where the log is followed; `false` when nothing more will come.
    ///
    /// - Throws: `cancelled` when stopped, and what a log is found guilty of; everything before has then been taken.
    package func next(_ take: (Fix) -> Void) throws(FixSourceError) -> Bool {
        do throws(FixSourceError) {
            if try wait(on: nil, for: .zero) == .stopped { throw FixSourceError(.cancelled, "\(name): stopped") }
            switch source {
            case .recorded(let log):
                var span = buffer.mutableSpan
                let count = try log.read(into: &span)
                // A recording has no moments of its own: its time does not advance, and no pause completes an epoch.
                decode(count, take)
                if count == 0 { decoding.finish(take) }
                return count > 0
            case .growing: return try follow(take)
            }
        } catch {
            decoding.finish(take)
            throw error
        }
    }

    /// Waits for a chunk, or for the pause that completes an epoch; `false` at the end of a device.
    private func follow(_ take: (Fix) -> Void) throws(FixSourceError) -> Bool {
        while true {
            if case .growing(nil) = source { try openIfThere() }
            if case .growing(let file?) = source {
                switch try look(at: file) {
                case .bytes(let count):
                    decode(count, take)
                    return true
                case .truncated:
                    tell("\(name) was truncated: it is read from its start again")
                    decoding.startAgain(take)
                    continue
                case .replaced:
                    tell("\(name) was replaced: the new file is read")
                    if let problem = file.problem { throw problem }
                    continue
                case .writersGone where file.mark.kind == .device:
                    decoding.finish(take)
                    return false
                case .writersGone: try reopen(file)
                case .nothingYet: break
                }
            }
            var hasGiven = false
            let start = MonotonicTime.now
            let outcome = try wait(
                on: raw, for: min(decoding.patience ?? .seconds(60), raw == nil ? GrowingFile.interval : .seconds(60)))
            guard outcome != .stopped else { throw FixSourceError(.cancelled, "\(name): stopped") }
            decoding.waited(MonotonicTime.now - start) {
                hasGiven = true
                take($0)
            }
            if hasGiven { return true }
        }
    }

    private var raw: CInt? { if case .growing(let file?) = source { file.raw } else { nil } }

    private func look(at file: GrowingFile) throws(FixSourceError) -> GrowingFile.Look {
        var span = buffer.mutableSpan
        var look = GrowingFile.Look.nothingYet
        var failure: SystemError?
        do throws(SystemError) { look = try file.look(into: &span) } catch { failure = error }
        if let failure { throw readFailed(failure) }
        return look
    }

    private func decode(_ count: Int, _ take: (Fix) -> Void) {
        let bytes = buffer
        decoding.take(bytes.span.extracting(first: count), take)
    }

    private func openFile() throws(SystemError) {
        source = .growing(try GrowingFile(path: path, from: .start))
    }

    /// Opens the growing file, which has been waited for, if it is there.
    private func openIfThere() throws(FixSourceError) {
        do throws(SystemError) { try openFile() } catch {
            guard error.isOfAMissingFile else { throw RecordedLog.cannotOpen(path, error) }
        }
        try requireLog()
    }

    private func requireLog() throws(FixSourceError) {
        if case .growing(let file?) = source, let problem = file.problem { throw problem }
    }

    /// Waits for the next writer of a FIFO, or for what takes its place.
    private func reopen(_ file: GrowingFile) throws(FixSourceError) {
        do throws(SystemError) {
            if try file.reopen() { return }
        } catch { throw readFailed(error) }
        source = .growing(nil)
        tell("\(name) is gone; waiting for it")
    }

    private func wait(on raw: CInt?, for timeout: Duration) throws(FixSourceError) -> PollOutcome {
        do throws(SystemError) { return try poll(raw, within: timeout, unless: stop) } catch { throw readFailed(error) }
    }

    private func readFailed(_ error: SystemError) -> FixSourceError {
        FixSourceError(.readFailed, "\(name): \(error.reason) after \(bytesRead) bytes")
    }
}

/// What a first quick reading finds out about logs that are to be replayed.
package struct LogSurvey: Sendable, Hashable {
    package private(set) var fixes = 0
    package private(set) var firstTimeOfFix: UTCTime?
    package private(set) var lastTimeOfFix: UTCTime?
    /// From the first fix to the last at speed 1, long gaps skipped (see `ReplayTimeline`).
    package private(set) var length = Duration.zero

    /// The earliest and the latest time in the logs; they need not be the first and the last.
    private var earliest: UTCTime?
    private var latest: UTCTime?

    init() {}

    /// From the earliest time of fix to the latest.
    var span: Duration {
        guard let earliest, let latest else { return .zero }
        return earliest.duration(to: latest)
    }

    mutating func add(_ timeOfFix: UTCTime) {
        fixes += 1
        firstTimeOfFix = firstTimeOfFix ?? timeOfFix
        if let lastTimeOfFix { length += ReplayTimeline.step(from: lastTimeOfFix, to: timeOfFix) }
        lastTimeOfFix = timeOfFix
        earliest = min(earliest ?? timeOfFix, timeOfFix)
        latest = max(latest ?? timeOfFix, timeOfFix)
    }
}
