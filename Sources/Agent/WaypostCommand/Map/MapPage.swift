import GNSS
import TimeAndChance
import Waypost

/// The page of `waypost map`: one document, nothing from outside, no script.
struct MapPage {
    let logs: [MapLog]
    let survey: TrackSurvey
    /// Why the last log was not read to its end.
    let failure: String?

    /// The document; `nil` when there is no fix to draw.
    var bytes: [UInt8]? {
        let track = survey.drawn
        guard let start = track.start, let end = track.end, let fitted = MapFrame.fitting(track.line),
            let first = survey.summary.statistics.first, let last = survey.summary.statistics.last
        else { return nil }
        let scale = SpeedScale(top: survey.speeds.usualTop)
        let paths = TrackPaths(fitted.vertices, scale: scale)
        var page = Markup()
        page.add(PageStyle.opening(title: title))
        addHeader(to: &page, from: first, to: last)
        page.add("<main>")
        page.add(MapDrawing.definitions(paths))
        page.add("<section class=\"drawing\">")
        for layout in PageLayout.allCases {
            page.add(
                MapDrawing(
                    frame: fitted.frame, paths: paths, vertices: fitted.vertices, summary: survey.summary, start: start,
                    end: end, layout: layout
                ).svg)
        }
        page.add(PageLegend(scale: scale, paths: paths, summary: survey.summary).markup)
        page.add("</section>")
        addProfile(to: &page)
        page.add(PageTables(summary: survey.summary).markup)
        for log in logs { page.add(LogSection(log: log, isOpen: logs.count <= 3).markup) }
        page.add("</main>")
        addFooter(to: &page, fitted.frame, error: track.line.error)
        page.add("</body>\n</html>")
        return Array(page.text.utf8)
    }

    private var title: String {
        guard let first = logs.first else { return "Track" }
        return logs.count == 1 ? first.shortName : "\(first.shortName) and \(logs.count - 1) more"
    }

    private func addHeader(to page: inout Markup, from start: UTCTime, to end: UTCTime) {
        page.add("<header>\n<h1><bdi>\(Markup.escaped(title))</bdi></h1>")
        page.add("<p class=\"span\">\(TrackFigures.time(from: start, to: end))</p>")
        page.add("<dl class=\"figures\">")
        for (name, value, detail) in figures {
            page.add("<div><dt>\(name)</dt><dd>\(value)<small>\(detail)</small></dd></div>")
        }
        page.add("</dl>")
        let warnings = warnings
        if !warnings.isEmpty {
            page.add("<ul class=\"warnings\">")
            for warning in warnings { page.add("<li>\(warning)</li>") }
            page.add("</ul>")
        }
        page.add("</header>")
    }

    private var figures: [(name: String, value: String, detail: String)] {
        let track = survey.summary.statistics
        let stops = survey.summary.stops.found
        let epochs = logs.reduce(0) { $0 + $1.statistics.epochs }
        var figures = [
            ("Distance", FigureText.distance(track.distanceMeters), ""),
            (
                "Top speed", track.topSpeedMetersPerSecond.map { FigureText.speed($0) } ?? "not stated",
                track.topSpeedMetersPerSecond.map { "\(FigureText.decimal($0, 1)) m/s" } ?? ""
            ), ("Fixes", FigureText.grouped(track.fixes), "of \(FigureText.count(epochs, "epoch"))"),
        ]
        if let mean = track.meanAccuracyMeters, let worst = track.worstAccuracyMeters {
            figures.append(("Accuracy", FigureText.accuracy(mean), "\(FigureText.accuracy(worst)) at worst"))
        }
        figures.append(
            (
                "Stops", FigureText.grouped(stops.count),
                stops.count > 0 ? FigureText.duration(stops.time) : "a minute or more"
            )
        )
        figures.append(
            (
                "Gaps", FigureText.grouped(track.gapCount),
                track.gapCount > 0 ? FigureText.duration(track.gapTime) : "of more than 10 s"
            )
        )
        if track.jumpCount > 0 { figures.append(("Jumps", FigureText.grouped(track.jumpCount), "not in the distance")) }
        if track.backwardSteps > 0 {
            figures.append(
                (
                    "Time goes back",
                    track.backwardSteps == 1 ? "once" : "\(FigureText.grouped(track.backwardSteps)) times", ""
                ))
        }
        return figures
    }

    /// What is wrong, as markup: first that something is missing here.
    private var warnings: [String] {
        var warnings: [String] = []
        if let failure { warnings.append("<b>Not the whole log:</b> \(Markup.escaped(failure))") }
        for log in logs {
            let front = logs.count > 1 ? "<bdi>\(Markup.escaped(log.shortName))</bdi>: " : ""
            warnings += LogAccount(log.statistics).warnings.map { front + Markup.escaped($0) }
        }
        return warnings
    }

    private func addProfile(to page: inout Markup) {
        let drawings = PageLayout.allCases.compactMap { layout in
            ProfileDrawing(profile: survey.profile, stops: survey.summary.stops.found.longest, layout: layout).svg
        }
        guard !drawings.isEmpty else { return }
        page.add("<section class=\"drawing\">")
        for drawing in drawings { page.add(drawing) }
        var notes = ["Times are UTC."]
        if survey.summary.stops.found.count > 0 { notes.append("Numbered bands: stops.") }
        if survey.profile.runs.count > 1 {
            notes.append("Grey bands: no fix; long ones are cut short.")
        }
        page.add("<p class=\"note\">\(notes.joined(separator: " "))</p>\n</section>")
    }

    private func addFooter(to page: inout Markup, _ frame: MapFrame, error: Double) {
        let middle = frame.middle
        let place = PagePlace.text(latitude: middle.latitude, longitude: middle.longitude)
        var notes = "Grid in metres around \(place), WGS 84."
        let pixels = error / frame.metersPerPixel
        if pixels > 0.3 {
            notes += " So long a track is drawn true to \(FigureText.accuracy(error))."
        }
        page.add("<footer>\(notes) Drawn by Waypost \(Release.version).</footer>")
    }
}

/// A place as people write it.
enum PagePlace {
    /// `53.54998° N, 10.00000° E`: five decimals are a metre.
    static func text(latitude: Double, longitude: Double) -> String {
        "\(FigureText.decimal(abs(latitude), 5))° \(latitude < 0 ? "S" : "N"), "
            + "\(FigureText.decimal(abs(longitude), 5))° \(longitude < 0 ? "W" : "E")"
    }
}

/// The two widths for which drawings are made: a page without a script cannot measure its window.
enum PageLayout: String, CaseIterable, Sendable {
    case wide, narrow

    /// Pixels.
    var width: Double { self == .wide ? 1120 : 400 }
    /// Width of a character of a label, in pixels; on the safe side.
    var characterWidth: Double { self == .wide ? 7 : 6.4 }
    var lineHeight: Double { self == .wide ? 16 : 14 }
    /// The least distance between two lines of a grid.
    var gridDistance: Double { self == .wide ? 110 : 76 }
    /// The least distance between two times on an axis.
    var timeDistance: Double { self == .wide ? 84 : 66 }
    /// Radius of a stop's mark.
    var markRadius: Double { self == .wide ? 9 : 8 }
}

/// What the colours and marks of the map mean.
struct PageLegend {
    let scale: SpeedScale
    let paths: TrackPaths
    let summary: TrackSummary

    var markup: String {
        var markup = Markup()
        markup.add("<div class=\"legend\">")
        let isStated = paths.data.dropLast().contains { !$0.isEmpty }
        if isStated {
            markup.add("<div class=\"scale\"><span>Speed, km/h</span><ol>")
            for index in 0..<scale.count {
                markup.add("<li><i class=\"k\(scale.color(of: index))\"></i>\(scale.label(of: index))</li>")
            }
            markup.add("</ol></div>")
        }
        markup.add("<ul>")
        if paths.data.last?.isEmpty == false {
            markup.add("<li><i class=\"line k\(SpeedScale.palette)\"></i>speed not stated</li>")
        }
        markup.add("<li><i class=\"dot start\"></i>start</li><li><i class=\"dot end\"></i>end</li>")
        if summary.stops.found.count > 0 { markup.add("<li><i class=\"dot stop\">1</i>stop of a minute or more</li>") }
        let track = summary.statistics
        if track.gapCount > 0 { markup.add("<li><i class=\"line gap\"></i>no fix</li>") }
        if track.jumpCount > 0 { markup.add("<li><i class=\"line jump\"></i>jump: too far for the time</li>") }
        if track.backwardSteps > 0 { markup.add("<li><i class=\"dot back\"></i>time goes back</li>") }
        markup.add("</ul></div>")
        return markup.text
    }
}
