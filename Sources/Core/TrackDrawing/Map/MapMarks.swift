import GNSS
import TimeAndChance

/// What stands on the track: start, end, stops, and the places where it breaks.
struct MapMarks {
    let map: TrackMap
    let view: MapView

    private var layout: PageLayout { view.layout }
    /// A drawing that is replaced every second would take the focus off its links.
    private var hasLinks: Bool { map.vehicles.isEmpty }

    /// Draws all of it; labels go where there is room.
    func add(to svg: inout Markup, _ labels: inout LabelPlacement) {
        let breaks = map.summary.statistics.breaks.elements()
        for place in breaks {
            addLink(across: place, to: &svg)
            labels.avoid(from: point(place.before), to: point(place.after))
        }
        let stops = map.summary.stops.found.longest
        let marks = StopMarks(stops, layout) { pixel($0.latitude, $0.longitude) }.marks
        // Where the track begins or ends with a stop, the stop's number says more than another mark upon it.
        func isStop(_ point: PlanePoint) -> Bool { marks.contains { ($0.point - point).length < layout.markRadius } }
        for mark in marks { _ = labels.reserve(around: mark.point, radius: layout.markRadius) }
        for halt in map.shortStops { add(halt, to: &svg, &labels) }
        if let start = map.start, !isStop(point(start)) {
            let place = point(start)
            let title: Markup = "<title>Start, \(moment(start.timeOfFix))</title>"
            svg.add(
                linked(
                    "<g class=\"start\">\(title)<circle cx=\"\(place.x)\" cy=\"\(place.y)\" r=\"7\"/></g>",
                    start.latitude, start.longitude))
        }
        if let end = map.end, map.vehicles.isEmpty, !isStop(point(end)) {
            let place = point(end)
            let shape: Markup = "<rect x=\"\(place.x - 5)\" y=\"\(place.y - 5)\" width=\"10\" height=\"10\"/>"
            svg.add(
                linked(
                    "<g class=\"end\"><title>End, \(moment(end.timeOfFix))</title>\(shape)</g>", end.latitude,
                    end.longitude))
        }
        if let start = map.start { _ = labels.reserve(around: point(start), radius: 7) }
        for mark in marks { add(mark, of: stops, to: &svg) }
        for vehicle in map.vehicles { _ = labels.reserve(around: point(vehicle.newest), radius: 8) }
        for vehicle in map.vehicles { add(vehicle, to: &svg, &labels) }
        if let start = map.start, let end = map.end { addLabels(start, end, to: &svg, &labels) }
        if layout == .wide {
            for mark in marks where mark.numbers.count == 1 {
                label(
                    FigureText.duration(stops[mark.numbers[0] - 1].duration), beside: mark.point, kind: "", to: &svg,
                    &labels)
            }
        }
        for place in breaks { addBreak(place, to: &svg, &labels) }
    }

    /// Names both ends of the one track.
    private func addLabels(_ start: Fix, _ end: Fix, to svg: inout Markup, _ labels: inout LabelPlacement) {
        let vehicle = map.vehicles.first
        let (first, last) = (point(start), point(vehicle?.newest ?? end))
        let isApart = (last - first).length > 14
        if isApart { _ = labels.reserve(around: last, radius: 6) }
        let atStart = "start\(clock(start))"
        guard isApart else {
            let isOnlyStart = map.summary.statistics.fixes == 1
            let words = vehicle?.isCurrent == false ? name(of: end) : isOnlyStart ? atStart : "start and end"
            label(words, beside: first, kind: "strong", to: &svg, &labels)
            return
        }
        // The end first: where there is room for one of them, it says more.
        label(name(of: end), beside: last, kind: "strong", to: &svg, &labels)
        label(atStart, beside: first, kind: "strong", to: &svg, &labels)
    }

    /// What the end of the one track is: that of a log, where the vehicle is, or where it was last, and when.
    private func name(of end: Fix) -> String {
        guard let vehicle = map.vehicles.first else { return "end\(clock(end))" }
        return vehicle.isCurrent
            ? "now\(clock(end))" : "last position \(FigureText.clock(vehicle.newest.timeOfFix, seconds: false)) UTC"
    }

    private func linked(_ mark: Markup, _ latitude: Double, _ longitude: Double) -> Markup {
        hasLinks ? WorldMapLink.around(mark, latitude: latitude, longitude: longitude) : mark
    }

    private func add(_ halt: TrackStop, to svg: inout Markup, _ labels: inout LabelPlacement) {
        let place = pixel(halt.latitude, halt.longitude)
        _ = labels.reserve(around: place, radius: 4)
        svg.add(
            """
            <circle class="halt" cx="\(place.x)" cy="\(place.y)" r="4"><title>Short stop, \(moment(halt.from)), \
            \(FigureText.duration(halt.duration))</title></circle>
            """)
    }

    private func clock(_ fix: Fix) -> String {
        layout == .wide ? " \(FigureText.clock(fix.timeOfFix, seconds: false))" : ""
    }

    /// An arrow that heads where the vehicle does, or a disc; its accuracy around it, where that is larger.
    private func add(_ vehicle: TrackMap.Vehicle, to svg: inout Markup, _ labels: inout LabelPlacement) {
        let (place, fix) = (point(vehicle.newest), vehicle.newest)
        let radius = (fix.horizontalAccuracyMeters ?? 0) / view.metersPerPixel
        if radius > layout.markRadius {
            svg.add("<circle class=\"accuracy\" cx=\"\(place.x)\" cy=\"\(place.y)\" r=\"\(radius)\"/>")
        }
        let turn: Markup = fix.headingDegrees.map { " rotate(\($0))" } ?? ""
        let title: Markup = vehicle.name.map { "<title>\($0)</title>" } ?? ""
        let shape: Markup = fix.headingDegrees == nil ? "<circle r=\"7\"/>" : "<path d=\"M0-12L8 9 0 4-8 9z\"/>"
        svg.add(
            "<g class=\"vehicle\(vehicle.isCurrent ? "" : " last")\" transform=\"translate(\(place.x) \(place.y))\(turn)\">\(title)\(shape)</g>"
        )
        guard let name = vehicle.name else { return }
        label(name, beside: place, kind: "strong", to: &svg, &labels)
    }

    private func addLink(across place: TrackBreak, to svg: inout Markup) {
        let (from, to) = (point(place.before), point(place.after))
        guard (to - from).length > 4 else { return }
        svg.add(
            """
            <path class="link \(String(describing: place.cause))" d="M\(from.x) \(from.y)L\(to.x) \(to.y)"><title>\(title(place))</title></path>
            """)
    }

    private func addBreak(_ place: TrackBreak, to svg: inout Markup, _ labels: inout LabelPlacement) {
        let middle = (point(place.before) + point(place.after)) * 0.5
        guard labels.reserve(around: middle, radius: 5) else { return }
        svg.add(
            """
            <g class="break \(String(describing: place.cause))"><title>\(title(place))</title>\
            <path d="M\(middle.x) \(middle.y - 5)l5 5-5 5-5-5z"/></g>
            """)
        label(TrackFigures.text(of: place), beside: middle, kind: "", to: &svg, &labels)
    }

    private func add(_ mark: StopMarks.Mark, of stops: [TrackStop], to svg: inout Markup) {
        let (point, radius) = (mark.point, layout.markRadius)
        let half = max(radius, Double(mark.text.count) * layout.characterWidth / 2 + 4)
        var title: Markup = "Stop "
        for (index, number) in mark.numbers.enumerated() {
            let stop = stops[number - 1]
            if index > 0 { title += "\n" }
            title += "\(number): \(moment(stop.from)), \(FigureText.duration(stop.duration))"
        }
        let first = stops[mark.numbers[0] - 1]
        let shape: Markup = """
            <g class="stop"><title>\(title)</title><rect x="\(point.x - half)" y="\(point.y - radius)" \
            width="\(2 * half)" height="\(2 * radius)" rx="\(radius)"/><text x="\(point.x)" y="\(point.y + 4)">\
            \(mark.text)</text></g>
            """
        svg.add(linked(shape, first.latitude, first.longitude))
    }

    private func label(
        _ text: String, beside mark: PlanePoint, kind: String, to svg: inout Markup, _ labels: inout LabelPlacement
    ) {
        let isStrong = kind == "strong"
        let width = Double(text.count) * (isStrong ? layout.boldCharacterWidth : layout.characterWidth)
        guard
            let place = labels.place(
                beside: mark, radius: layout.markRadius, width: width, height: layout.lineHeight,
                mayCover: isStrong ? .max : 8)
        else { return }
        svg.add(
            """
            <text class="label \(kind)" text-anchor="\(place.anchor.rawValue)" x="\(place.point.x)" \
            y="\(place.point.y + 4)">\(text)</text>
            """)
    }

    private func title(_ place: TrackBreak) -> String {
        "\(TrackFigures.text(of: place)), from \(moment(place.before.timeOfFix)) to \(moment(place.after.timeOfFix))"
    }

    private func moment(_ time: UTCTime) -> String { "\(FigureText.date(time)) \(FigureText.clock(time)) UTC" }
    private func point(_ fix: Fix) -> PlanePoint { pixel(fix.latitude, fix.longitude) }

    private func pixel(_ latitude: Double, _ longitude: Double) -> PlanePoint {
        view.pixel(map.frame.pixel(latitude: latitude, longitude: longitude))
    }
}

/// Stops as marks of a drawing: those that would lie on each other share one.
struct StopMarks: Sendable {
    struct Mark: Sendable {
        let point: PlanePoint
        /// Their numbers in the list, from 1.
        var numbers: [Int]

        /// As `3`, or `3 +2` where two more stand in the same place.
        var text: String { numbers.count == 1 ? "\(numbers[0])" : "\(numbers[0]) +\(numbers.count - 1)" }
    }

    private(set) var marks: [Mark] = []

    /// Above so many stops a mark is one for several, and wide, more often than not.
    private static let manyStops = 30

    /// Marks for stops whose pixel `pixel` tells, as they are laid out in a drawing.
    init(_ stops: [TrackStop], _ layout: PageLayout, pixel: (TrackStop) -> PlanePoint) {
        let height = 2 * layout.markRadius + 4
        let width = stops.count > Self.manyStops ? 8 * layout.characterWidth : height
        for (index, stop) in stops.enumerated() {
            let point = pixel(stop)
            if let near = marks.firstIndex(where: {
                abs($0.point.x - point.x) < width && abs($0.point.y - point.y) < height
            }) {
                marks[near].numbers.append(index + 1)
            } else {
                marks.append(Mark(point: point, numbers: [index + 1]))
            }
        }
    }
}
