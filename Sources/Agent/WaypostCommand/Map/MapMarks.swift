import GNSS
import TimeAndChance

/// What stands on the track: start, end, stops, and the places where it breaks.
struct MapMarks {
    let summary: TrackSummary
    let start: Fix
    let end: Fix
    let layout: PageLayout
    /// The pixel of a place in degrees.
    let pixel: (_ latitude: Double, _ longitude: Double) -> PlanePoint

    /// Draws all of it; labels go where there is room.
    func add(to svg: inout Markup, _ labels: inout LabelPlacement) {
        let breaks = summary.statistics.breaks.elements()
        for place in breaks {
            addLink(across: place, to: &svg)
            labels.avoid(from: point(place.before), to: point(place.after))
        }
        let (first, last) = (point(start), point(end))
        let stops = summary.stops.found.longest
        let marks = StopMarks(stops, layout) { pixel($0.latitude, $0.longitude) }.marks
        // Where the track begins or ends with a stop, the stop's number says more than another mark upon it.
        func isStop(_ point: PlanePoint) -> Bool { marks.contains { ($0.point - point).length < layout.markRadius } }
        for mark in marks { _ = labels.reserve(around: mark.point, radius: layout.markRadius) }
        if !isStop(first) { addStart(at: first, to: &svg) }
        if !isStop(last) { addEnd(at: last, to: &svg) }
        _ = labels.reserve(around: first, radius: 7)
        let isApart = (last - first).length > 14
        if isApart { _ = labels.reserve(around: last, radius: 6) }
        for mark in marks { add(mark, of: stops, to: &svg) }
        label(
            isApart || summary.statistics.fixes == 1 ? "start\(clock(start))" : "start and end", beside: first,
            kind: "strong", to: &svg, &labels)
        if isApart { label("end\(clock(end))", beside: last, kind: "strong", to: &svg, &labels) }
        if layout == .wide {
            for mark in marks where mark.numbers.count == 1 {
                label(
                    FigureText.duration(stops[mark.numbers[0] - 1].duration), beside: mark.point, kind: "", to: &svg,
                    &labels)
            }
        }
        for place in breaks { addBreak(place, to: &svg, &labels) }
    }

    private func clock(_ fix: Fix) -> String {
        layout == .wide ? " \(FigureText.clock(fix.timeOfFix, seconds: false))" : ""
    }

    private func addStart(at point: PlanePoint, to svg: inout Markup) {
        svg.add(
            "<g class=\"start\"><title>Start, \(moment(start.timeOfFix))</title><circle cx=\"\(x(point))\" "
                + "cy=\"\(y(point))\" r=\"7\"/></g>")
    }

    private func addEnd(at point: PlanePoint, to svg: inout Markup) {
        svg.add(
            "<g class=\"end\"><title>End, \(moment(end.timeOfFix))</title><rect x=\"\(x(point, -5))\" "
                + "y=\"\(y(point, -5))\" width=\"10\" height=\"10\"/></g>")
    }

    private func addLink(across place: TrackBreak, to svg: inout Markup) {
        let (from, to) = (point(place.before), point(place.after))
        guard (to - from).length > 4 else { return }
        svg.add(
            "<path class=\"link \(place.cause)\" d=\"M\(x(from)) \(y(from))L\(x(to)) \(y(to))\">"
                + "<title>\(title(place))</title></path>")
    }

    private func addBreak(_ place: TrackBreak, to svg: inout Markup, _ labels: inout LabelPlacement) {
        let (from, to) = (point(place.before), point(place.after))
        let middle = (from + to) * 0.5
        guard labels.reserve(around: middle, radius: 5) else { return }
        svg.add(
            "<g class=\"break \(place.cause)\"><title>\(title(place))</title><path d=\"M\(x(middle)) \(y(middle, -5))"
                + "l5 5-5 5-5-5z\"/></g>")
        label(TrackFigures.text(of: place), beside: middle, kind: "", to: &svg, &labels)
    }

    private func add(_ mark: StopMarks.Mark, of stops: [TrackStop], to svg: inout Markup) {
        let radius = layout.markRadius
        let half = max(radius, Double(mark.text.count) * layout.characterWidth / 2 + 4)
        let titles = mark.numbers.map { number in
            "\(number): \(moment(stops[number - 1].from)), \(FigureText.duration(stops[number - 1].duration))"
        }
        svg.add(
            "<g class=\"stop\"><title>Stop \(titles.joined(separator: "\n"))</title><rect "
                + "x=\"\(x(mark.point, -half))\" y=\"\(y(mark.point, -radius))\" width=\"\(Markup.number(2 * half))\" "
                + "height=\"\(Markup.number(2 * radius))\" rx=\"\(Markup.number(radius))\"/>"
                + "<text x=\"\(x(mark.point))\" y=\"\(y(mark.point, 4))\">\(mark.text)</text></g>")
    }

    private func label(
        _ text: String, beside mark: PlanePoint, kind: String, to svg: inout Markup, _ labels: inout LabelPlacement
    ) {
        let width = Double(text.count) * layout.characterWidth
        guard
            let place = labels.place(
                beside: mark, radius: layout.markRadius, width: width, height: layout.lineHeight,
                mayCover: kind.isEmpty ? 8 : .max)
        else { return }
        svg.add(
            "<text class=\"label \(kind)\" text-anchor=\"\(place.anchor)\" x=\"\(x(place.point))\" "
                + "y=\"\(y(place.point, 4))\">\(text)</text>")
    }

    private func title(_ place: TrackBreak) -> String {
        "\(TrackFigures.text(of: place)), from \(moment(place.before.timeOfFix)) to \(moment(place.after.timeOfFix))"
    }

    private func moment(_ time: UTCTime) -> String { "\(FigureText.date(time)) \(FigureText.clock(time)) UTC" }
    private func point(_ fix: Fix) -> PlanePoint { pixel(fix.latitude, fix.longitude) }
    private func x(_ point: PlanePoint, _ offset: Double = 0) -> String { Markup.number(point.x + offset) }
    private func y(_ point: PlanePoint, _ offset: Double = 0) -> String { Markup.number(point.y + offset) }
}
