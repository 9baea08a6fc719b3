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
    func add(to sheet: inout MapSheet) {
        let breaks = map.summary.statistics.breaks.elements()
        for place in breaks {
            addLink(across: place, to: &sheet)
            sheet.labels.avoid(from: point(place.before), to: point(place.after))
        }
        let stops = map.summary.stops.found.longest
        let marks = StopMarks(stops, layout) { pixel($0.latitude, $0.longitude) }.marks
        // Where the track begins or ends with a stop, the stop's number says more than another mark upon it.
        func stopMark(at fix: Fix?) -> PlanePoint? {
            fix.flatMap { fix in marks.first { ($0.point - point(fix)).length < layout.markRadius }?.point }
        }
        for mark in marks {
            let extent = PlanePoint(x: halfWidth(of: mark), y: layout.markRadius)
            sheet.labels.reserve(PlaneBounds(low: mark.point - extent, high: mark.point + extent))
        }
        for halt in map.shortStops { add(halt, to: &sheet) }
        if let start = map.start, stopMark(at: start) == nil { addStart(start, to: &sheet) }
        if let end = map.end, map.vehicles.isEmpty, stopMark(at: end) == nil { addEnd(end, to: &sheet) }
        if let start = map.start { _ = sheet.labels.reserve(around: point(start), radius: 7) }
        for mark in marks { add(mark, of: stops, to: &sheet) }
        for vehicle in map.vehicles { add(vehicle, to: &sheet) }
        addNames(to: &sheet)
        if let start = map.start, let end = map.end {
            let last = map.vehicles.first.map { point($0.newest) } ?? stopMark(at: end) ?? point(end)
            addLabels(start, at: stopMark(at: start) ?? point(start), end, at: last, to: &sheet)
        }
        if layout == .wide {
            for mark in marks {
                let time = mark.numbers.reduce(Duration.zero) { $0 + stops[$1 - 1].duration }
                let together = mark.numbers.count > 1 ? "together " : ""
                let words = "\(together)\(FigureText.duration(time))"
                label(words, beside: mark.point, radius: halfWidth(of: mark), kind: "", to: &sheet)
            }
        }
        for place in breaks { addBreak(place, to: &sheet) }
    }

    private func addStart(_ start: Fix, to sheet: inout MapSheet) {
        let place = point(start)
        let title: Markup = "<title>Start, \(moment(start.timeOfFix))</title>"
        let shape: Markup = "<circle cx=\"\(place.x)\" cy=\"\(place.y)\" r=\"7\"/>"
        sheet.svg.add(linked("<g class=\"start\">\(title)\(shape)</g>", start.latitude, start.longitude))
        sheet.explain(.start)
    }

    private func addEnd(_ end: Fix, to sheet: inout MapSheet) {
        let place = point(end)
        let title: Markup = "<title>End, \(moment(end.timeOfFix))</title>"
        let shape: Markup = "<rect x=\"\(place.x - 5)\" y=\"\(place.y - 5)\" width=\"10\" height=\"10\"/>"
        sheet.svg.add(linked("<g class=\"end\">\(title)\(shape)</g>", end.latitude, end.longitude))
        sheet.explain(.end)
    }

    /// Marks that are nearer to each other than this, in pixels, are one.
    private static let samePlace = 4.0

    /// Names both ends of the one track beside the marks that stand for them.
    private func addLabels(
        _ start: Fix, at first: PlanePoint, _ end: Fix, at last: PlanePoint, to sheet: inout MapSheet
    ) {
        let atStart = "start\(clock(start))"
        let isApart = (last - first).length > Self.samePlace
        if map.vehicles.isEmpty, !isApart {
            let words = map.summary.statistics.fixes == 1 ? atStart : "start and end"
            label(words, beside: first, kind: "strong", to: &sheet)
            return
        }
        if isApart { _ = sheet.labels.reserve(around: last, radius: 6) }
        // The end first: where there is room for one of them, it says more.
        label(name(of: end), beside: last, kind: "strong", to: &sheet)
        if isApart { label(atStart, beside: first, kind: "strong", to: &sheet) }
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

    private func add(_ halt: TrackStop, to sheet: inout MapSheet) {
        let place = pixel(halt.latitude, halt.longitude)
        _ = sheet.labels.reserve(around: place, radius: 4)
        sheet.explain(.halt)
        sheet.svg.add(
            """
            <circle class="halt" cx="\(place.x)" cy="\(place.y)" r="4"><title>Short stop, \(moment(halt.from)), \
            \(FigureText.duration(halt.duration))</title></circle>
            """)
    }

    private func clock(_ fix: Fix) -> String {
        layout == .wide ? " \(FigureText.clock(fix.timeOfFix, seconds: false))" : ""
    }

    /// An arrow that heads where the vehicle does, or a disc; its accuracy around it, where that is larger.
    private func add(_ vehicle: TrackMap.Vehicle, to sheet: inout MapSheet) {
        let place = point(vehicle.newest)
        let fix = vehicle.newest
        let radius = (fix.horizontalAccuracyMeters ?? 0) / view.metersPerPixel
        if radius > layout.markRadius {
            sheet.svg.add("<circle class=\"accuracy\" cx=\"\(place.x)\" cy=\"\(place.y)\" r=\"\(radius)\"/>")
        }
        let turn: Markup = fix.headingDegrees.map { " rotate(\($0))" } ?? ""
        let title: Markup = vehicle.name.map { "<title>\($0)</title>" } ?? ""
        let shape: Markup = fix.headingDegrees == nil ? "<circle r=\"7\"/>" : "<path d=\"M0-12L8 9 0 4-8 9z\"/>"
        sheet.svg.add(
            "<g class=\"vehicle\(vehicle.isCurrent ? "" : " last")\" transform=\"translate(\(place.x) \(place.y))\(turn)\">\(title)\(shape)</g>"
        )
        switch (vehicle.isCurrent, fix.headingDegrees) {
        case (true, .some): sheet.explain(.vehicle)
        case (true, nil): sheet.explain(.vehicleWithoutHeading)
        case (false, .some): sheet.explain(.lastPosition)
        case (false, nil): sheet.explain(.lastPositionWithoutHeading)
        }
        let extent = PlanePoint(x: 8, y: 8)
        sheet.labels.reserve(PlaneBounds(low: place - extent, high: place + extent))
    }

    /// Names the vehicles, once all of them are there: a name between two of them would be that of either.
    private func addNames(to sheet: inout MapSheet) {
        let places = map.vehicles.map { point($0.newest) }
        for (index, vehicle) in map.vehicles.enumerated() {
            guard let name = vehicle.name else { continue }
            let others = places.indices.filter { $0 != index }.map { places[$0] }
            label(name, beside: places[index], apartFrom: others, kind: "strong", to: &sheet)
        }
    }

    private func addLink(across place: TrackBreak, to sheet: inout MapSheet) {
        let from = point(place.before)
        let to = point(place.after)
        guard (to - from).length > 4 else { return }
        explain(place, in: &sheet)
        sheet.svg.add(
            """
            <path class="link \(String(describing: place.cause))" d="M\(from.x) \(from.y)L\(to.x) \(to.y)"><title>\(title(place))</title></path>
            """)
    }

    private func explain(_ place: TrackBreak, in sheet: inout MapSheet) {
        switch place.cause {
        case .gap: sheet.explain(.gap)
        case .jump: sheet.explain(.jump)
        case .backward: sheet.explain(.backward)
        }
    }

    private func addBreak(_ place: TrackBreak, to sheet: inout MapSheet) {
        let middle = (point(place.before) + point(place.after)) * 0.5
        guard sheet.labels.reserve(around: middle, radius: 5) else { return }
        explain(place, in: &sheet)
        sheet.svg.add(
            """
            <g class="break \(String(describing: place.cause))"><title>\(title(place))</title>\
            <path d="M\(middle.x) \(middle.y - 5)l5 5-5 5-5-5z"/></g>
            """)
        label(TrackFigures.text(of: place), beside: middle, kind: "", to: &sheet)
    }

    private func halfWidth(of mark: StopMarks.Mark) -> Double {
        max(layout.markRadius, Double(mark.text.count) * layout.characterWidth / 2 + 4)
    }

    private func add(_ mark: StopMarks.Mark, of stops: [TrackStop], to sheet: inout MapSheet) {
        let point = mark.point
        let radius = layout.markRadius
        let half = halfWidth(of: mark)
        var title: Markup = "Stop "
        for (index, number) in mark.numbers.enumerated() {
            let stop = stops[number - 1]
            if index > 0 { title += "\n" }
            title += "\(number): \(moment(stop.from)), \(FigureText.duration(stop.duration))"
        }
        if mark.numbers.count > 1 { sheet.explain(stops: mark.text) } else { sheet.explain(.stop) }
        guard let longest = mark.numbers.map({ stops[$0 - 1] }).max(by: { $0.duration < $1.duration }) else { return }
        let shape: Markup = """
            <g class="stop"><title>\(title)</title><rect x="\(point.x - half)" y="\(point.y - radius)" \
            width="\(2 * half)" height="\(2 * radius)" rx="\(radius)"/><text x="\(point.x)" y="\(point.y + 4)">\
            \(mark.text)</text></g>
            """
        sheet.svg.add(linked(shape, longest.latitude, longest.longitude))
    }

    private func label(
        _ text: String, beside mark: PlanePoint, apartFrom others: [PlanePoint] = [], radius: Double? = nil,
        kind: String, to sheet: inout MapSheet
    ) {
        let isStrong = kind == "strong"
        let width = Double(text.count) * (isStrong ? layout.boldCharacterWidth : layout.characterWidth)
        guard
            let place = sheet.labels.place(
                beside: mark, apartFrom: others, radius: radius ?? layout.markRadius, width: width,
                height: layout.lineHeight, mayCover: isStrong ? .max : 8)
        else { return }
        sheet.svg.add(
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
