/// Finds room for labels beside marks; what finds none is left out rather than written over another.
struct LabelPlacement: Sendable {
    private let area: PlaneBounds
    private var taken: [PlaneBounds] = []

    init(width: Double, height: Double) {
        area = PlaneBounds(low: PlanePoint(x: 2, y: 2), high: PlanePoint(x: width - 2, y: height - 2))
    }

    /// Keeps an area free.
    mutating func reserve(_ bounds: PlaneBounds) { taken.append(bounds) }

    /// Keeps the square around a point free, if nothing is there yet; tells whether it was.
    mutating func reserve(around point: PlanePoint, radius: Double) -> Bool {
        let square = Self.box(point, width: 2 * radius, height: 2 * radius)
        guard !taken.contains(where: square.overlaps) else { return false }
        taken.append(square)
        return true
    }

    /// The middle of a free box beside a mark: right of it, left, above, below, then the corners; `nil` without room.
    mutating func place(beside mark: PlanePoint, radius: Double, width: Double, height: Double) -> PlanePoint? {
        let (across, down) = (radius + width / 2 + 3, radius + height / 2 + 2)
        let ways = [(1.0, 0.0), (-1, 0), (0, -1), (0, 1), (0.8, -0.9), (0.8, 0.9), (-0.8, -0.9), (-0.8, 0.9)]
        for (x, y) in ways {
            let middle = mark + PlanePoint(x: x * across, y: y * down)
            let box = Self.box(middle, width: width, height: height)
            guard area.contains(box), !taken.contains(where: box.overlaps) else { continue }
            taken.append(box)
            return middle
        }
        return nil
    }

    private static func box(_ middle: PlanePoint, width: Double, height: Double) -> PlaneBounds {
        let half = PlanePoint(x: width / 2, y: height / 2)
        return PlaneBounds(low: middle - half, high: middle + half)
    }
}
