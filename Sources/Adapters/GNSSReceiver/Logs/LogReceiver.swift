package import GNSS
import LinuxPlatform
package import LocationReporting

/// Fixes from recorded logs, plain or gzip, one after another as if they were one; `-` is standard input.
///
/// With `follows`, the last log is one that another program still writes: it is read on until cancelled. A log is read
/// no faster than its fixes are taken, and memory does not grow with its length. A log that turns out to
/// be damaged gives what was read before the damage, then the error.
package struct LogReceiver: FixSource {
    /// Progress is reported after at least so many bytes.
    private static let progressStep: Int64 = 256 << 10

    private let paths: [String]
    private let decoder: NMEADecoder
    private let follows: Bool
    private let chunkBytes: Int

    package init(
        paths: [String], decoder: NMEADecoder = NMEADecoder(), follows: Bool = false, chunkBytes: Int = 64 << 10
    ) {
        (self.paths, self.decoder, self.follows, self.chunkBytes) = (paths, decoder, follows, chunkBytes)
    }

    package func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        try await run(progressStep: Self.progressStep, deliver: deliver)
        await deliver(.state(.ended(source: name)))
    }

    /// What the operator calls it.
    var name: String { paths.count == 1 ? RecordedLog.name(of: paths[0]) : "\(paths.count) logs" }

    /// Whether one of the logs is a pipe.
    var isReadOnce: Bool { paths.contains(where: GNSSReceiver.isReadOnce) }

    /// Everything but the closing state, with progress after each `progressStep` bytes.
    ///
    /// - Returns: how many sentences were rejected for want of a checksum.
    @discardableResult
    func run(
        progressStep: Int64, deliver: (FixSourceEvent) async throws(FixSourceError) -> Void
    ) async throws(FixSourceError) -> Int {
        let stop = try EventDescriptor.forReceiver()
        let reader = LogReader(paths: paths, decoder: decoder, follows: follows, chunkBytes: chunkBytes, stop: stop)
        let totalBytes = try await reader.totalBytes(of: paths)
        try await deliver(.state(.receiving(source: name)))
        var told: Int64 = 0
        while true {
            let chunk = await withTaskCancellationHandler {
                await reader.next()
            } onCancel: {
                stop.signal()
            }
            for warning in chunk.warnings { try await deliver(.warning(warning)) }
            for fix in chunk.fixes {
                try stopIfCancelled()
                try await deliver(.fix(fix))
            }
            try stopIfCancelled()
            // A growing file that was rotated or truncated begins at 0 again.
            if chunk.bytesRead >= told + progressStep || chunk.bytesRead < told || chunk.isLast {
                told = chunk.bytesRead
                try await deliver(.progress(bytesRead: told, totalBytes: totalBytes))
            }
            if let failure = chunk.failure { throw failure }
            if chunk.isLast { return await reader.sentencesWithoutChecksum }
        }
    }

    private func stopIfCancelled() throws(FixSourceError) {
        if Task.isCancelled { throw FixSourceError(.cancelled, "\(name): stopped") }
    }
}

/// Reads and decodes logs on a thread of its own, a chunk at each call: the disk is slow, and decoding is work.
private actor LogReader {
    /// What one chunk of a log held.
    struct Chunk: Sendable {
        var fixes: [Fix] = []
        var warnings: [ReceiverWarning] = []
        /// Bytes of all logs read so far, before unpacking.
        var bytesRead: Int64 = 0
        /// Nothing follows.
        var isLast = false
        /// The log could not be read further; `fixes` is what came before.
        var failure: FixSourceError?
    }

    private let executor = ThreadExecutor(named: "gnss-log")
    private let decoder: NMEADecoder
    private let follows: Bool
    private let chunkBytes: Int
    private let stop: EventDescriptor
    private var remaining: ArraySlice<String>
    private var log: DecodedLog?
    private var bytesBefore: Int64 = 0
    /// Sentences that were rejected for want of a checksum, in the logs that have been read.
    private(set) var sentencesWithoutChecksum = 0

    /// Reads the logs at `paths` one after another; each gets a decoder of its own, so that no date is carried over.
    /// The last one is followed if `follows`.
    ///
    /// `stop` ends every wait.
    init(paths: [String], decoder: NMEADecoder, follows: Bool, chunkBytes: Int, stop: EventDescriptor) {
        (remaining, self.decoder, self.follows) = (paths[...], decoder, follows)
        (self.chunkBytes, self.stop) = (chunkBytes, stop)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// The next chunk: of so many bytes at most, hence a bounded number of fixes.
    func next() -> Chunk {
        var chunk = Chunk()
        do throws(FixSourceError) {
            chunk.isLast = try read(into: &chunk)
        } catch {
            chunk.failure = error
            chunk.isLast = true
        }
        chunk.bytesRead = bytesBefore + (log?.bytesRead ?? 0)
        return chunk
    }

    /// Whether that was the end.
    private func read(into chunk: inout Chunk) throws(FixSourceError) -> Bool {
        if log == nil {
            guard let path = remaining.popFirst() else { return true }
            log = try DecodedLog(
                path: path, decoder: decoder, follows: follows && remaining.isEmpty, chunkBytes: chunkBytes, stop: stop)
        }
        guard let log else { return true }
        defer { while let warning = log.takeWarning() { chunk.warnings.append(warning) } }
        let goesOn = try log.next { chunk.fixes.append($0) }
        if goesOn { return false }
        let unchecked = log.statistics.refusals(.missingChecksum).count
        if log.statistics.sentences == 0, unchecked == 0 {
            throw FixSourceError(
                .notALog,
                "\(log.name) holds no NMEA 0183 sentence with a right checksum; check that it is a receiver's log")
        }
        bytesBefore += log.bytesRead
        sentencesWithoutChecksum += unchecked
        self.log = nil
        return remaining.isEmpty
    }

    /// Opens every log once, so that a wrong name is reported before the first fix, and gives their total size;
    /// `nil` when one of them is a pipe, which can be opened only once, or is followed.
    func totalBytes(of paths: [String]) throws(FixSourceError) -> Int64? {
        var sum: Int64? = follows ? nil : 0
        for path in follows ? paths.dropLast() : paths[...] {
            let size = isReadOnce(path) ? nil : try RecordedLog(path: path).totalBytes
            sum = if let sum, let size { sum + size } else { nil }
        }
        return sum
    }
}
