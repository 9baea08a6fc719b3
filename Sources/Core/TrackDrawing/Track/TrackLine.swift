import CMath
import GNSS

/// The line of a track in bounded memory: thinned by its shape whenever it has grown too long.
struct TrackLine: Sendable {
    struct Vertex: Sendable, Hashable {
        var point: PlanePoint
        /// Metres per second, if the fix states it.
        var speed: Float?
        /// Whether no line leads here from the point before.
        var beginsPiece: Bool
    }

    /// Points in metres on the plane that touches the earth at the first fix.
    private(set) var vertices: [Vertex] = []
    private(set) var plane: LocalProjection?
    private(set) var bounds: PlaneBounds?
    /// Metres by which a fix may lie beside the line that stands for it.
    private(set) var error = 0.0

    private let capacity: Int
    /// How many of the points have been thinned already.
    private var settled = 0
    private var tolerance = 0.0
    private var topSpeed: Float = 0

    /// What the line is drawn on, in pixels: a tenth of one of them is not seen.
    private static let drawnPixels = 1000.0
    /// Changes of speed are kept apart by this many tolerances: two pixels.
    private static let spacing = 20.0

    /// `capacity` is how many points are kept at most.
    init(capacity: Int = 1 << 17) { self.capacity = capacity }

    mutating func add(_ fix: Fix, beginsPiece: Bool) {
        let plane = plane ?? LocalProjection(latitude: fix.latitude, longitude: fix.longitude)
        self.plane = plane
        let point = plane.point(latitude: fix.latitude, longitude: fix.longitude)
        if bounds == nil { bounds = PlaneBounds(around: point) } else { bounds?.include(point) }
        let speed = fix.speedMetersPerSecond.map { Float($0) }
        topSpeed = max(topSpeed, speed ?? 0)
        vertices.append(Vertex(point: point, speed: speed, beginsPiece: beginsPiece || vertices.isEmpty))
        if vertices.count >= capacity { thin() }
    }

    /// Thins what is new; where that is not enough all of it, twice as coarsely as ever before: so the errors of a
    /// point stay together below twice the last tolerance.
    private mutating func thin() {
        guard let bounds else { return }
        tolerance = max(tolerance, max(bounds.width, bounds.height, 1) / Self.drawnPixels / 10)
        thin(from: max(0, settled - 1))
        error = max(error, tolerance)
        while vertices.count > capacity / 2 {
            tolerance *= 2
            thin(from: 0)
            error += tolerance
        }
        settled = vertices.count
    }

    private mutating func thin(from start: Int) {
        let step = max(0.5, topSpeed / 30)
        var thinned: [Vertex] = []
        LineStrokes(tolerance: tolerance, spacing: tolerance * Self.spacing).forEach(of: Array(vertices[start...])) {
            one, other in
            guard let speed = one.speed, let otherSpeed = other.speed else { return one.speed == other.speed }
            return abs(speed - otherSpeed) < step
        } take: { stroke, continues in
            thinned += continues ? stroke.dropFirst() : stroke[...]
        }
        vertices.replaceSubrange(start..., with: thinned)
    }
}

/// Leaves out points of a line without moving it by more than a tolerance.
///
/// From an anchor, every point narrows the sector of directions in which a straight line passes it close enough; the
/// line goes to the last point in the sector (Zhao and Saalfeld's sleeve). One pass, whatever the shape.
enum LineThinning {
    /// Points looked ahead from one anchor: it bounds the work where a line turns back at once.
    private static let reach = 2048

    /// The indices that stay, first and last among them: every point lies within `tolerance` of the line through those.
    static func kept(of points: some RandomAccessCollection<PlanePoint>, tolerance: Double) -> [Int] {
        let points = Array(points)
        guard points.count > 2 else { return Array(points.indices) }
        var kept = [0]
        var anchor = 0
        while anchor < points.count - 1 {
            anchor = farthest(from: anchor, in: points, tolerance)
            kept.append(anchor)
        }
        return kept
    }

    /// The last point that a straight line from `anchor` may go to.
    private static func farthest(from anchor: Int, in points: [PlanePoint], _ tolerance: Double) -> Int {
        var best = anchor + 1
        var middle: Double?  // a direction of the sector, in radians; the sector's bounds are relative to it
        var low = 0.0
        var high = 0.0
        var reached = 0.0
        for index in (anchor + 1)..<min(points.count, anchor + reach) {
            let way = points[index] - points[anchor]
            let distance = way.length
            // Nearer than the tolerance, the anchor itself is close enough, whatever the direction.
            guard distance > tolerance else {
                if middle == nil { best = index }
                continue
            }
            let direction = cmath_atan2(way.y, way.x)
            let spread = cmath_asin(tolerance / distance)
            let turn = middle.map { (direction - $0).remainder(dividingBy: 2 * .pi) } ?? 0
            if middle == nil {
                middle = direction
                low = -spread
                high = spread
            } else {
                if turn >= low, turn <= high, distance >= reached { best = index }
                low = max(low, turn - spread)
                high = min(high, turn + spread)
                guard low <= high else { break }
            }
            if reached == 0 { best = index }
            reached = max(reached, distance)
        }
        return best
    }
}

/// A line cut into strokes, each of one kind and thinned by shape; pieces too small to see become dots.
struct LineStrokes {
    /// How far the strokes may lie beside the line; what is smaller than this is a dot.
    let tolerance: Double
    /// A stroke of another kind begins no nearer to the last one's beginning than this, along the line.
    let spacing: Double

    /// Hands on every stroke in order, at least one point each.
    ///
    /// - Parameters:
    ///   - vertices: the line; a vertex begins a piece where it says so.
    ///   - isAlike: whether two vertices belong into one stroke.
    ///   - take: gets a stroke, and whether it begins with the last point of the one before.
    func forEach(
        of vertices: [TrackLine.Vertex], isAlike: (TrackLine.Vertex, TrackLine.Vertex) -> Bool,
        take: (_ stroke: [TrackLine.Vertex], _ continues: Bool) -> Void
    ) {
        var dots: Set<PlanePoint> = []
        var start = 0
        while start < vertices.count {
            let end = vertices[(start + 1)...].firstIndex(where: \.beginsPiece) ?? vertices.count
            let piece = vertices[start..<end]
            if isDot(piece) {
                if dots.insert(cell(of: vertices[start].point)).inserted { take([vertices[start]], false) }
            } else {
                cut(piece, isAlike: isAlike, take: take)
            }
            start = end
        }
    }

    private func cut(
        _ piece: ArraySlice<TrackLine.Vertex>, isAlike: (TrackLine.Vertex, TrackLine.Vertex) -> Bool,
        take: ([TrackLine.Vertex], Bool) -> Void
    ) {
        var start = piece.startIndex
        var length = 0.0
        for index in piece.indices.dropFirst() {
            length += (piece[index].point - piece[index - 1].point).length
            let isLast = index == piece.endIndex - 1
            guard isLast || length >= spacing && !isAlike(piece[start], piece[index]) else { continue }
            let stroke = piece[start...index]
            let kept = LineThinning.kept(of: stroke.lazy.map(\.point), tolerance: tolerance)
            take(kept.map { stroke[start + $0] }, start > piece.startIndex)
            start = index
            length = 0
        }
    }

    private func isDot(_ piece: ArraySlice<TrackLine.Vertex>) -> Bool {
        guard let first = piece.first else { return true }
        return piece.allSatisfy { ($0.point - first.point).length <= tolerance }
    }

    /// The square of the plane that a point lies in, by its column and row.
    private func cell(of point: PlanePoint) -> PlanePoint {
        let side = max(tolerance, 1e-9)
        return PlanePoint(x: (point.x / side).rounded(.down), y: (point.y / side).rounded(.down))
    }
}
