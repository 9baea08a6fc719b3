import GNSS
import TimeAndChance
import TrackDrawing

/// Stops and breaks of the track, a line each.
struct PageTables {
    let summary: TrackSummary

    var markup: Markup {
        let (stops, breaks) = (summary.stops.found, summary.statistics.breaks)
        var markup: Markup = ""
        addTable(
            "Stops", of: stops.count, heads: ["No.", "From, UTC", "To", "Length", "Where", ""],
            rows: zip(1..., stops.longest).map { number, stop in
                [
                    "\(number)", moment(stop.from), moment(stop.to, after: stop.from),
                    FigureText.duration(stop.duration),
                    FigureText.place(latitude: stop.latitude, longitude: stop.longitude),
                    stop.unseen > .zero ? "of it \(FigureText.duration(stop.unseen)) without a fix" : "",
                ]
            }, to: &markup)
        addTable(
            "Gaps and jumps", of: breaks.count, heads: ["What", "Last fix before, UTC", "First fix after", "Apart"],
            rows: breaks.elements().map { place in
                [
                    TrackFigures.text(of: place), moment(place.before.timeOfFix),
                    moment(place.after.timeOfFix, after: place.before.timeOfFix), FigureText.distance(place.meters),
                ]
            }, to: &markup)
        return markup
    }

    private func addTable(
        _ title: String, of count: Int, heads: [String], rows: [[String]], to markup: inout Markup
    ) {
        guard count > 0 else { return }
        markup.add("<section><h2>\(title)</h2>")
        if rows.count < count {
            markup.add("<p class=\"note\">The \(rows.count) longest of \(FigureText.grouped(count)).</p>")
        }
        markup.add("<div class=\"scroll\"><table><thead>\(row(of: "th", heads))</thead><tbody>")
        for cells in rows { markup.add(row(of: "td", cells)) }
        markup.add("</tbody></table></div></section>")
    }

    private func row(of kind: String, _ cells: [String]) -> Markup {
        var row: Markup = "<tr>"
        for cell in cells { row += "<\(kind)>\(cell)</\(kind)>" }
        row += "</tr>"
        return row
    }

    private var isOfOneDay: Bool {
        guard let first = summary.statistics.first, let last = summary.statistics.last else { return true }
        return FigureText.date(first) == FigureText.date(last)
    }

    /// A time with its date, where the track has several and the date is not that of `other`.
    private func moment(_ time: UTCTime, after other: UTCTime? = nil) -> String {
        let known = other ?? (isOfOneDay ? summary.statistics.first : nil)
        return known.map { FigureText.date($0) == FigureText.date(time) } ?? false
            ? FigureText.clock(time) : "\(FigureText.date(time)) \(FigureText.clock(time))"
    }
}
