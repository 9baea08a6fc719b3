import Glibc

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
        var (low, high) = (0.0, 0.0)
        var reached = 0.0
        for index in (anchor + 1)..<min(points.count, anchor + reach) {
            let way = points[index] - points[anchor]
            let distance = way.length
            // Nearer than the tolerance, the anchor itself is close enough, whatever the direction.
            guard distance > tolerance else {
                if middle == nil { best = index }
                continue
            }
            let direction = atan2(way.y, way.x)
            let spread = asin(tolerance / distance)
            let turn = middle.map { remainder(direction - $0, 2 * .pi) } ?? 0
            if middle == nil {
                (middle, low, high) = (direction, -spread, spread)
            } else {
                if turn >= low, turn <= high, distance >= reached { best = index }
                (low, high) = (max(low, turn - spread), min(high, turn + spread))
                guard low <= high else { break }
            }
            if reached == 0 { best = index }
            reached = max(reached, distance)
        }
        return best
    }
}
