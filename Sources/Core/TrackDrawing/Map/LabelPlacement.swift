/// Finds room for labels beside marks, off the line where that can be; what finds none is left out rather than written
/// over another label.
struct LabelPlacement: Sendable {
    /// Where a label stands: the left end, the middle or the right end of its text.
    struct Place: Sendable, Hashable {
        enum Anchor: String, Sendable { case start, middle, end }
        let point: PlanePoint
        let anchor: Anchor
    }

    private struct Cell: Hashable {
        let column: Int
        let row: Int
    }

    private let area: PlaneBounds
    private var taken: [PlaneBounds] = []
    private var line: Set<Cell> = []

    /// Pixels.
    private static let cellSide = 6.0
    /// How much farther a label is from another mark than from its own, in pixels.
    private static let clearance = 4.0

    init(width: Double, height: Double) {
        area = PlaneBounds(low: PlanePoint(x: 2, y: 2), high: PlanePoint(x: width - 2, y: height - 2))
    }

    /// Notes where the line runs, each of whose points has its `pixel` here.
    mutating func avoid(_ vertices: [TrackLine.Vertex], pixel: (PlanePoint) -> PlanePoint) {
        var last: PlanePoint?
        for vertex in vertices {
            let point = pixel(vertex.point)
            avoid(from: vertex.beginsPiece ? point : last ?? point, to: point)
            last = point
        }
    }

    /// Notes a straight line; of one that is far longer than a drawing, some of it.
    mutating func avoid(from start: PlanePoint, to end: PlanePoint) {
        let way = end - start
        let steps = Int(min(1000, way.length / Self.cellSide * 2)) + 1
        for step in 1...steps {
            let point = start + way * (Double(step) / Double(steps))
            if area.contains(PlaneBounds(around: point)) { line.insert(Self.cell(point)) }
        }
    }

    /// Keeps an area free.
    mutating func reserve(_ bounds: PlaneBounds) { taken.append(bounds) }

    /// Keeps the square around a point free, if it is on the drawing and nothing is there yet; tells whether it is so.
    mutating func reserve(around point: PlanePoint, radius: Double) -> Bool {
        let square = Self.box(point, width: 2 * radius, height: 2 * radius)
        guard area.contains(square), !taken.contains(where: square.overlaps) else { return false }
        taken.append(square)
        return true
    }

    /// A free place beside a mark, where a label covers as little of the line as can be, and at most `mayCover` cells
    /// of it, and is clearly nearer to the mark than to `others`; `nil` without room.
    mutating func place(
        beside mark: PlanePoint, apartFrom others: [PlanePoint] = [], radius: Double, width: Double, height: Double,
        mayCover: Int = .max
    ) -> Place? {
        let across = radius + 5 + width / 2
        let down = radius + 2 + height / 2
        let beside = [(1.0, 0.0), (-1, 0), (0, -1), (0, 1), (0.85, -0.8), (0.85, 0.8), (-0.85, -0.8), (-0.85, 0.8)]
        // A line farther, where all that is beside the mark is taken.
        let beyond = [(0.0, -1.9), (0, 1.9), (0.85, -1.7), (0.85, 1.7), (-0.85, -1.7), (-0.85, 1.7)]
        var best: (covered: Int, box: PlaneBounds, place: Place)?
        for ways in [beside, beyond] where best == nil {
            for (x, y) in ways {
                let middle = mark + PlanePoint(x: x * across, y: y * down)
                let box = Self.box(middle, width: width, height: height)
                guard area.contains(box), !taken.contains(where: box.overlaps) else { continue }
                let reach = box.distance(to: mark) + Self.clearance
                guard !others.contains(where: { box.distance(to: $0) < reach }) else { continue }
                let covered = covered(by: box)
                guard covered <= mayCover, covered < best?.covered ?? .max else { continue }
                let anchor: Place.Anchor = x > 0 ? .start : x < 0 ? .end : .middle
                let end = PlanePoint(x: middle.x - (x > 0 ? width / 2 : x < 0 ? -width / 2 : 0), y: middle.y)
                best = (covered, box, Place(point: end, anchor: anchor))
            }
        }
        guard let best else { return nil }
        taken.append(best.box)
        return best.place
    }

    /// How many cells of the line lie in a box.
    private func covered(by box: PlaneBounds) -> Int {
        let low = Self.cell(box.low)
        let high = Self.cell(box.high)
        var count = 0
        for column in low.column...high.column {
            for row in low.row...high.row where line.contains(Cell(column: column, row: row)) { count += 1 }
        }
        return count
    }

    private static func cell(_ point: PlanePoint) -> Cell {
        Cell(column: Int((point.x / cellSide).rounded(.down)), row: Int((point.y / cellSide).rounded(.down)))
    }

    private static func box(_ middle: PlanePoint, width: Double, height: Double) -> PlaneBounds {
        let half = PlanePoint(x: width / 2, y: height / 2)
        return PlaneBounds(low: middle - half, high: middle + half)
    }
}
