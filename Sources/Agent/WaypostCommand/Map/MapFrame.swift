import GNSS

/// Where on the drawing a place lies: the track in the middle, north up, one scale both ways.
struct MapFrame: Sendable {
    /// Pixels.
    let width = PageLayout.wide.width
    let height: Double
    let metersPerPixel: Double
    let projection: LocalProjection

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
