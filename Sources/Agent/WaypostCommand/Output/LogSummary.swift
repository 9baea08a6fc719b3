import GNSS
import LinuxPlatform

/// What one log came to: what the decoder met, and the track of its fixes.
struct LogSummary: Sendable {
    let name: String
    let statistics: DecoderStatistics
    let track: TrackSummary

    /// Decodes logs one after another, up to the first that fails; what was read of that one counts too.
    static func survey(_ decoding: LogDecoding) async -> (logs: [LogSummary], total: TrackSummary, failure: (any Error)?) {
        var logs: [LogSummary] = []
        let total = Locked(TrackSummary())
        for path in decoding.paths where !Task.isCancelled {
            let track = Locked(TrackSummary())
            var single = decoding
            single.paths = [path]
            let result = await single.run(progress: LogProgress.line()) {
                fixes throws(SystemError) in
                track.withLock { track in for fix in fixes { track.add(fix) } }
                total.withLock { total in for fix in fixes { total.add(fix) } }
            }
            logs += result.outcomes.map {
                LogSummary(name: $0.name, statistics: $0.statistics, track: track.withLock { $0 })
            }
            if let failure = result.failure { return (logs, total.withLock { $0 }, failure) }
        }
        return (logs, total.withLock { $0 }, nil)
    }
}
