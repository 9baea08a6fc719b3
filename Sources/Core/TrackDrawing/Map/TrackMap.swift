package import GNSS

/// The map of a track, or of the tracks of several vehicles, as a page holds it: drawn over a metric grid for each
/// layout, with what its colours and marks mean.
package struct TrackMap {
    /// A vehicle that still drives: where it is, where it came from, and its name where it needs one.
    package struct Vehicle: Sendable {
        let name: String?
        let newest: Fix
        let track: [Fix]
        /// Whether it is there now; otherwise it was there last.
        let isCurrent: Bool

        package init(name: String?, newest: Fix, track: [Fix], isCurrent: Bool = true) {
            self.name = name
            self.newest = newest
            self.track = track
            self.isCurrent = isCurrent
        }
    }

    let frame: MapFrame
    private(set) var summary = TrackSummary()
    /// Times of standing that are too short for a stop.
    private(set) var shortStops: [TrackStop] = []
    /// Where the track begins and ends; `nil` on a map of several vehicles.
    package private(set) var start: Fix?
    package private(set) var end: Fix?
    let vehicles: [Vehicle]
    private(set) var profile = TrackProfile()
    /// The line, in pixels of the frame.
    let vertices: [TrackLine.Vertex]
    let paths: TrackPaths
    let told: ToldPaths
    let speeds: SpeedHistogram
    let scale: SpeedScale
    private let error: Double

    /// Whether the track has one colour, so that what was told stands out from it.
    var isPlain: Bool { !told.line.isEmpty }

    /// The map of one track, `nil` when there is no fix to draw. `newest` is where a vehicle that still drives is, or
    /// was last, unless that `isCurrent`; `late` are the fixes that came later than their time, `reported` is what was
    /// told of it, in order of time.
    package init?(
        _ survey: TrackSurvey, newest: Fix? = nil, isCurrent: Bool = true, late: [Fix] = [],
        reported: [ReportedPlace] = []
    ) {
        let track = survey.drawn
        guard let (frame, vertices) = MapFrame.fitting(track.line) else { return nil }
        summary = survey.summary
        shortStops = survey.shortStops
        profile = survey.profile
        start = track.start
        end = track.end
        vehicles = newest.map { [Vehicle(name: nil, newest: $0, track: [], isCurrent: isCurrent)] } ?? []
        self.frame = frame
        self.vertices = vertices
        error = track.line.error
        speeds = survey.speeds
        scale = newest == nil ? SpeedScale(dividing: survey.speeds) : .fixed
        paths = TrackPaths(vertices, scale: scale, late: late.map(frame.pixel))
        told = ToldPaths(reported, in: frame)
    }

    /// The map of several vehicles and their tracks, `nil` when none of them has a fix.
    package init?(of vehicles: [Vehicle]) {
        var line = TrackLine()
        var speeds = SpeedHistogram()
        for vehicle in vehicles {
            var continuity = TrackContinuity()
            var steady = SteadyFixes()
            var isFirst = true
            func add(_ fix: Fix, _ beginsPiece: Bool) {
                line.add(fix, beginsPiece: beginsPiece || isFirst)
                isFirst = false
            }
            for fix in vehicle.track {
                steady.take(fix, continuity.step(to: fix), add)
                if let speed = fix.speedMetersPerSecond { speeds.add(speed) }
            }
            steady.finish(add)
        }
        guard let (frame, vertices) = MapFrame.fitting(line) else { return nil }
        self.frame = frame
        self.vertices = vertices
        error = line.error
        self.vehicles = vehicles
        self.speeds = speeds
        scale = .fixed
        paths = TrackPaths(vertices, scale: scale)
        told = ToldPaths([], in: frame)
    }

    /// The drawings and their legend.
    package var section: Markup {
        var section = definitions
        section.add("<section class=\"drawing\">")
        let sheets = PageLayout.allCases.map { ($0, MapDrawing(self, $0).sheet) }
        for (_, sheet) in sheets { section.add(sheet.svg) }
        section.add("\(MapLegend(map: self, sheets: sheets).markup)</section>")
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

    /// The map as each layout shows it.
    func view(_ layout: PageLayout) -> MapView { MapView(frame, layout) }

    /// The track itself, for every drawing to refer to: the page holds its points only once.
    private var definitions: Markup {
        var shapes: Markup = "<svg class=\"definitions\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>\n"
        let track = zip(0..., paths.data).map { ("p\($0)", $1) }
        for (name, data) in track + told.data.map({ ($0.name, $0.path) }) + [("late", paths.late)] where !data.isEmpty {
            shapes.add("<path id=\"\(name)\" vector-effect=\"non-scaling-stroke\" d=\"\(data)\"/>")
        }
        shapes.add("</defs></svg>")
        return shapes
    }
}

/// The two widths for which drawings are made: a page without a script cannot measure its window.
enum PageLayout: String, CaseIterable, Sendable {
    case wide, narrow

    /// Pixels.
    var width: Double { self == .wide ? 1120 : 400 }
    /// Width of a character of a label, in pixels; on the safe side, also where a page shows the wide drawing smaller
    /// than it is and its text larger.
    var characterWidth: Double { self == .wide ? 8.4 : 6.4 }
    var boldCharacterWidth: Double { self == .wide ? 10.8 : 8.5 }
    var lineHeight: Double { self == .wide ? 18 : 14 }
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
    /// The room that the track takes, in pixels.
    let trackWidth: Double
    let trackHeight: Double
    private let projection: LocalProjection

    private let center: PlanePoint

    private static let margin = 52.0
    private static let leastHeight = 300.0
    /// With the figures above and the legend below, it fits a screen of 900 pixels.
    private static let mostHeight = 400.0
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
        trackWidth = bounds.width / metersPerPixel
        trackHeight = bounds.height / metersPerPixel
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

/// The frame as one layout shows it: a narrow page has less width for it, and more height.
struct MapView: Sendable {
    let layout: PageLayout
    let width: Double
    let height: Double
    /// Pixels of this view in one of the frame.
    let scale: Double
    /// Where the frame's corner lies.
    let offset: PlanePoint
    let metersPerPixel: Double

    private static let narrowMargin = 24.0
    private static let narrowHeights = 210.0...420

    init(_ frame: MapFrame, _ layout: PageLayout) {
        self.layout = layout
        width = layout.width
        switch layout {
        case .wide:
            scale = 1
            height = frame.height
        case .narrow:
            let margins = 2 * Self.narrowMargin
            let heights = Self.narrowHeights
            scale = min(
                1, (layout.width - margins) / max(1, frame.trackWidth),
                (heights.upperBound - margins) / max(1, frame.trackHeight))
            height = min(heights.upperBound, max(heights.lowerBound, frame.trackHeight * scale + margins)).rounded()
        }
        offset = PlanePoint(x: (width - frame.width * scale) / 2, y: (height - frame.height * scale) / 2)
        metersPerPixel = frame.metersPerPixel / scale
    }

    /// The pixel of this view for one of the frame.
    func pixel(_ point: PlanePoint) -> PlanePoint { point * scale + offset }
}

/// A place that an update has told.
package struct ReportedPlace: Sendable, Hashable {
    package let fix: Fix
    /// Whether it was an update's last location, not one of the past.
    package let isLive: Bool

    package init(_ fix: Fix, isLive: Bool) {
        self.fix = fix
        self.isLive = isLive
    }
}

/// What was told, as path data of SVG in tenths of a pixel: the line through it, and its places.
struct ToldPaths: Sendable {
    private(set) var line = ""
    private(set) var live = ""
    private(set) var past = ""

    /// In the order in which they are drawn.
    var data: [(name: String, key: MapKey, path: String)] {
        [("told", .told, line), ("told-past", .toldPast, past), ("told-live", .toldLive, live)]
    }

    init(_ places: [ReportedPlace], in frame: MapFrame) {
        for place in places {
            let pixel = frame.pixel(of: place.fix)
            let point = "\(Int((pixel.x * 10).rounded())) \(Int((pixel.y * 10).rounded()))"
            line += (line.isEmpty ? "M" : "L") + point
            if place.isLive { live += "M\(point)h0" } else { past += "M\(point)h0" }
        }
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
