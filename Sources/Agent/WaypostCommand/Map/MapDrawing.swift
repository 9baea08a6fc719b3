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
