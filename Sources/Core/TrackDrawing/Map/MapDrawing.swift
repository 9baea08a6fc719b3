import GNSS
import TimeAndRandomness

/// A map in one size, as SVG. It shows the track over a metric grid, its markers, and those labels for which there is
/// room.
struct MapDrawing {
    let frame: MapFrame
    private(set) var svg: Markup
    /// The kinds of marker that have been drawn, for the legend.
    private(set) var keys: Set<MapKey> = []
    private let map: TrackMap
    private var labels: LabelPlacement

    private var size: DrawingSize { frame.size }
    private var width: Double { frame.width }
    private var height: Double { frame.height }

    init(_ map: TrackMap, _ frame: MapFrame) {
        self.map = map
        self.frame = frame
        labels = LabelPlacement(width: frame.width, height: frame.height)
        // The pixels per metre and the pixel of the origin, from which the script calculates where a sample is on the
        // map.
        let origin = frame.pixel(PlanePoint(x: 0, y: 0))
        let view = [1 / frame.metersPerPixel, origin.x, origin.y].map { FigureText.decimal($0, places: 6) }
        svg = """
            <svg class="\(frame.size.rawValue) map" viewBox="0 0 \(frame.width) \(frame.height)" role="group" \
            aria-label="Map of the track" data-view="[\(view.joined(separator: ","))]">
            <rect class="ground" width="100%" height="100%"/>

            """
        drawGrid()
        drawTrack()
        drawMarks()
        svg.add("<circle class=\"pointer\" r=\"7\"/>\n</svg>")
    }

    // MARK: Ground

    private mutating func drawGrid() {
        let meters = RoundStep.step(atLeast: size.gridDistance * frame.metersPerPixel)
        let step = meters / frame.metersPerPixel
        let middleX = width / 2
        let middleY = height / 2
        func distanceLabel(pixels: Double, positive: String, negative: String) -> String {
            let count = (pixels / step).rounded()
            let length = Self.lengthLabel(meters: abs(count) * meters)
            return count == 0 ? "0" : "\(length) \(count > 0 ? positive : negative)"
        }
        var lines: Markup = ""
        for x in RoundStep.multiples(of: step, from: -middleX, to: middleX) { lines += "M\(middleX + x) 0v\(height)" }
        for y in RoundStep.multiples(of: step, from: -middleY, to: middleY) { lines += "M0 \(middleY + y)h\(width)" }
        svg.add("<path class=\"grid\" d=\"\(lines)\"/>")
        for x in RoundStep.multiples(of: step, from: 30 - middleX, to: middleX - step - 90) {
            let text = distanceLabel(pixels: x, positive: "E", negative: "W")
            svg.add("<text class=\"coordinate\" x=\"\(middleX + x + 4)\" y=\"\(height - 6)\">\(text)</text>")
        }
        for y in RoundStep.multiples(of: step, from: 20 - middleY, to: middleY - 30) {
            let text = distanceLabel(pixels: -y, positive: "N", negative: "S")
            svg.add("<text class=\"coordinate\" x=\"5\" y=\"\(middleY + y - 4)\">\(text)</text>")
        }
        let right = width - 16
        let bottom = height - 14
        let scaleLabel = Self.lengthLabel(meters: meters)
        svg.add(
            """
            <g class="north"><path d="M\(width - 22) 14l6 17-6-4-6 4z"/>\
            <text x="\(width - 22)" y="44" text-anchor="middle">N</text></g>
            <g class="scale"><path d="M\(right - step) \(bottom - 5)v5h\(step)v-5"/>\
            <text x="\(right - step / 2)" y="\(bottom - 5)" text-anchor="middle">\(scaleLabel)</text></g>
            """)
        reserveArea(around: PlanePoint(x: width - 22, y: 24), width: 30, height: 48)
        reserveArea(around: PlanePoint(x: right - step / 2, y: bottom - 8), width: step + 12, height: 28)
        reserveArea(around: PlanePoint(x: width / 2, y: height - 10), width: width, height: 20)
    }

    /// Returns a round length as text, such as `500 m`, `2 km` or `0.5 m`.
    private static func lengthLabel(meters: Double) -> String {
        meters >= 1000 ? "\(Markup.number(meters / 1000)) km" : "\(Markup.number(meters)) m"
    }

    // MARK: Track

    private mutating func drawTrack() {
        let isPlain = !map.reported.isEmpty
        let paths = TrackPaths(map.vertices, in: frame)
        let colors = paths.data.indices.filter { !paths.data[$0].isEmpty }
        var shapes: Markup = "<defs>"
        var casing: Markup = "<g class=\"casing\">"
        var track: Markup = "<g class=\"track\(isPlain ? " plain" : "")\">"
        for color in colors {
            let id = "\(size.rawValue)\(color)"
            shapes +=
                "<path id=\"\(id)\" transform=\"scale(.1)\" vector-effect=\"non-scaling-stroke\" d=\"\(paths.data[color])\"/>"
            casing += "<use href=\"#\(id)\"/>"
            track += "<use href=\"#\(id)\" class=\"k\(color)\"/>"
        }
        svg.add("\(shapes)</defs>\(casing)</g>\(track)</g>")
        for (start, end) in zip(map.vertices, map.vertices.dropFirst()) where !end.beginsPiece {
            labels.avoid(lineFrom: frame.pixel(start.point), to: frame.pixel(end.point))
        }
        if isPlain {
            keys.insert(.plainTrack)
        } else if colors.last == SpeedScale.classCount {
            keys.insert(.unstatedSpeed)
        }
        func pixels(isLive: Bool) -> [PlanePoint] {
            map.reported.filter { $0.isLive == isLive }.map { pixel(of: $0.fix) }
        }
        drawPath(PathPoint.linePath(through: map.reported.map { pixel(of: $0.fix) }), kind: "reported", key: .reported)
        drawPath(PathPoint.dotPath(at: pixels(isLive: false)), kind: "reported-past", key: .reportedPast)
        drawPath(PathPoint.dotPath(at: pixels(isLive: true)), kind: "reported-live", key: .reportedLive)
        drawPath(PathPoint.dotPath(at: map.late.map(pixel(of:))), kind: "late", key: .late)
    }

    private mutating func drawPath(_ data: String, kind: String, key: MapKey) {
        guard !data.isEmpty else { return }
        svg.add("<path class=\"\(kind)\" transform=\"scale(.1)\" vector-effect=\"non-scaling-stroke\" d=\"\(data)\"/>")
        keys.insert(key)
    }

    // MARK: Marks

    private mutating func drawMarks() {
        let stops = map.summary.stops.found.longest
        let marks = StopMarks(stops, size) { pixel(latitude: $0.latitude, longitude: $0.longitude) }.marks
        let breaks = map.summary.statistics.breaks.elements()
        for place in breaks { drawLink(across: place) }
        for stop in map.shortStops { drawShortStop(stop) }
        drawEnds(avoiding: marks.map(\.point))
        for mark in marks { drawStopMark(mark, of: stops) }
        for vehicle in map.vehicles { drawVehicle(vehicle) }
        labelEnds()
        for vehicle in map.vehicles {
            if let name = vehicle.name { drawLabel(name, nextTo: pixel(of: vehicle.newest), isStrong: true) }
        }
        for mark in marks {
            let time = mark.numbers.reduce(Duration.zero) { $0 + stops[$1 - 1].duration }
            let text = "\(FigureText.duration(time))\(mark.numbers.count > 1 ? " in total" : "")"
            drawLabel(text, nextTo: mark.point, radius: halfWidth(of: mark))
        }
        for place in breaks { drawBreakMark(of: place) }
    }

    /// Draws a marker at the start of the track and, unless a vehicle is drawn, at its end. Leaves out a marker that
    /// would be on a stop's marker, because the number of the stop is more informative.
    private mutating func drawEnds(avoiding stops: [PlanePoint]) {
        guard let start = map.start, let end = map.end else { return }
        func isFree(_ point: PlanePoint) -> Bool { !stops.contains { ($0 - point).length < size.markRadius } }
        let first = pixel(of: start)
        let last = pixel(of: end)
        if isFree(first) {
            let title = "Start, \(dateTimeLabel(of: start.timeOfFix))"
            svg.add(
                "<g class=\"start\"><title>\(title)</title><circle cx=\"\(first.x)\" cy=\"\(first.y)\" r=\"7\"/></g>")
            keys.insert(.start)
        }
        reserveArea(around: first, width: 14, height: 14)
        guard map.vehicles.isEmpty else { return }
        if isFree(last) {
            let title = "End, \(dateTimeLabel(of: end.timeOfFix))"
            svg.add(
                """
                <g class="end"><title>\(title)</title>\
                <rect x="\(last.x - 5)" y="\(last.y - 5)" width="10" height="10"/></g>
                """)
            keys.insert(.end)
        }
        reserveArea(around: last, width: 12, height: 12)
    }

    private mutating func labelEnds() {
        guard let start = map.start, let end = map.end else { return }
        let vehicle = map.vehicles.first
        let first = pixel(of: start)
        let last = pixel(of: vehicle?.newest ?? end)
        let atStart = "start \(timeLabel(of: start))"
        let isApart = (last - first).length > 4
        if let vehicle {
            let time = timeLabel(of: vehicle.newest)
            drawLabel(vehicle.isCurrent ? "now \(time)" : "last position \(time) UTC", nextTo: last, isStrong: true)
        } else if isApart {
            drawLabel("end \(timeLabel(of: end))", nextTo: last, isStrong: true)
        } else {
            drawLabel(map.summary.statistics.fixCount == 1 ? atStart : "start and end", nextTo: first, isStrong: true)
        }
        if isApart { drawLabel(atStart, nextTo: first, isStrong: true) }
    }

    private mutating func drawShortStop(_ stop: TrackStop) {
        let place = pixel(latitude: stop.latitude, longitude: stop.longitude)
        let title = "Short stop, \(dateTimeLabel(of: stop.from)), \(FigureText.duration(stop.duration))"
        svg.add("<circle class=\"halt\" cx=\"\(place.x)\" cy=\"\(place.y)\" r=\"4\"><title>\(title)</title></circle>")
        reserveArea(around: place, width: 8, height: 8)
        keys.insert(.shortStop)
    }

    private mutating func drawStopMark(_ mark: StopMarks.Mark, of stops: [TrackStop]) {
        let radius = size.markRadius
        let half = halfWidth(of: mark)
        let titles = mark.numbers.map { number in
            let stop = stops[number - 1]
            return "\(number): \(dateTimeLabel(of: stop.from)), \(FigureText.duration(stop.duration))"
        }
        svg.add(
            """
            <g class="stop"><title>Stop \(titles.joined(separator: "; "))</title>\
            <rect x="\(mark.point.x - half)" y="\(mark.point.y - radius)" width="\(2 * half)" height="\(2 * radius)" rx="\(radius)"/>\
            <text x="\(mark.point.x)" y="\(mark.point.y + 4)">\(mark.text)</text></g>
            """)
        reserveArea(around: mark.point, width: 2 * half, height: 2 * radius)
        keys.insert(mark.numbers.count > 1 ? .stops : .stop)
    }

    private func halfWidth(of mark: StopMarks.Mark) -> Double {
        max(size.markRadius, Double(mark.text.count) * size.characterWidth / 2 + 4)
    }

    /// Draws a vehicle as an arrow that points in its direction, or as a disc if the direction is unknown. Also draws
    /// its accuracy as a circle if the circle is larger than the vehicle.
    private mutating func drawVehicle(_ vehicle: TrackMap.Vehicle) {
        let fix = vehicle.newest
        let place = pixel(of: fix)
        let radius = (fix.horizontalAccuracyMeters ?? 0) / frame.metersPerPixel
        if radius > size.markRadius {
            svg.add("<circle class=\"accuracy\" cx=\"\(place.x)\" cy=\"\(place.y)\" r=\"\(radius)\"/>")
        }
        let turn: Markup = fix.headingDegrees.map { " rotate(\($0))" } ?? ""
        let title: Markup = vehicle.name.map { "<title>\($0)</title>" } ?? ""
        let shape: Markup = fix.headingDegrees == nil ? "<circle r=\"7\"/>" : "<path d=\"M0-12L8 9 0 4-8 9z\"/>"
        svg.add(
            """
            <g class="vehicle\(vehicle.isCurrent ? "" : " last")" \
            transform="translate(\(place.x) \(place.y))\(turn)">\(title)\(shape)</g>
            """)
        reserveArea(around: place, width: 16, height: 16)
        switch (vehicle.isCurrent, fix.headingDegrees) {
        case (true, .some): keys.insert(.vehicle)
        case (true, nil): keys.insert(.vehicleWithoutHeading)
        case (false, .some): keys.insert(.lastPosition)
        case (false, nil): keys.insert(.lastPositionWithoutHeading)
        }
    }

    private mutating func drawLink(across place: TrackBreak) {
        let from = pixel(of: place.before)
        let to = pixel(of: place.after)
        guard (to - from).length > 4 else { return }
        svg.add(
            """
            <path class="link \(String(describing: place.cause))" d="M\(from.x) \(from.y)L\(to.x) \(to.y)">\
            <title>\(title(of: place))</title></path>
            """)
        keys.insert(legendKey(for: place))
    }

    private mutating func drawBreakMark(of place: TrackBreak) {
        let middle = (pixel(of: place.before) + pixel(of: place.after)) * 0.5
        let box = PlaneBounds(around: middle, width: 10, height: 10)
        guard labels.isFree(box) else { return }
        labels.reserve(box)
        svg.add(
            """
            <g class="break \(String(describing: place.cause))"><title>\(title(of: place))</title>\
            <path d="M\(middle.x) \(middle.y - 5)l5 5-5 5-5-5z"/></g>
            """)
        keys.insert(legendKey(for: place))
        drawLabel(TrackFigures.label(of: place), nextTo: middle)
    }

    private func legendKey(for place: TrackBreak) -> MapKey {
        switch place.cause {
        case .gap: .gap
        case .jump: .jump
        case .backward: .backward
        }
    }

    private func title(of place: TrackBreak) -> String {
        let start = dateTimeLabel(of: place.before.timeOfFix)
        let end = dateTimeLabel(of: place.after.timeOfFix)
        return "\(TrackFigures.label(of: place)), from \(start) to \(end)"
    }

    // MARK: Labels

    /// Draws a label if there is room.
    private mutating func drawLabel(
        _ text: String, nextTo mark: PlanePoint, radius: Double? = nil, isStrong: Bool = false
    ) {
        let width = Double(text.count) * (isStrong ? size.boldCharacterWidth : size.characterWidth)
        let radius = radius ?? size.markRadius
        guard let place = labels.place(nextTo: mark, radius: radius, width: width, height: size.lineHeight) else {
            return
        }
        svg.add(
            """
            <text class="label\(isStrong ? " strong" : "")" text-anchor="\(place.anchor.rawValue)" \
            x="\(place.point.x)" y="\(place.point.y + 4)">\(text)</text>
            """)
    }

    private mutating func reserveArea(around middle: PlanePoint, width: Double, height: Double) {
        labels.reserve(PlaneBounds(around: middle, width: width, height: height))
    }

    private func timeLabel(of fix: Fix) -> String { FigureText.timeOfDay(fix.timeOfFix, seconds: false) }

    private func dateTimeLabel(of time: UTCTime) -> String {
        "\(FigureText.date(time)) \(FigureText.timeOfDay(time)) UTC"
    }

    private func pixel(of fix: Fix) -> PlanePoint { pixel(latitude: fix.latitude, longitude: fix.longitude) }

    private func pixel(latitude: Double, longitude: Double) -> PlanePoint {
        frame.pixel(map.point(latitude: latitude, longitude: longitude))
    }
}
