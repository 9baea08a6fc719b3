import GNSS
import GNSSReceiver
import LinuxPlatform
import LocationReporting

/// Recorded logs through the decoder, one after another, on a thread of its own; a tool's work, without a pipeline.
struct LogDecoding: Sendable {
    /// What came of one log.
    struct Outcome: Sendable {
        let name: String
        let statistics: DecoderStatistics
    }

    let paths: [String]

    private static let chunkBytes = 1 << 18

    /// Decodes everything; `take` gets the fixes of each chunk, on the decoding thread, and may end it by throwing.
    ///
    /// What was decoded before a failure has been handed over.
    func run(
        progress: @escaping @Sendable (_ name: String, _ bytesRead: Int64, _ totalBytes: Int64?) -> Void,
        take: @escaping @Sendable ([Fix]) throws(SystemError) -> Void
    ) async -> (outcomes: [Outcome], failure: (any Error)?) {
        let stop: EventDescriptor
        do { stop = try EventDescriptor() } catch { return ([], error) }
        let isStopped = Locked(false)
        let paths = paths
        return await withTaskCancellationHandler {
            await onThread(named: "decode") {
                var outcomes: [Outcome] = []
                for path in paths {
                    var decoder = NMEADecoder()
                    var name = path
                    do {
                        let log = try RecordedLog(path: path, stop: stop)
                        name = log.name
                        try Self.decode(log, with: &decoder, isStopped: isStopped, progress: progress, take: take)
                    } catch {
                        outcomes.append(Outcome(name: name, statistics: decoder.statistics))
                        return (outcomes, error)
                    }
                    outcomes.append(Outcome(name: name, statistics: decoder.statistics))
                }
                return (outcomes, nil)
            }
        } onCancel: {
            isStopped.withLock { $0 = true }
            stop.signal()
        }
    }

    private static func decode(
        _ log: RecordedLog, with decoder: inout NMEADecoder, isStopped: Locked<Bool>,
        progress: (String, Int64, Int64?) -> Void, take: ([Fix]) throws(SystemError) -> Void
    ) throws {
        var buffer = [UInt8](repeating: 0, count: chunkBytes)
        var fixes: [Fix] = []
        var failure: FixSourceError?
        var count = 1
        while count > 0, !isStopped.withLock({ $0 }) {
            do throws(FixSourceError) {
                var span = buffer.mutableSpan
                count = try log.read(into: &span)
            } catch { (failure, count) = (error, 0) }
            // A recording has no moments of its own: the same one for every chunk keeps the idle time-out out of it.
            decoder.decode(buffer.span.extracting(0..<count), receivedAt: .zero) { fixes.append($0) }
            if count == 0 { decoder.finish { fixes.append($0) } }
            try take(fixes)
            fixes.removeAll(keepingCapacity: true)
            progress(log.name, log.bytesRead, log.totalBytes)
        }
        if let failure { throw failure }
    }
}
