package import GNSS

/// The map of a track as a page holds it: drawn over a metric grid for each layout, with what its colours and marks
/// mean.
package struct TrackMap {
    let frame: MapFrame
    let summary: TrackSummary
    let start: Fix
    let end: Fix
    /// Where a vehicle that still drives is.
    let vehicle: Fix?
    /// The line, in pixels of the frame.
    let vertices: [TrackLine.Vertex]
    let paths: TrackPaths
    private let speeds: SpeedScale
    private let error: Double

    /// `nil` when there is no fix to draw. `late` are the fixes that came later than their time.
    package init?(_ survey: TrackSurvey, vehicle: Fix? = nil, late: [Fix] = []) {
        let track = survey.drawn
        guard let start = track.start, let end = track.end, let (frame, vertices) = MapFrame.fitting(track.line) else {
            return nil
        }
        (summary, self.start, self.end, self.vehicle) = (survey.summary, start, end, vehicle)
        (self.frame, self.vertices, error) = (frame, vertices, track.line.error)
        speeds = SpeedScale(top: survey.speeds.usualTop)
        paths = TrackPaths(vertices, scale: speeds, late: late.map(frame.pixel))
    }

    /// The drawings and their legend.
    package var section: Markup {
        var section = definitions
        section.add("<section class=\"drawing\">")
        for layout in PageLayout.allCases { section.add(MapDrawing(map: self, layout: layout).svg) }
        section.add("\(legend)</section>")
        return section
    }

    /// What the grid and the line are true to.
    package var note: String {
        let middle = frame.middle
        let place = FigureText.place(latitude: middle.latitude, longitude: middle.longitude)
        let isRough = error / frame.metersPerPixel > 0.3
        return "Grid in metres around \(place), WGS 84."
            + (isRough ? " So long a track is drawn true to \(FigureText.accuracy(error))." : "")
    }

    /// The track itself, for every drawing to refer to: the page holds its points only once.
    private var definitions: Markup {
        var shapes: Markup = "<svg class=\"definitions\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>\n"
        for (name, data) in zip(0..., paths.data).map({ ("p\($0)", $1) }) + [("late", paths.late)] where !data.isEmpty {
            shapes.add("<path id=\"\(name)\" vector-effect=\"non-scaling-stroke\" d=\"\(data)\"/>")
        }
        shapes.add("</defs></svg>")
        return shapes
    }

    private var legend: Markup {
        var legend: Markup = "<div class=\"legend\">\n"
        if paths.data.dropLast().contains(where: { !$0.isEmpty }) {
            legend.add("<div class=\"scale\"><span>Speed, km/h</span><ol>")
            for index in 0..<speeds.count {
                legend.add("<li><i class=\"k\(speeds.color(of: index))\"></i>\(speeds.label(of: index))</li>")
            }
            legend.add("</ol></div>")
        }
        let track = summary.statistics
        let marks: [(isThere: Bool, meaning: Markup)] = [
            (paths.data.last?.isEmpty == false, "<i class=\"line k\(SpeedScale.palette)\"></i>speed not stated"),
            (true, "<i class=\"dot start\"></i>start"), (vehicle == nil, "<i class=\"dot end\"></i>end"),
            (!paths.late.isEmpty, "<i class=\"dot late\"></i>delivered later, as a past location"),
            (summary.stops.found.count > 0, "<i class=\"dot stop\">1</i>stop of a minute or more"),
            (track.gapCount > 0, "<i class=\"line gap\"></i>no fix"),
            (track.jumpCount > 0, "<i class=\"line jump\"></i>jump: too far for the time"),
            (track.backwardSteps > 0, "<i class=\"dot back\"></i>time goes back"),
        ]
        legend.add("<ul>")
        for mark in marks where mark.isThere { legend.add("<li>\(mark.meaning)</li>") }
        legend.add("</ul></div>")
        return legend
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

/// Where on the drawing a place lies: the track in the middle, north up, one scale both ways.
struct MapFrame: Sendable {
    /// Pixels.
    let width = PageLayout.wide.width
    let height: Double
    let metersPerPixel: Double
    private let projection: LocalProjection

    private let center: PlanePoint

    private static let margin = 64.0
    private static let leastHeight = 300.0
    private static let mostHeight = 620.0
    /// Less than this is the noise of a parked receiver.
    private static let leastMetersPerPixel = 0.05

    /// The frame of a line, and the line's points in pixels; `nil` for a line without a point.
    static func fitting(_ line: TrackLine) -> (frame: MapFrame, vertices: [TrackLine.Vertex])? {
        guard let plane = line.plane, let around = line.bounds else { return nil }
        let middle = plane.place(of: around.center)
        let projection = LocalProjection(latitude: middle.latitude, longitude: middle.longitude)
        var vertices = line.vertices
        for index in vertices.indices {
            let place = plane.place(of: vertices[index].point)
            vertices[index].point = projection.point(latitude: place.latitude, longitude: place.longitude)
        }
        guard let first = vertices.first else { return nil }
        var bounds = PlaneBounds(around: first.point)
        for vertex in vertices { bounds.include(vertex.point) }
        let frame = MapFrame(projection: projection, bounds: bounds)
        for index in vertices.indices { vertices[index].point = frame.pixel(vertices[index].point) }
        return (frame, vertices)
    }

    private init(projection: LocalProjection, bounds: PlaneBounds) {
        self.projection = projection
        center = bounds.center
        let room = PageLayout.wide.width - 2 * Self.margin
        let aspect = bounds.width > 0 ? bounds.height / bounds.width : bounds.height > 0 ? 1 : 0
        let roomBelow = min(Self.mostHeight, max(Self.leastHeight, room * aspect))
        height = (roomBelow + 2 * Self.margin).rounded()
        metersPerPixel = max(bounds.width / room, bounds.height / roomBelow, Self.leastMetersPerPixel)
    }

    /// The place, in degrees, in the middle of the drawing.
    var middle: (latitude: Double, longitude: Double) { projection.place(of: center) }

    /// The pixel of a place in degrees.
    func pixel(latitude: Double, longitude: Double) -> PlanePoint {
        pixel(projection.point(latitude: latitude, longitude: longitude))
    }

    func pixel(of fix: Fix) -> PlanePoint { pixel(latitude: fix.latitude, longitude: fix.longitude) }

    private func pixel(_ meters: PlanePoint) -> PlanePoint {
        PlanePoint(
            x: width / 2 + (meters.x - center.x) / metersPerPixel,
            y: height / 2 - (meters.y - center.y) / metersPerPixel)
    }
}

/// The track as path data of SVG, one path a colour, in tenths of a pixel.
struct TrackPaths: Sendable {
    /// Path data by colour of the palette; the last one is of fixes that state no speed.
    private(set) var data = [String](repeating: "", count: SpeedScale.palette + 1)
    /// The places that came later than their time, a dot each.
    private(set) var late = ""

    /// A line may lie that many pixels beside what it stands for, and change its colour that many later.
    private static let tolerance = 0.15
    private static let spacing = 2.0

    init(_ vertices: [TrackLine.Vertex], scale: SpeedScale, late: [PlanePoint] = []) {
        func color(_ vertex: TrackLine.Vertex) -> Int {
            vertex.speed.map { scale.color(of: scale.index(of: Double($0))) } ?? SpeedScale.palette
        }
        LineStrokes(tolerance: Self.tolerance, spacing: Self.spacing).forEach(of: vertices) { one, other in
            guard let speed = one.speed, let otherSpeed = other.speed else { return one.speed == other.speed }
            return scale.isAbout(Double(otherSpeed), inClass: scale.index(of: Double(speed)))
        } take: { stroke, _ in
            guard let first = stroke.first else { return }
            Self.append(stroke, to: &data[color(first)])
        }
        for point in late { self.late += "M\(Self.tenths(point.x)) \(Self.tenths(point.y))h0" }
    }

    /// Each step is the difference of two rounded places, so that roundings do not add up.
    private static func append(_ stroke: [TrackLine.Vertex], to data: inout String) {
        var last = (x: 0, y: 0)
        for (index, vertex) in stroke.enumerated() {
            let place = (x: tenths(vertex.point.x), y: tenths(vertex.point.y))
            let step = (x: place.x - last.x, y: place.y - last.y)
            if index > 0, step == (0, 0), stroke.count > 2 { continue }
            data += index == 0 ? "M" : index == 1 ? "l" : step.x < 0 ? "" : " "
            data += step.y < 0 ? "\(step.x)\(step.y)" : "\(step.x) \(step.y)"
            last = place
        }
        if stroke.count == 1 { data += "h0" }
    }

    private static func tenths(_ pixels: Double) -> Int { Int((pixels * 10).rounded()) }
}
