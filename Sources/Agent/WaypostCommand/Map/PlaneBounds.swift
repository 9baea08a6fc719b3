/// The smallest upright rectangle around points.
struct PlaneBounds: Sendable, Hashable {
    private(set) var low: PlanePoint
    private(set) var high: PlanePoint

    init(around point: PlanePoint) { (low, high) = (point, point) }

    init(low: PlanePoint, high: PlanePoint) { (self.low, self.high) = (low, high) }

    mutating func include(_ point: PlanePoint) {
        (low.x, low.y) = (min(low.x, point.x), min(low.y, point.y))
        (high.x, high.y) = (max(high.x, point.x), max(high.y, point.y))
    }

    var width: Double { high.x - low.x }
    var height: Double { high.y - low.y }
    var center: PlanePoint { (low + high) * 0.5 }

    func overlaps(_ other: Self) -> Bool {
        low.x < other.high.x && other.low.x < high.x && low.y < other.high.y && other.low.y < high.y
    }

    func contains(_ other: Self) -> Bool {
        low.x <= other.low.x && other.high.x <= high.x && low.y <= other.low.y && other.high.y <= high.y
    }
}
