import GNSS
import ReportedText
import TimeAndChance
import TrackDrawing

/// Start, stops, end and breaks of the track, a line each.
struct PageTables {
    let summary: TrackSummary
    /// Of the track as it is drawn.
    let start: Fix?
    let end: Fix?

    var markup: Markup {
        let (stops, breaks) = (summary.stops.found, summary.statistics.breaks)
        var markup: Markup = ""
        var rows = zip(1..., stops.longest).map { number, stop in
            [
                "Stop \(number)", "\(moment(stop.from))", "\(moment(stop.to, after: stop.from))",
                "\(FigureText.duration(stop.duration))",
                WorldMapLink.place(latitude: stop.latitude, longitude: stop.longitude),
                stop.unseen > .zero ? "of it \(FigureText.duration(stop.unseen)) without a fix" : "",
            ] as [Markup]
        }
        if let start { rows.insert(row("Start", of: start), at: 0) }
        if let end { rows.append(row("End", of: end)) }
        addTable(
            "Start, stops and end",
            note: (longest(of: stops.count, shown: stops.longest.count, "stops") ?? "")
                + "Each place is a link to OpenStreetMap; this page itself loads nothing.",
            heads: ["", "From, UTC", "To", "Length", "Where", ""], rows: rows, to: &markup)
        let kept = breaks.elements()
        addTable(
            "Gaps and jumps", note: longest(of: breaks.count, shown: kept.count, "gaps and jumps"),
            heads: ["What", "Last fix before, UTC", "First fix after", "Apart"],
            rows: kept.map { place in
                let (before, after) = (place.before.timeOfFix, place.after.timeOfFix)
                return [
                    "\(TrackFigures.text(of: place))", "\(moment(before))", "\(moment(after, after: before))",
                    "\(FigureText.distance(place.meters))",
                ]
            }, to: &markup)
        return markup
    }

    private func row(_ name: String, of fix: Fix) -> [Markup] {
        let place = WorldMapLink.place(latitude: fix.latitude, longitude: fix.longitude)
        return ["\(name)", "\(moment(fix.timeOfFix))", "", "", place, ""]
    }

    /// Says which of many are shown; `nil` where that is all of them.
    private func longest(of count: Int, shown: Int, _ things: String) -> String? {
        shown < count ? "The \(shown) longest of \(count.grouped) \(things). " : nil
    }

    private func addTable(
        _ title: String, note: String?, heads: [String], rows: [[Markup]], to markup: inout Markup
    ) {
        guard !rows.isEmpty else { return }
        markup.add("<section><h2>\(title)</h2>")
        if let note { markup.add("<p class=\"note\">\(note)</p>") }
        markup.add("<div class=\"scroll\"><table><thead><tr>")
        for head in heads { markup += "<th scope=\"col\">\(head)</th>" }
        markup.add("</tr></thead><tbody>")
        for cells in rows { markup.add(row(of: cells, heads)) }
        markup.add("</tbody></table></div></section>")
    }

    /// Each cell names its column, as a narrow page shows the cells of a row below each other.
    private func row(of cells: [Markup], _ heads: [String]) -> Markup {
        var row: Markup = "<tr>"
        for (cell, head) in zip(cells, heads) { row += "<td data-label=\"\(head)\">\(cell)</td>" }
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
