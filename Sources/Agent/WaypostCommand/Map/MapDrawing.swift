import GNSS

/// The track over a metric grid, as SVG.
struct MapDrawing {
    let frame: MapFrame
    let paths: TrackPaths
    /// The line, in pixels of the frame.
    let vertices: [TrackLine.Vertex]
    let summary: TrackSummary
    let start: Fix
    let end: Fix
    let layout: PageLayout

    private var scale: Double { layout.width / frame.width }
    private var height: Double { (frame.height * scale).rounded() }
    private var metersPerPixel: Double { frame.metersPerPixel / scale }
    private var gridStep: Double { RoundStep.step(atLeast: layout.gridDistance * metersPerPixel) }

    /// The track itself, for every drawing to refer to: the page holds its points only once.
    static func definitions(_ paths: TrackPaths) -> String {
        let shapes = paths.data.enumerated().filter { !$0.element.isEmpty }.map { index, data in
            "<path id=\"p\(index)\" vector-effect=\"non-scaling-stroke\" d=\"\(data)\"/>"
        }
        return "<svg class=\"definitions\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>\n"
            + shapes.joined(separator: "\n") + "\n</defs></svg>"
    }

    var svg: String {
        let size = "\(Markup.number(layout.width)) \(Markup.number(height))"
        var svg = Markup()
        svg.add("<svg class=\"\(layout) map\" viewBox=\"0 0 \(size)\" role=\"img\" aria-label=\"Map of the track\">")
        svg.add("<rect class=\"ground\" width=\"100%\" height=\"100%\"/>")
        var labels = LabelPlacement(width: layout.width, height: height)
        addGrid(to: &svg)
        addNorthAndScale(to: &svg, &labels)
        addTrack(to: &svg)
        labels.avoid(vertices, scale: scale)
        addMarks(to: &svg, &labels)
        svg.add("</svg>")
        return svg.text
    }

    private func addGrid(to svg: inout Markup) {
        let step = gridStep / metersPerPixel
        let (middleX, middleY) = (layout.width / 2, height / 2)
        var lines = ""
        for x in RoundStep.multiples(of: step, from: -middleX, to: middleX) {
            lines += "M\(Markup.number(middleX + x)) 0v\(Markup.number(height))"
        }
        for y in RoundStep.multiples(of: step, from: -middleY, to: middleY) {
            lines += "M0 \(Markup.number(middleY + y))h\(Markup.number(layout.width))"
        }
        svg.add("<path class=\"grid\" d=\"\(lines)\"/>")
        let baseline = Markup.number(height - 6)
        for x in RoundStep.multiples(of: step, from: 30 - middleX, to: middleX - step - 90) {
            let name = gridLabel(x / step, "E", "W")
            svg.add(
                "<text class=\"coordinate\" x=\"\(Markup.number(middleX + x + 4))\" y=\"\(baseline)\">\(name)</text>")
        }
        for y in RoundStep.multiples(of: step, from: 20 - middleY, to: middleY - 30) {
            let name = gridLabel(-y / step, "N", "S")
            svg.add("<text class=\"coordinate\" x=\"5\" y=\"\(Markup.number(middleY + y - 4))\">\(name)</text>")
        }
    }

    private func gridLabel(_ steps: Double, _ positive: String, _ negative: String) -> String {
        let meters = steps.rounded() * gridStep
        return meters == 0 ? "0" : "\(Self.length(abs(meters))) \(meters > 0 ? positive : negative)"
    }

    /// A round length, as `500 m`, `2 km` or `0.5 m`.
    private static func length(_ meters: Double) -> String {
        meters >= 1000 ? "\(Markup.number(meters / 1000)) km" : "\(Markup.number(meters)) m"
    }

    private func addNorthAndScale(to svg: inout Markup, _ labels: inout LabelPlacement) {
        let (x, y) = (layout.width - 22, 14.0)
        svg.add(
            "<g class=\"north\"><path d=\"M\(Markup.number(x)) \(Markup.number(y))l6 17-6-4-6 4z\"/>"
                + "<text x=\"\(Markup.number(x))\" y=\"\(Markup.number(y + 30))\" text-anchor=\"middle\">N</text></g>")
        labels.reserve(
            PlaneBounds(low: PlanePoint(x: x - 12, y: 0), high: PlanePoint(x: layout.width, y: y + 36)))
        let length = gridStep / metersPerPixel
        let (right, bottom) = (layout.width - 16, height - 14)
        svg.add(
            "<g class=\"scale\"><path d=\"M\(Markup.number(right - length)) \(Markup.number(bottom - 5))v5"
                + "h\(Markup.number(length))v-5\"/><text x=\"\(Markup.number(right - length / 2))\" "
                + "y=\"\(Markup.number(bottom - 5))\" text-anchor=\"middle\">\(Self.length(gridStep))</text></g>")
        labels.reserve(
            PlaneBounds(
                low: PlanePoint(x: right - length - 6, y: bottom - 22), high: PlanePoint(x: layout.width, y: height)))
        labels.reserve(PlaneBounds(low: PlanePoint(x: 0, y: height - 20), high: PlanePoint(x: layout.width, y: height)))
    }

    private func addTrack(to svg: inout Markup) {
        let transform = "scale(\(FigureText.decimal(scale / 10, 5)))"
        let used = paths.data.indices.filter { !paths.data[$0].isEmpty }
        svg.add(
            "<g transform=\"\(transform)\" class=\"casing\">" + used.map { "<use href=\"#p\($0)\"/>" }.joined() + "</g>"
        )
        svg.add(
            "<g transform=\"\(transform)\" class=\"track\">"
                + used.map { "<use href=\"#p\($0)\" class=\"k\($0)\"/>" }.joined() + "</g>")
    }

    private func addMarks(to svg: inout Markup, _ labels: inout LabelPlacement) {
        MapMarks(
            summary: summary, start: start, end: end, layout: layout,
            pixel: { latitude, longitude in frame.pixel(latitude: latitude, longitude: longitude) * scale }
        ).add(to: &svg, &labels)
    }
}

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

/// A line cut into strokes, each of one kind and thinned by shape; pieces too small to see become dots.
struct LineStrokes {
    /// How far the strokes may lie beside the line; what is smaller than this is a dot.
    let tolerance: Double
    /// A stroke of another kind begins no nearer to the last one's beginning than this, along the line.
    let spacing: Double

    private struct Cell: Hashable {
        let x: Double
        let y: Double
    }

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
        var dots: Set<Cell> = []
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
            (start, length) = (index, 0)
        }
    }

    private func isDot(_ piece: ArraySlice<TrackLine.Vertex>) -> Bool {
        guard let first = piece.first else { return true }
        return piece.allSatisfy { ($0.point - first.point).length <= tolerance }
    }

    private func cell(of point: PlanePoint) -> Cell {
        let side = max(tolerance, 1e-9)
        return Cell(x: (point.x / side).rounded(.down), y: (point.y / side).rounded(.down))
    }
}
