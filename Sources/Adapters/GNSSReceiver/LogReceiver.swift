package import GNSS
import LinuxPlatform
package import LocationReporting

/// Fixes from recorded logs, plain or gzip, one after another as if they were one; `-` is standard input.
///
/// With `follows`, the last log is one that another program still writes: it is read on until cancelled. A log is read
/// no faster than its fixes are taken, and memory does not grow with its length. A log that turns out to
/// be damaged gives what was read before the damage, then the error.
package struct LogReceiver: FixSource {
    /// Progress is told after at least so many bytes.
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
    /// - Returns: how many sentences were refused for want of a checksum.
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
