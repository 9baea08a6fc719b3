import GNSS

/// `waypost fixes --summary`: what is in the logs, on one page.
struct FixesSummary {
    let logs: [LogDecoding.Outcome]
    let track: TrackStatistics

    var text: String {
        var lines: [String] = []
        for log in logs { lines += Self.lines(for: log) }
        lines += trackLines
        return lines.joined(separator: "\n")
    }

    private static func lines(for log: LogDecoding.Outcome) -> [String] {
        let statistics = log.statistics
        var lines = [
            "\(log.name): \(Counted(statistics.bytes, "byte")), \(Counted(statistics.lines, "line")), "
                + "\(Counted(statistics.sentences, "sentence"))"
                + (statistics.binaryBytes > 0 ? ", \(statistics.binaryBytes) bytes of UBX and RTCM frames" : "")
        ]
        let addresses = statistics.sentencesByAddress.map { "\($0.address) \($0.count)" }
        if !addresses.isEmpty { lines.append("  sentences   \(addresses.joined(separator: ", "))") }
        let talkers = Set(
            statistics.sentencesByAddress.map(\.address).filter { !$0.hasPrefix("P") }.map { $0.prefix(2) })
        if !talkers.isEmpty { lines.append("  talkers     \(talkers.sorted().joined(separator: ", "))") }
        lines.append(
            "  epochs      \(statistics.epochs), of them \(Counted(statistics.fixes, "fix", "fixes")), \(statistics.voidEpochs) without a "
                + "position, \(statistics.repeatedEpochs) repeated, \(statistics.undatedFixes) without a date")
        for reason in SentenceRefusal.allCases where statistics.refusals(reason).count > 0 {
            let refusals = statistics.refusals(reason)
            let remedy = reason == .missingChecksum ? " (--accept-missing-checksum takes them)" : ""
            lines.append("  refused     \(refusals.count): \(reason), first in line \(refusals.firstLine)\(remedy)")
        }
        for warning in ReceiverWarning.allCases where statistics.warnings(warning).count > 0 {
            lines.append("  warning     \(warning) (first in line \(statistics.warnings(warning).firstLine))")
        }
        return lines
    }

    private var trackLines: [String] {
        guard let first = track.first, let last = track.last else { return ["no fix"] }
        var lines = [
            "\(Counted(track.fixes, "fix", "fixes")) from \(first) to \(last)",
            "  distance    \(Self.rounded(track.distanceMeters / 1000, 100)) km",
        ]
        if let speed = track.topSpeedMetersPerSecond {
            lines.append("  top speed   \(Self.rounded(speed, 10)) m/s, \(Self.rounded(speed * 3.6, 10)) km/h")
        }
        if let mean = track.meanAccuracyMeters, let worst = track.worstAccuracyMeters {
            lines.append("  accuracy    \(Self.rounded(mean, 10)) m on average, \(Self.rounded(worst, 10)) m at worst")
        }
        if track.backwardSteps > 0 { lines.append("  time        \(track.backwardSteps) steps that do not go forward") }
        for gap in track.gaps { lines.append("  gap         \(gap.from) to \(gap.to)") }
        if track.gapCount > track.gaps.count {
            lines.append("  gap         and \(track.gapCount - track.gaps.count) more")
        }
        return lines
    }

    private static func rounded(_ number: Double, _ scale: Double) -> String { "\((number * scale).rounded() / scale)" }
}
