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

    var paths: [String]
    var acceptsMissingChecksum = false
    /// Whether the last log is read on at its end, until cancelled.
    var follows = false

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
        return await withTaskCancellationHandler {
            await onThread(named: "decode") {
                var outcomes: [Outcome] = []
                for index in paths.indices {
                    do {
                        let log = try open(index, stop: stop)
                        defer { outcomes.append(Outcome(name: log.name, statistics: log.statistics)) }
                        try Self.decode(log, progress: progress, take: take)
                    } catch { return (outcomes, error) }
                }
                return (outcomes, nil)
            }
        } onCancel: {
            stop.signal()
        }
    }

    private func open(_ index: Int, stop: EventDescriptor) throws(FixSourceError) -> DecodedLog {
        try DecodedLog(
            path: paths[index],
            decoder: NMEADecoder(options: NMEADecoderOptions(acceptsMissingChecksum: acceptsMissingChecksum)),
            follows: follows && index == paths.count - 1, chunkBytes: Self.chunkBytes, stop: stop
        ) { Terminal.say("waypost: \($0)") }
    }

    private static func decode(
        _ log: DecodedLog, progress: (String, Int64, Int64?) -> Void, take: ([Fix]) throws(SystemError) -> Void
    ) throws {
        var fixes: [Fix] = []
        var failure: FixSourceError?
        var isOpen = true
        while isOpen {
            do throws(FixSourceError) { isOpen = try log.next { fixes.append($0) } } catch {
                (failure, isOpen) = (error, false)
            }
            try take(fixes)
            fixes.removeAll(keepingCapacity: true)
            progress(log.name, log.bytesRead, log.totalBytes)
        }
        if let failure { throw failure }
    }
}
