import GNSS
package import GNSSReceiver
import LinuxPlatform
import ReportedText
package import TimeAndRandomness
package import TrackDrawing
import Operations

/// The page of `waypost map`: a single document that loads no other file. Its script only links the chart to the track
/// on the map.
package struct MapPage {
    let logs: [LogOutcome]
    let survey: TrackSurvey
    /// The reason why the last log wasn't read to its end; `nil` if all logs were.
    let failure: String?
    /// The positions that were reported during the drive.
    let reported: [ReportedPlace]
    /// The host's time. Dates at least 1024 weeks before it may be wrong, because a receiver's week number rolls over.
    let now: UTCTime

    package init(
        logs: [LogOutcome], survey: TrackSurvey, failure: String?, reported: [ReportedPlace] = [], now: UTCTime
    ) {
        self.logs = logs
        self.survey = survey
        self.failure = failure
        self.reported = reported
        self.now = now
    }

    /// The document; `nil` if there is no fix to draw.
    package var bytes: [UInt8]? {
        guard let map = TrackMap(survey, reported: reported) else { return nil }
        let profile = map.profileSection
        let scripts: Markup = profile == nil ? "" : "; script-src 'unsafe-inline'"
        let policy: Markup =
            "default-src 'none'; style-src 'unsafe-inline'\(scripts); base-uri 'none'; form-action 'none'"
        var page = PageStyle.opening(
            title: "\(title) - Waypost",
            security: """

                <meta http-equiv="Content-Security-Policy" content="\(policy)">
                <meta name="referrer" content="no-referrer">
                """)
        page.add("\n\(header)\n<main>\n\(map.section)")
        if let profile { page += profile }
        let tables = PageTables(
            summary: survey.summary, shortStops: survey.shortStops, start: map.start, end: map.end)
        page.add(tables.markup)
        for log in logs { page += section(for: log) }
        page.add("</main>\n<footer>\(map.note) Drawn by Waypost \(Release.version).</footer>")
        if profile != nil { page.add(TrackMap.pointing) }
        page.add("</body>\n</html>")
        return Array(page.text.utf8)
    }

    private var title: String {
        guard let first = logs.first.map({ FileSystem.lastComponent(of: $0.name) }) else { return "Track" }
        return logs.count == 1 ? first : "\(first) and \(logs.count - 1) more"
    }

    private var header: Markup {
        let track = survey.summary.statistics
        var header: Markup = "<header>\n<h1><bdi>\(title)</bdi></h1>\n"
        if let first = track.firstTime, let last = track.lastTime {
            header.add("<p class=\"span\">\(TrackFigures.period(from: first, to: last))</p>")
        }
        header.add("<dl class=\"figures\">\n\(figures)</dl>")
        let warnings = warnings
        if !warnings.isEmpty {
            header.add("<ul class=\"warnings\">")
            for warning in warnings { header.add("<li>\(warning)</li>") }
            header.add("</ul>")
        }
        header += "</header>"
        return header
    }

    private var figures: Markup {
        let track = survey.summary.statistics
        let stops = survey.summary.stops.found
        let epochs = logs.reduce(0) { $0 + $1.statistics.epochs.all }
        var figures: Markup = ""
        func add(_ name: String, _ value: String, _ detail: String = "") {
            figures.add("<div><dt>\(name)</dt><dd>\(value)<small>\(detail)</small></dd></div>")
        }
        add("Distance", FigureText.distance(track.distanceMeters))
        if let top = track.topSpeedMetersPerSecond {
            add("Top speed", FigureText.speed(top), "\(FigureText.decimal(top, places: 1)) m/s")
        } else {
            add("Top speed", "not reported")
        }
        add("Fixes", track.fixCount.grouped, "of \(epochs.counted("epoch"))")
        if let mean = track.meanAccuracyMeters, let worst = track.worstAccuracyMeters {
            add("Mean accuracy", FigureText.accuracy(mean), "\(FigureText.accuracy(worst)) at worst")
        }
        let short = survey.shortStops.count
        let time = FigureText.duration(stops.time)
        let detail =
            switch (stops.count, short) {
            case (0, 0): "a minute or more"
            case (0, _): "\(short) under a minute"
            case (_, 0): time
            default: "\(time); \(short) more under a minute"
            }
        add("Stops", stops.count.grouped, detail)
        add(
            "Gaps", track.gapCount.grouped,
            track.gapCount > 0 ? FigureText.duration(track.gapTime) : "of more than 10 s")
        if track.jumpCount > 0 { add("Jumps", track.jumpCount.grouped, "excluded from the distance") }
        if track.backwardSteps > 0 {
            let times = "\(track.backwardSteps.grouped) times"
            add("Time goes back", track.backwardSteps == 1 ? "once" : times)
        }
        return figures
    }

    /// The warnings about the logs. A log that wasn't read to its end comes first.
    private var warnings: [Markup] {
        var warnings: [Markup] = []
        if let failure { warnings.append("<b>Incomplete log:</b> \(failure)") }
        if let first = survey.summary.statistics.firstTime,
            let words = WeekRolloverWarning.text(forLogFrom: first, at: now)
        {
            warnings.append("<b>\(FigureText.date(first)):</b> \(words)")
        }
        for log in logs {
            let front: Markup = logs.count > 1 ? "<bdi>\(FileSystem.lastComponent(of: log.name))</bdi>: " : ""
            warnings += LogDescription(log.statistics).warnings.map { "\(front)\($0)" }
        }
        return warnings
    }

    /// Returns the section about one log: its receiver and sentences, and how they were decoded.
    private func section(for log: LogOutcome) -> Markup {
        let description = LogDescription(log.statistics)
        var rows = [
            ("Receiver", description.receiver.joined(separator: "; ")),
            ("Talkers", description.talkers.joined(separator: ", ")),
            ("Sentences", description.size), ("", description.sentences.joined(separator: ", ")),
            ("Fixes", description.fixes),
        ]
        rows += description.rejections.enumerated().map { index, rejection in
            (index == 0 ? "Rejected" : "", "\(rejection.count.grouped): \(rejection.text)")
        }
        var section: Markup = "<section><details\(logs.count <= 3 ? " open" : "")>\n"
        section.add("<summary><h2><bdi>\(log.name)</bdi></h2></summary><dl>")
        for (name, value) in rows where !value.isEmpty { section.add("<dt>\(name)</dt><dd>\(value)</dd>") }
        section.add("</dl></details></section>")
        return section
    }
}

/// The page's two tables. One lists the start, the stops and the end of the track, the other its gaps and jumps.
struct PageTables {
    let summary: TrackSummary
    let shortStops: [TrackStop]
    /// The first and the last fix on the map.
    let start: Fix?
    let end: Fix?

    var markup: Markup {
        let stops = summary.stops.found
        let breaks = summary.statistics.breaks
        var markup: Markup = ""
        let named = zip(1..., stops.longest).map { (name: "Stop \($0)", stop: $1) }
        let all = (named + shortStops.map { (name: "Short stop", stop: $0) }).sorted { $0.stop.from < $1.stop.from }
        var rows = all.map { row($0.name, of: $0.stop) }
        if let start { rows.insert(row("Start", of: start), at: 0) }
        if let end { rows.append(row("End", of: end)) }
        addTable(
            "Start, stops and end",
            note: (longestNote(of: stops.count, shown: stops.longest.count, "stops") ?? "")
                + "Each position is a link to OpenStreetMap; this page itself loads nothing.",
            heads: ["", "From, UTC", "To", "Duration", "Position", ""], rows: rows, to: &markup)
        let kept = breaks.elements()
        addTable(
            "Gaps and jumps", note: longestNote(of: breaks.count, shown: kept.count, "gaps and jumps"),
            heads: ["Break", "Last fix before, UTC", "First fix after", "Distance"],
            rows: kept.map { place in
                let before = place.before.timeOfFix
                let after = place.after.timeOfFix
                return [
                    "\(TrackFigures.label(of: place))", "\(timeText(before))", "\(timeText(after, after: before))",
                    "\(FigureText.distance(place.meters))",
                ]
            }, to: &markup)
        return markup
    }

    private func row(_ name: String, of stop: TrackStop) -> [Markup] {
        [
            "\(name)", "\(timeText(stop.from))", "\(timeText(stop.to, after: stop.from))",
            "\(FigureText.duration(stop.duration))",
            WorldMapLink.place(latitude: stop.latitude, longitude: stop.longitude),
            stop.unseenTime > .zero ? "\(FigureText.duration(stop.unseenTime)) without a fix" : "",
        ]
    }

    private func row(_ name: String, of fix: Fix) -> [Markup] {
        let place = WorldMapLink.place(latitude: fix.latitude, longitude: fix.longitude)
        return ["\(name)", "\(timeText(fix.timeOfFix))", "", "", place, ""]
    }

    /// Returns a note that the table lists only the longest stops, gaps or jumps; `nil` if it lists all of them.
    private func longestNote(of count: Int, shown: Int, _ things: String) -> String? {
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
        for cells in rows { markup.add(tableRow(of: cells, columns: heads)) }
        markup.add("</tbody></table></div></section>")
    }

    /// Returns a row of the table. Each cell repeats the name of its column, because a narrow page stacks the
    /// cells.
    private func tableRow(of cells: [Markup], columns heads: [String]) -> Markup {
        var row: Markup = "<tr>"
        for (cell, head) in zip(cells, heads) { row += "<td data-label=\"\(head)\">\(cell)</td>" }
        row += "</tr>"
        return row
    }

    private var isWithinOneDay: Bool {
        guard let first = summary.statistics.firstTime, let last = summary.statistics.lastTime else { return true }
        return FigureText.date(first) == FigureText.date(last)
    }

    /// Returns a time of day. The date is added unless `other` has the same date or, if `other` is `nil`, unless the
    /// track has only one date.
    private func timeText(_ time: UTCTime, after other: UTCTime? = nil) -> String {
        let known = other ?? (isWithinOneDay ? summary.statistics.firstTime : nil)
        return known.map { FigureText.date($0) == FigureText.date(time) } ?? false
            ? FigureText.timeOfDay(time) : "\(FigureText.date(time)) \(FigureText.timeOfDay(time))"
    }
}
