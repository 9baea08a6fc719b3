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
    private let newDecoder: NMEADecoder
    private let stop: EventDescriptor?
    private var remaining: ArraySlice<String>
    private var log: RecordedLog?
    private var decoder: NMEADecoder
    private var bytesBefore: Int64 = 0
    private var buffer: [UInt8]

    /// Reads the logs at `paths` one after another; each gets a decoder of its own, so that no date is carried over.
    ///
    /// `stop` ends the wait for a pipe.
    init(paths: [String], decoder: NMEADecoder, chunkBytes: Int, stop: EventDescriptor?) {
        self.stop = stop
        (remaining, newDecoder, self.decoder) = (paths[...], decoder, decoder)
        buffer = [UInt8](repeating: 0, count: chunkBytes)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// The next chunk: as many bytes as fit into the buffer at most, hence a bounded number of fixes.
    func next() -> Chunk {
        var chunk = Chunk()
        do throws(FixSourceError) {
            chunk.isLast = try read(into: &chunk.fixes)
        } catch {
            decoder.finish { chunk.fixes.append($0) }
            chunk.failure = error
            chunk.isLast = true
        }
        while let warning = decoder.takeWarning() { chunk.warnings.append(warning) }
        chunk.bytesRead = bytesBefore + (log?.bytesRead ?? 0)
        return chunk
    }

    /// Whether that was the end.
    private func read(into fixes: inout [Fix]) throws(FixSourceError) -> Bool {
        if log == nil {
            guard let path = remaining.popFirst() else { return true }
            decoder = newDecoder
            log = try RecordedLog(path: path, stop: stop)
        }
        var span = buffer.mutableSpan
        let count = try log?.read(into: &span) ?? 0
        guard count == 0 else {
            // Nothing idles in a record: time stands still, and only sentences and the end complete an epoch.
            decoder.decode(span.span.extracting(first: count), receivedAt: .zero) { fixes.append($0) }
            return false
        }
        decoder.finish { fixes.append($0) }
        bytesBefore += log?.bytesRead ?? 0
        log = nil
        return remaining.isEmpty
    }

    /// Opens every log once, so that a wrong name is told before the first fix, and gives their size together; `nil`
    /// when one of them is a pipe, which can only be opened for good.
    func totalBytes(of paths: [String]) throws(FixSourceError) -> Int64? {
        var sum: Int64? = 0
        for path in paths {
            let size = isReadOnce(path) ? nil : try RecordedLog(path: path).totalBytes
            sum = if let sum, let size { sum + size } else { nil }
        }
        return sum
    }
}
