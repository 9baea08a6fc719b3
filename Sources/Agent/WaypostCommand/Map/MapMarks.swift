import GNSS

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
        for place in breaks { addLink(across: place, to: &svg) }
        let (first, last) = (point(start), point(end))
        _ = labels.reserve(around: first, radius: 8)
        let endIsApart = labels.reserve(around: last, radius: 7)
        addStops(to: &svg, &labels)
        svg.add(
            "<g class=\"start\"><title>Start, \(moment(start.timeOfFix))</title><circle cx=\"\(x(first))\" "
                + "cy=\"\(y(first))\" r=\"7\"/></g>")
        svg.add(
            "<g class=\"end\"><title>End, \(moment(end.timeOfFix))</title><rect x=\"\(x(last, -5))\" "
                + "y=\"\(y(last, -5))\" width=\"10\" height=\"10\"/></g>")
        let isShort = layout == .narrow
        label(
            endIsApart || summary.statistics.fixes == 1
                ? isShort ? "start" : "start \(FigureText.clock(start.timeOfFix, seconds: false))"
                : "start and end", beside: first, radius: 8, kind: "strong", to: &svg, &labels)
        if endIsApart {
            label(
                isShort ? "end" : "end \(FigureText.clock(end.timeOfFix, seconds: false))", beside: last, radius: 7,
                kind: "strong", to: &svg, &labels)
        }
        for place in breaks { addBreak(place, to: &svg, &labels) }
    }

    private func addLink(across place: TrackBreak, to svg: inout Markup) {
        let (from, to) = (point(place.before), point(place.after))
        guard place.cause != .backward, (to - from).length > 4 else { return }
        svg.add(
            "<path class=\"link \(place.cause)\" d=\"M\(x(from)) \(y(from))L\(x(to)) \(y(to))\">"
                + "<title>\(title(place))</title></path>")
    }

    private func addBreak(_ place: TrackBreak, to svg: inout Markup, _ labels: inout LabelPlacement) {
        let (from, to) = (point(place.before), point(place.after))
        let middle = place.cause == .backward ? to : (from + to) * 0.5
        guard labels.reserve(around: middle, radius: 5) else { return }
        svg.add(
            "<g class=\"break \(place.cause)\"><title>\(title(place))</title><path d=\"M\(x(middle)) \(y(middle, -5))"
                + "l5 5-5 5-5-5z\"/></g>")
        label(TrackFigures.text(of: place), beside: middle, radius: 6, kind: "", to: &svg, &labels)
    }

    private func addStops(to svg: inout Markup, _ labels: inout LabelPlacement) {
        let stops = summary.stops.found.longest
        let radius = layout.markRadius
        let marks = StopMarks(stops, spacing: 2 * radius + 4) { pixel($0.latitude, $0.longitude) }.marks
        for mark in marks { _ = labels.reserve(around: mark.point, radius: radius) }
        for mark in marks {
            let half = max(radius, Double(mark.text.count) * layout.characterWidth / 2 + 4)
            let title = mark.numbers.map { number in
                "\(number): \(moment(stops[number - 1].from)), \(FigureText.duration(stops[number - 1].duration))"
            }
            svg.add(
                "<g class=\"stop\"><title>Stop \(title.joined(separator: "\n"))</title><rect x=\"\(x(mark.point, -half))\" "
                    + "y=\"\(y(mark.point, -radius))\" width=\"\(Markup.number(2 * half))\" "
                    + "height=\"\(Markup.number(2 * radius))\" rx=\"\(Markup.number(radius))\"/>"
                    + "<text x=\"\(x(mark.point))\" y=\"\(y(mark.point, 4))\">\(mark.text)</text></g>")
        }
        guard layout == .wide else { return }
        for mark in marks where mark.numbers.count == 1 {
            let length = FigureText.duration(stops[mark.numbers[0] - 1].duration)
            label(length, beside: mark.point, radius: radius, kind: "", to: &svg, &labels)
        }
    }

    private func label(
        _ text: String, beside mark: PlanePoint, radius: Double, kind: String, to svg: inout Markup,
        _ labels: inout LabelPlacement
    ) {
        let width = Double(text.count) * layout.characterWidth
        guard let place = labels.place(beside: mark, radius: radius, width: width, height: layout.lineHeight) else {
            return
        }
        svg.add("<text class=\"label \(kind)\" x=\"\(x(place))\" y=\"\(y(place, 4))\">\(text)</text>")
    }

    private func title(_ place: TrackBreak) -> String {
        "\(TrackFigures.text(of: place)), from \(moment(place.before.timeOfFix)) to \(moment(place.after.timeOfFix))"
    }

    private func moment(_ time: UTCTime) -> String { "\(FigureText.date(time)) \(FigureText.clock(time)) UTC" }
    private func point(_ fix: Fix) -> PlanePoint { pixel(fix.latitude, fix.longitude) }
    private func x(_ point: PlanePoint, _ offset: Double = 0) -> String { Markup.number(point.x + offset) }
    private func y(_ point: PlanePoint, _ offset: Double = 0) -> String { Markup.number(point.y + offset) }
}
