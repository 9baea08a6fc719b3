package import GNSS

/// A map of one track, or of the tracks of several vehicles, as a section of a page. It contains a drawing over a
/// metric grid in each size, and a legend of the colours and markers.
package struct TrackMap {
    /// A vehicle that the map shows at its newest position.
    package struct Vehicle: Sendable {
        /// The vehicle's name; `nil` if the map shows only this vehicle.
        let name: String?
        let newest: Fix
        let track: [Fix]
        /// Whether `newest` is the vehicle's current position. Otherwise `newest` is its last known position.
        let isCurrent: Bool

        package init(name: String?, newest: Fix, track: [Fix], isCurrent: Bool = true) {
            self.name = name
            self.newest = newest
            self.track = track
            self.isCurrent = isCurrent
        }
    }

    private(set) var summary = TrackSummary()
    private(set) var shortStops: [TrackStop] = []
    private(set) var profile = TrackProfile()
    private(set) var speeds = SpeedShares()
    /// The first and the last fix of the track; `nil` on a map of several vehicles.
    package private(set) var start: Fix?
    package private(set) var end: Fix?
    let vehicles: [Vehicle]
    /// The fixes that were delivered as past locations.
    private(set) var late: [Fix] = []
    /// The reported positions, in order of time. If there are any, the track is drawn in grey, so that the positions
    /// stand out.
    private(set) var reported: [ReportedPlace] = []
    /// The points of the track's line, in metres on the plane of `projection`.
    let vertices: [TrackLine.Vertex]
    private let projection: LocalProjection
    private let bounds: PlaneBounds
    private let error: Double

    /// Creates the map of one track; `nil` if there is no fix to draw. `newest` is the vehicle's current position or,
    /// if `isCurrent` is `false`, its last known position.
    package init?(
        _ survey: TrackSurvey, newest: Fix? = nil, isCurrent: Bool = true, late: [Fix] = [],
        reported: [ReportedPlace] = []
    ) {
        let track = survey.drawn
        self.init(track.line, newest.map { [Vehicle(name: nil, newest: $0, track: [], isCurrent: isCurrent)] } ?? [])
        summary = survey.summary
        shortStops = survey.shortStops
        profile = survey.profile
        speeds = survey.speeds
        start = track.start
        end = track.end
        self.late = late
        self.reported = reported
    }

    /// Creates the map of several vehicles and their tracks; `nil` if no vehicle has a fix.
    package init?(of vehicles: [Vehicle]) {
        var line = TrackLine()
        var speeds = SpeedShares()
        for vehicle in vehicles {
            var continuity = TrackContinuity()
            for fix in vehicle.track {
                if case .onward = continuity.step(to: fix) {
                    line.add(fix, beginsPiece: false)
                } else {
                    line.add(fix, beginsPiece: true)
                }
                if let speed = fix.speedMetersPerSecond { speeds.add(speed) }
            }
        }
        self.init(line, vehicles)
        self.speeds = speeds
    }

    /// Projects the line onto the plane tangent to the earth in the middle of the map.
    private init?(_ line: TrackLine, _ vehicles: [Vehicle]) {
        guard let plane = line.plane, let around = line.bounds, let first = line.vertices.first else { return nil }
        let middle = plane.place(of: around.center)
        let projection = LocalProjection(latitude: middle.latitude, longitude: middle.longitude)
        func reprojected(_ point: PlanePoint) -> PlanePoint {
            let place = plane.place(of: point)
            return projection.point(latitude: place.latitude, longitude: place.longitude)
        }
        var vertices = line.vertices
        var bounds = PlaneBounds(around: reprojected(first.point))
        for index in vertices.indices {
            vertices[index].point = reprojected(vertices[index].point)
            bounds.include(vertices[index].point)
        }
        self.vehicles = vehicles
        self.vertices = vertices
        self.projection = projection
        self.bounds = bounds
        error = line.error
    }

    /// Returns the point on the plane, in metres, for a latitude and a longitude in degrees.
    func point(latitude: Double, longitude: Double) -> PlanePoint {
        projection.point(latitude: latitude, longitude: longitude)
    }

    func frame(for size: DrawingSize) -> MapFrame { MapFrame(bounds, size) }

    /// The drawings in both sizes and their legend, as a section of a page.
    package var section: Markup {
        var section: Markup = "<section class=\"drawing\">\n"
        var legend = MapLegend()
        for size in DrawingSize.allCases {
            let drawing = MapDrawing(self, frame(for: size))
            section.add(drawing.svg)
            legend.keys.formUnion(drawing.keys)
        }
        if reported.isEmpty { legend.speeds = speeds }
        section.add("\(legend.markup)</section>")
        return section
    }

    /// A note that states the unit, the centre and the datum of the grid. If the line deviates visibly from the track,
    /// the note also states the maximum deviation.
    package var note: String {
        let middle = projection.place(of: bounds.center)
        let place = FigureText.coordinates(latitude: middle.latitude, longitude: middle.longitude)
        let isRough = error / frame(for: .wide).metersPerPixel > 0.5
        return "Grid in metres around \(place), WGS 84."
            + (isRough ? " The line is within \(FigureText.accuracy(error)) of the track." : "")
    }
}

/// A position that was reported with an update.
package struct ReportedPlace: Sendable, Hashable {
    package let fix: Fix
    /// Whether the position was the last location of an update. Otherwise it was one of the update's past locations.
    package let isLive: Bool

    package init(_ fix: Fix, isLive: Bool) {
        self.fix = fix
        self.isLive = isLive
    }
}

/// The line of a track as SVG path data, with one path per colour. Coordinates are in tenths of a pixel.
struct TrackPaths: Sendable {
    /// The path data for each speed class, followed by the path data for fixes without a speed.
    private(set) var data = [String](repeating: "", count: SpeedScale.classCount + 1)

    /// The minimum distance between two consecutive vertices, in pixels. A vertex closer to the previous one is left
    /// out.
    private static let spacing = 0.4

    init(_ vertices: [TrackLine.Vertex], in frame: MapFrame) {
        var previous: PathPoint?
        var color = -1
        for vertex in vertices {
            let pixel = frame.pixel(vertex.point)
            let point = PathPoint(pixel)
            if let previous, !vertex.beginsPiece {
                guard (pixel - previous.pixel).length >= Self.spacing else { continue }
                let next = Self.colorIndex(of: vertex.speed, after: color)
                let line = point.relativeLine(from: previous)
                data[next] += next == color ? line : "M\(previous)" + line
                color = next
            } else {
                color = Self.colorIndex(of: vertex.speed, after: -1)
                data[color] += "M\(point)h0"
            }
            previous = point
        }
    }

    private static func colorIndex(of speed: Float?, after color: Int) -> Int {
        guard let speed = speed.map(Double.init) else { return SpeedScale.classCount }
        let isKnown = (0..<SpeedScale.classCount).contains(color)
        return isKnown && SpeedScale.isNearClass(color, speed: speed) ? color : SpeedScale.classIndex(of: speed)
    }
}

/// A point of a path. Its coordinates are whole tenths of a pixel, so that rounding errors don't add up along the path.
struct PathPoint: CustomStringConvertible {
    let pixel: PlanePoint
    private let x: Int
    private let y: Int

    init(_ pixel: PlanePoint) {
        self.pixel = pixel
        x = Int((pixel.x * 10).rounded())
        y = Int((pixel.y * 10).rounded())
    }

    var description: String { "\(x) \(y)" }

    /// Returns the path data of a line from `start` to this point.
    func relativeLine(from start: Self) -> String { "l\(x - start.x) \(y - start.y)" }

    /// Returns the path data of a dot at each pixel.
    static func dotPath(at pixels: [PlanePoint]) -> String { pixels.map { "M\(Self($0))h0" }.joined() }

    /// Returns the path data of a line through all pixels.
    static func linePath(through pixels: [PlanePoint]) -> String {
        pixels.isEmpty ? "" : "M" + pixels.map { Self($0).description }.joined(separator: "L")
    }
}
