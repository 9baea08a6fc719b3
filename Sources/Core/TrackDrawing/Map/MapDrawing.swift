/// The track over a metric grid, as SVG.
struct MapDrawing {
    let map: TrackMap
    let view: MapView

    init(_ map: TrackMap, _ layout: PageLayout) {
        self.map = map
        view = map.view(layout)
    }

    private var width: Double { view.width }
    private var height: Double { view.height }
    private var metersPerPixel: Double { view.metersPerPixel }
    private var gridStep: Double { RoundStep.step(atLeast: view.layout.gridDistance * metersPerPixel) }

    var svg: Markup { sheet.svg }

    /// The drawing, with what a legend has to explain of it.
    var sheet: MapSheet {
        var sheet = MapSheet(view)
        sheet.svg.add(
            """
            <svg class="\(view.layout.rawValue) map" viewBox="0 0 \(width) \(height)" role="group" \
            aria-label="Map of the track" data-view="[\(FigureText.decimal(view.scale, 5)),\(view.offset.x),\(view.offset.y)]">
            <rect class="ground" width="100%" height="100%"/>
            """)
        addGrid(to: &sheet.svg)
        addNorthAndScale(to: &sheet.svg, &sheet.labels)
        addTrack(to: &sheet)
        sheet.labels.avoid(map.vertices, pixel: view.pixel)
        MapMarks(map: map, view: view).add(to: &sheet)
        sheet.svg.add("<circle class=\"pointer\" r=\"7\"/>\n</svg>")
        return sheet
    }

    private func addGrid(to svg: inout Markup) {
        let step = gridStep / metersPerPixel
        let middleX = width / 2
        let middleY = height / 2
        var lines: Markup = ""
        for x in RoundStep.multiples(of: step, from: -middleX, to: middleX) { lines += "M\(middleX + x) 0v\(height)" }
        for y in RoundStep.multiples(of: step, from: -middleY, to: middleY) { lines += "M0 \(middleY + y)h\(width)" }
        svg.add("<path class=\"grid\" d=\"\(lines)\"/>")
        for x in RoundStep.multiples(of: step, from: 30 - middleX, to: middleX - step - 90) {
            let name = gridLabel(x / step, "E", "W")
            svg.add("<text class=\"coordinate\" x=\"\(middleX + x + 4)\" y=\"\(height - 6)\">\(name)</text>")
        }
        for y in RoundStep.multiples(of: step, from: 20 - middleY, to: middleY - 30) {
            let name = gridLabel(-y / step, "N", "S")
            svg.add("<text class=\"coordinate\" x=\"5\" y=\"\(middleY + y - 4)\">\(name)</text>")
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

    /// Where the arrow stands: on the right, if the track leaves room there.
    private var northX: Double {
        let places = [width - 22, width / 2, width - 80, 70]
        let taken = map.vertices.map { view.pixel($0.point) }.filter { $0.y < 56 }
        return places.first { place in !taken.contains { abs($0.x - place) < 20 } } ?? places[0]
    }

    private func addNorthAndScale(to svg: inout Markup, _ labels: inout LabelPlacement) {
        let x = northX
        let y = 14.0
        svg.add(
            """
            <g class="north"><path d="M\(x) \(y)l6 17-6-4-6 4z"/><text x="\(x)" y="\(y + 30)" text-anchor="middle">N</text></g>
            """)
        let length = gridStep / metersPerPixel
        let right = width - 16
        let bottom = height - 14
        svg.add(
            """
            <g class="scale"><path d="M\(right - length) \(bottom - 5)v5h\(length)v-5"/><text x="\(right - length / 2)" \
            y="\(bottom - 5)" text-anchor="middle">\(Self.length(gridStep))</text></g>
            """)
        for (low, high) in [
            (PlanePoint(x: x - 12, y: 0), PlanePoint(x: x + 22, y: y + 36)),
            (PlanePoint(x: right - length - 6, y: bottom - 22), PlanePoint(x: width, y: height)),
            (PlanePoint(x: 0, y: height - 20), PlanePoint(x: width, y: height)),
        ] { labels.reserve(PlaneBounds(low: low, high: high)) }
    }

    private func addTrack(to sheet: inout MapSheet) {
        let transform: Markup =
            "translate(\(view.offset.x) \(view.offset.y)) scale(\(FigureText.decimal(view.scale / 10, 5)))"
        var casing: Markup = ""
        var track: Markup = ""
        for index in map.paths.data.indices where !map.paths.data[index].isEmpty {
            casing += "<use href=\"#p\(index)\"/>"
            track += "<use href=\"#p\(index)\" class=\"k\(index)\"/>"
        }
        sheet.svg.add("<g transform=\"\(transform)\" class=\"casing\">\(casing)</g>")
        sheet.svg.add("<g transform=\"\(transform)\" class=\"track\(map.isPlain ? " plain" : "")\">\(track)</g>")
        if map.isPlain {
            sheet.explain(.plainTrack)
        } else if map.paths.data.last?.isEmpty == false {
            sheet.explain(.unstatedSpeed)
        }
        for (name, key, data) in map.told.data where !data.isEmpty {
            sheet.svg.add("<g transform=\"\(transform)\" class=\"\(name)\"><use href=\"#\(name)\"/></g>")
            sheet.explain(key)
        }
        if !map.paths.late.isEmpty {
            sheet.svg.add("<g transform=\"\(transform)\" class=\"late\"><use href=\"#late\"/></g>")
            sheet.explain(.late)
        }
    }
}
