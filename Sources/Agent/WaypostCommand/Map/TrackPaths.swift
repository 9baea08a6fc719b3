/// The track as path data of SVG, one path a colour, in tenths of a pixel.
struct TrackPaths: Sendable {
    /// Path data by colour of the palette; the last one is of fixes that state no speed.
    private(set) var data = [String](repeating: "", count: SpeedScale.palette + 1)

    /// A line may lie that many pixels beside what it stands for, and change its colour that many later.
    private static let tolerance = 0.15
    private static let spacing = 2.0

    init(_ vertices: [TrackLine.Vertex], scale: SpeedScale) {
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
