/// A point of a plane: metres east and north of its origin, or pixels right and down, as the context says.
struct PlanePoint: Sendable, Hashable {
    var x: Double
    var y: Double

    static func + (one: Self, other: Self) -> Self { Self(x: one.x + other.x, y: one.y + other.y) }
    static func - (one: Self, other: Self) -> Self { Self(x: one.x - other.x, y: one.y - other.y) }
    static func * (point: Self, scale: Double) -> Self { Self(x: point.x * scale, y: point.y * scale) }

    var length: Double { (x * x + y * y).squareRoot() }

    /// To the nearest point of the straight line between two others.
    func distance(toSegmentFrom start: Self, to end: Self) -> Double {
        let way = end - start
        let square = way.x * way.x + way.y * way.y
        guard square > 0 else { return (self - start).length }
        let place = ((x - start.x) * way.x + (y - start.y) * way.y) / square
        return (self - (start + way * min(1, max(0, place)))).length
    }
}
