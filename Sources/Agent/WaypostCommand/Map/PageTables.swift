import GNSS
import TimeAndChance

/// Stops and breaks of the track, a line each.
struct PageTables {
    let summary: TrackSummary

    private var isOfOneDay: Bool {
        guard let first = summary.statistics.first, let last = summary.statistics.last else { return true }
        return FigureText.date(first) == FigureText.date(last)
    }

    var markup: String {
        var markup = Markup()
        addStops(to: &markup)
        addBreaks(to: &markup)
        return markup.text
    }

    private func addStops(to markup: inout Markup) {
        let stops = summary.stops.found
        guard stops.count > 0 else { return }
        markup.add("<section><h2>Stops</h2>")
        addNote(count: stops.count, shown: stops.longest.count, to: &markup)
        markup.add(
            "<div class=\"scroll\"><table><thead><tr><th>No.</th><th>From, UTC</th><th>To</th><th>Length</th><th>Where</th>"
                + "<th></th></tr></thead><tbody>")
        for (index, stop) in stops.longest.enumerated() {
            let unseen = stop.unseen > .zero ? "of it \(FigureText.duration(stop.unseen)) without a fix" : ""
            markup.add(
                row([
                    "\(index + 1)", moment(stop.from), moment(stop.to, after: stop.from),
                    FigureText.duration(stop.duration),
                    PagePlace.text(latitude: stop.latitude, longitude: stop.longitude), unseen,
                ]))
        }
        markup.add("</tbody></table></div></section>")
    }

    private func addBreaks(to markup: inout Markup) {
        let breaks = summary.statistics.breaks
        guard breaks.count > 0 else { return }
        let shown = breaks.elements()
        markup.add("<section><h2>Gaps and jumps</h2>")
        addNote(count: breaks.count, shown: shown.count, to: &markup)
        markup.add(
            "<div class=\"scroll\"><table><thead><tr><th>What</th><th>Last fix before, UTC</th><th>First fix after</th>"
                + "<th>Apart</th></tr></thead><tbody>")
        for place in shown {
            markup.add(
                row([
                    TrackFigures.text(of: place), moment(place.before.timeOfFix),
                    moment(place.after.timeOfFix, after: place.before.timeOfFix), FigureText.distance(place.meters),
                ]))
        }
        markup.add("</tbody></table></div></section>")
    }

    private func addNote(count: Int, shown: Int, to markup: inout Markup) {
        guard shown < count else { return }
        markup.add("<p class=\"note\">The \(shown) longest of \(FigureText.grouped(count)).</p>")
    }

    private func row(_ cells: [String]) -> String { "<tr>" + cells.map { "<td>\($0)</td>" }.joined() + "</tr>" }

    /// A time with its date, where the track has several and the date is not that of `other`.
    private func moment(_ time: UTCTime, after other: UTCTime? = nil) -> String {
        let known = other ?? (isOfOneDay ? summary.statistics.first : nil)
        return known.map { FigureText.date($0) == FigureText.date(time) } ?? false
            ? FigureText.clock(time) : "\(FigureText.date(time)) \(FigureText.clock(time))"
    }
}
