import GNSS
import GNSSReceiver
import LinuxPlatform
import TrackDrawing

/// The summary of one log: its decoder's statistics and its track.
struct LogSummary: Sendable {
    let name: String
    let statistics: DecoderStatistics
    let track: TrackSummary

    /// Decodes the logs of `reader` one after another. Returns the summary of each log, the total of their tracks, and
    /// the outcome of the decoding. If a log is damaged, decodes its readable part and then stops. The total is empty
    /// if there is only one log, because it would repeat that log's summary.
    static func summaries(of reader: LogReader) async -> (
        logs: [LogSummary], total: TrackSummary, decoding: LogDecoding
    ) {
        let isOfSeveral = reader.paths.count > 1
        return await reader.read { reader in
            var logs: [LogSummary] = []
            var track = TrackSummary()
            var total = TrackSummary()
            let decoding = reader.decodeAll(progress: .always) { chunk throws(SystemError) in
                for fix in chunk.fixes {
                    track.add(fix)
                    if isOfSeveral { total.add(fix) }
                }
                guard let outcome = chunk.outcome else { return }
                logs.append(LogSummary(name: outcome.name, statistics: outcome.statistics, track: track))
                track = TrackSummary()
            }
            return (logs, total, decoding)
        }
    }
}
