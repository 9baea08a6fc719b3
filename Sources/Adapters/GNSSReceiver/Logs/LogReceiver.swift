package import GNSS
import ReportedText
package import Reporting

/// A source of fixes from recorded logs, plain or gzip. The logs are read one after another as if they were one log.
/// The path `-` means standard input.
///
/// A log is read no faster than its fixes are consumed, and memory doesn't grow with its length. A damaged log yields
/// the fixes before the damage, then the error. If the logs contain no fix, the error says why.
package struct LogReceiver: FixSource {
    private let paths: [String]
    private let decoder: NMEADecoder
    private let chunkBytes: Int

    package init(paths: [String], decoder: NMEADecoder = NMEADecoder(), chunkBytes: Int = 64 << 10) {
        self.paths = paths
        self.decoder = decoder
        self.chunkBytes = chunkBytes
    }

    package func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        let reader = try LogReader(paths: paths, decoder: decoder, chunkBytes: chunkBytes)
        let outcomes = try await reader.deliverAll(to: deliver)
        if let failure = LogOutcome.failure(of: outcomes, isRecorded: true) { throw failure }
        await deliver(.state(.ended(source: ReportedText(reader.name))))
    }
}

extension LogReader {
    /// Delivers all events of the logs except the final state. Returns the outcome of each log.
    @discardableResult
    nonisolated func deliverAll(
        to deliver: (FixSourceEvent) async throws(FixSourceError) -> Void
    ) async throws(FixSourceError) -> [LogOutcome] {
        try await requireAllLogs()
        try await deliver(.state(.receiving(source: ReportedText(name))))
        var outcomes: [LogOutcome] = []
        while true {
            let chunk = await read { $0.nextChunk() }
            for warning in chunk.warnings { try await deliver(.warning(warning)) }
            for fix in chunk.fixes {
                try throwIfCancelled()
                try await deliver(.fix(fix))
            }
            try throwIfCancelled()
            if let failure = chunk.failure ?? chunk.outcome?.noSentenceError { throw failure }
            if let outcome = chunk.outcome { outcomes.append(outcome) }
            if chunk.isLast { return outcomes }
        }
    }

    private nonisolated func throwIfCancelled() throws(FixSourceError) {
        if Task.isCancelled { throw FixSourceError(log: name, .stopped) }
    }
}
