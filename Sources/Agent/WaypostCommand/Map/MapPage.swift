import GNSS
import GNSSReceiver
import LinuxPlatform
import ReportedText
import TimeAndChance
import TrackDrawing
import Waypost

/// The page of `waypost map`: one document and nothing from outside. Its script only lets chart and track point at each
/// other.
struct MapPage {
    let logs: [LogReader.Outcome]
    let survey: TrackSurvey
    /// Why the last log was not read to its end.
    let failure: String?
    /// What was told of the drive.
    var reported: [ReportedPlace] = []

    /// The document; `nil` when there is no fix to draw.
    var bytes: [UInt8]? {
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
        page.add(PageTables(summary: survey.summary, start: map.start, end: map.end).markup)
        for log in logs { page += section(of: log) }
        page.add("</main>\n<footer>\(map.note) Drawn by Waypost \(Release.version).</footer>")
        if profile != nil { page.add(TrackMap.pointing) }
        page.add("</body>\n</html>")
        return Array(page.text.utf8)
    }

    private var title: String {
        guard let first = logs.first.map({ FileSystem.name(of: $0.name) }) else { return "Track" }
        return logs.count == 1 ? first : "\(first) and \(logs.count - 1) more"
    }

    private var header: Markup {
        let track = survey.summary.statistics
        var header: Markup = "<header>\n<h1><bdi>\(title)</bdi></h1>\n"
        if let first = track.first, let last = track.last {
            header.add("<p class=\"span\">\(TrackFigures.time(from: first, to: last))</p>")
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
        let (track, stops) = (survey.summary.statistics, survey.summary.stops.found)
        let epochs = logs.reduce(0) { $0 + $1.statistics.epochs }
        var figures: Markup = ""
        func add(_ name: String, _ value: String, _ detail: String = "") {
            figures.add("<div><dt>\(name)</dt><dd>\(value)<small>\(detail)</small></dd></div>")
        }
        add("Distance", FigureText.distance(track.distanceMeters))
        if let top = track.topSpeedMetersPerSecond {
            add("Top speed", FigureText.speed(top), "\(FigureText.decimal(top, 1)) m/s")
        } else {
            add("Top speed", "not stated")
        }
        add("Fixes", track.fixes.grouped, "of \(epochs.counted("epoch"))")
        if let mean = track.meanAccuracyMeters, let worst = track.worstAccuracyMeters {
            add("Accuracy", FigureText.accuracy(mean), "\(FigureText.accuracy(worst)) at worst")
        }
        let short = survey.shortStops.count
        let time = FigureText.duration(stops.time)
        let detail =
            switch (stops.count, short) {
            case (0, 0): "a minute or more"
            case (0, _): "\(short) under a minute"
            case (_, 0): time
            default: "\(time); \(short) shorter"
            }
        add("Stops", stops.count.grouped, detail)
        add(
            "Gaps", track.gapCount.grouped,
            track.gapCount > 0 ? FigureText.duration(track.gapTime) : "of more than 10 s")
        if track.jumpCount > 0 { add("Jumps", track.jumpCount.grouped, "not in the distance") }
        if track.backwardSteps > 0 {
            let times = "\(track.backwardSteps.grouped) times"
            add("Time goes back", track.backwardSteps == 1 ? "once" : times)
        }
        return figures
    }

    /// What is wrong: first that something is missing here.
    private var warnings: [Markup] {
        var warnings: [Markup] = []
        if let failure { warnings.append("<b>Not the whole log:</b> \(failure)") }
        for log in logs {
            let front: Markup = logs.count > 1 ? "<bdi>\(FileSystem.name(of: log.name))</bdi>: " : ""
            warnings += LogAccount(log.statistics).warnings.map { "\(front)\($0)" }
        }
        return warnings
    }

    /// What the decoder met in one log.
    private func section(of log: LogReader.Outcome) -> Markup {
        let account = LogAccount(log.statistics)
        var rows = [
            ("Receiver", account.receiver.joined(separator: "; ")),
            ("Talkers", account.talkers.joined(separator: ", ")),
            ("Sentences", account.size), ("", account.sentences.joined(separator: ", ")), ("Fixes", account.fixes),
        ]
        rows += account.refusals.enumerated().map { index, refusal in
            (index == 0 ? "Refused" : "", "\(refusal.count.grouped): \(refusal.text)")
        }
        var section: Markup = "<section><details\(logs.count <= 3 ? " open" : "")>\n"
        section.add("<summary><h2><bdi>\(log.name)</bdi></h2></summary><dl>")
        for (name, value) in rows where !value.isEmpty { section.add("<dt>\(name)</dt><dd>\(value)</dd>") }
        section.add("</dl></details></section>")
        return section
    }
}
