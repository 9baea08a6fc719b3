import GNSS

/// The line of a track, in bounded memory. Whenever the line has too many points, it is thinned out: points close to
/// the previous one are removed.
struct TrackLine: Sendable {
    struct Vertex: Sendable, Hashable {
        var point: PlanePoint
        /// The speed in metres per second; `nil` if the fix has none.
        var speed: Float?
        /// Whether this point begins a new piece of the line, so that it isn't connected to the previous point.
        var beginsPiece: Bool
    }

    /// The points of the line, in metres on the plane tangent to the earth at the first fix.
    private(set) var vertices: [Vertex] = []
    private(set) var plane: LocalProjection?
    private(set) var bounds: PlaneBounds?
    /// The minimum distance between two consecutive points, in metres. A point closer to the previous one is left out.
    private var tolerance = 0.0
    /// Whether the point that began the piece was left out, so that the next point must begin a new piece.
    private var isBroken = false
    private let capacity: Int

    init(capacity: Int = 1 << 17) { self.capacity = capacity }

    /// The maximum distance between a fix of the track and the line, in metres.
    var error: Double { 2 * tolerance }

    mutating func add(_ fix: Fix, beginsPiece: Bool) {
        let plane = plane ?? LocalProjection(latitude: fix.latitude, longitude: fix.longitude)
        self.plane = plane
        let point = plane.point(latitude: fix.latitude, longitude: fix.longitude)
        if bounds == nil { bounds = PlaneBounds(around: point) } else { bounds?.include(point) }
        append(Vertex(point: point, speed: fix.speedMetersPerSecond.map { Float($0) }, beginsPiece: beginsPiece))
        if vertices.count >= capacity { thinOut() }
    }

    private mutating func append(_ vertex: Vertex) {
        isBroken = isBroken || vertex.beginsPiece
        if let last = vertices.last, (vertex.point - last.point).length < tolerance { return }
        var vertex = vertex
        vertex.beginsPiece = isBroken || vertices.isEmpty
        isBroken = false
        vertices.append(vertex)
    }

    /// Doubles the tolerance and removes points, until half of the capacity is free. The first tolerance is about a
    /// tenth of a pixel of a large drawing.
    private mutating func thinOut() {
        guard let bounds else { return }
        tolerance = max(tolerance, max(bounds.width, bounds.height, 1) / 20_000)
        while vertices.count > capacity / 2 {
            tolerance *= 2
            let all = vertices
            vertices.removeAll(keepingCapacity: true)
            for vertex in all { append(vertex) }
        }
    }
}
