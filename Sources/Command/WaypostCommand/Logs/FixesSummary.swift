import GNSS
import LogReports
import ReportedText
import TimeAndRandomness
import TrackDrawing

/// The output of `waypost fixes --summary`: one section per log and, unless there is exactly one log, a total.
struct FixesSummary {
    let logs: [LogSummary]
    let total: TrackSummary
    let now: UTCTime

    var text: String {
        let logs = logs.filter { $0.statistics.bytes > 0 }
        var sections = logs.map { log in
            var lines = LabelledLines()
            lines.add(heading: log.name)
            Self.addDescription(of: log.statistics, to: &lines)
            addDescription(of: log.track, to: &lines)
            return lines.lines.joined(separator: "\n")
        }
        if logs.count != 1 {
            var lines = LabelledLines()
            lines.add(heading: "total of \(logs.count.counted("log"))")
            lines.add("fixes", [total.statistics.fixCount > 0 ? total.statistics.fixCount.grouped : "none"])
            addDescription(of: total, to: &lines)
            sections.append(lines.lines.joined(separator: "\n"))
        }
        return sections.joined(separator: "\n\n")
    }

    private static func addDescription(of statistics: DecoderStatistics, to lines: inout LabelledLines) {
        let description = LogDescription(statistics)
        lines.add(
            "receiver",
            wrapped: description.receiver.isEmpty
                ? "not named in the log" : description.receiver.joined(separator: "; "))
        lines.add("talkers", wrapped: description.talkers.joined(separator: ", "))
        lines.add("sentences", wrapped: description.size)
        lines.add("", inColumns: description.sentences)
        lines.add("rejected", aligned(description.rejections))
        lines.add("left out", aligned(description.omissions))
        lines.add("fixes", wrapped: description.fixes)
        for (index, warning) in description.warnings.enumerated() {
            lines.add(index == 0 ? "warnings" : "", wrapped: warning)
        }
    }

    /// Returns one line per row, with the counts aligned on the right.
    private static func aligned(_ rows: [(count: Int, text: String)]) -> [String] {
        let width = rows.map { $0.count.grouped.count }.max() ?? 0
        return rows.map { "\($0.count.grouped.leftPadded(to: width))  \($0.text)" }
    }

    private static let maximumBreaks = 8

    private func addDescription(of track: TrackSummary, to lines: inout LabelledLines) {
        let figures = track.statistics
        guard let first = figures.firstTime, let last = figures.lastTime else { return }
        lines.add("time", [TrackFigures.period(from: first, to: last)])
        if let words = WeekRolloverWarning.text(forLogFrom: first, at: now) { lines.add("", wrapped: words) }
        lines.add("distance", [FigureText.distance(figures.distanceMeters)])
        lines.add("top speed", TrackFigures.topSpeed(figures).map { [$0] } ?? [])
        lines.add("accuracy", TrackFigures.accuracy(figures).map { [$0] } ?? [])
        let stops = track.stops.found
        if stops.count > 0 { lines.add("stops", [TrackFigures.stops(count: stops.count, time: stops.time)]) }
        lines.add("breaks", Self.breakRows(figures))
    }

    private static func breakRows(_ figures: TrackStatistics) -> [String] {
        let shown = figures.breaks.elements(atMost: maximumBreaks)
        guard let first = shown.first else { return [] }
        let date = FigureText.date(first.before.timeOfFix)
        let isOfOneDay = shown.allSatisfy { place in
            FigureText.date(place.before.timeOfFix) == date && FigureText.date(place.after.timeOfFix) == date
        }
        func moment(_ fix: Fix) -> String {
            isOfOneDay
                ? FigureText.timeOfDay(fix.timeOfFix)
                : "\(FigureText.date(fix.timeOfFix)) \(FigureText.timeOfDay(fix.timeOfFix))"
        }
        if figures.breaks.count == 1 {
            return ["\(TrackFigures.label(of: first)), \(moment(first.before)) to \(moment(first.after))"]
        }
        var rows = [TrackFigures.breaks(figures)]
        rows += shown.map { place in
            "\(moment(place.before)) to \(moment(place.after))  \(TrackFigures.label(of: place))"
        }
        let rest = figures.breaks.count - shown.count
        if rest > 0 { rows.append("and \(rest.counted("smaller break"))") }
        return rows
    }
}
