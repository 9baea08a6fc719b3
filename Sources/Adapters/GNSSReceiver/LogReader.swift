import GNSS
import LinuxPlatform
import LocationReporting

/// Reads and decodes logs on a thread of its own, a chunk at each call: the disk is slow, and decoding is work.
actor LogReader {
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
    /// Sentences that were refused for want of a checksum, in the logs that have been read.
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

    /// Opens every log once, so that a wrong name is told before the first fix, and gives their size together; `nil`
    /// when one of them is a pipe, which can only be opened for good, or is followed.
    func totalBytes(of paths: [String]) throws(FixSourceError) -> Int64? {
        var sum: Int64? = follows ? nil : 0
        for path in follows ? paths.dropLast() : paths[...] {
            let size = isReadOnce(path) ? nil : try RecordedLog(path: path).totalBytes
            sum = if let sum, let size { sum + size } else { nil }
        }
        return sum
    }
}
