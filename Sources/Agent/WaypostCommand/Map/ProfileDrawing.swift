import GNSS

/// Speed and altitude over time, as SVG; what no fix tells of stays empty.
struct ProfileDrawing {
    let profile: TrackProfile
    let stops: [TrackStop]
    let layout: PageLayout

    private static let left = 44.0
    private static let right = 14.0
    private static let topRoom = 26.0
    private static let axisRoom = 38.0

    private var isNarrow: Bool { layout == .narrow }

    /// The panels that have something to show, from the top.
    private var panels: [ProfilePanel] {
        let speed = ProfilePanel(
            "Speed, km/h", of: profile.runs, top: Self.topRoom, height: isNarrow ? 120 : 160, least: 4,
            startsAtZero: true
        ) { slot in
            slot.speed.map { extent in
                var kilometers = TrackProfile.Extent(extent.low * 3.6)
                kilometers.include(TrackProfile.Extent(extent.high * 3.6))
                return kilometers
            }
        }
        let altitude = ProfilePanel(
            "Altitude above sea level, m", of: profile.runs,
            top: (speed.map { $0.top + $0.height } ?? 0) + (speed == nil ? 0 : 10) + Self.topRoom,
            height: isNarrow ? 80 : 96, least: 10, startsAtZero: false, value: \.altitude)
        return [speed, altitude].compactMap { $0 }
    }

    /// `nil` when no fix tells speed or altitude, or there is only one fix.
    var svg: String? {
        let panels = panels
        guard let last = panels.last, profile.runs.contains(where: { $0.from < $0.to }) else { return nil }
        let axis = TimeAxis(
            profile.runs.map { ($0.from, $0.to) }, x: Self.left, width: layout.width - Self.left - Self.right)
        let bottom = last.top + last.height
        var svg = Markup()
        svg.add(
            "<svg class=\"\(layout) profile\" viewBox=\"0 0 \(Markup.number(layout.width)) "
                + "\(Markup.number(bottom + Self.axisRoom))\" role=\"img\" aria-label=\"Speed and altitude over time\">"
        )
        for panel in panels {
            addPauses(of: axis, in: panel, to: &svg)
            addStops(on: axis, in: panel, to: &svg)
            svg.add(panel.axis(from: Self.left, to: axis.end))
            addCurve(in: panel, on: axis, to: &svg)
        }
        addTimes(of: axis, top: panels[0].top, bottom: bottom, to: &svg)
        svg.add("</svg>")
        return svg.text
    }

    private func addCurve(in panel: ProfilePanel, on axis: TimeAxis, to svg: inout Markup) {
        var curve = ProfilePanel.Curve()
        for (run, stretch) in zip(profile.runs, axis.stretches) {
            panel.add(run, slotMilliseconds: profile.slotMilliseconds, to: &curve) { axis.x(of: $0, in: stretch) }
        }
        for (name, data) in [("area", curve.area), ("band", curve.band), ("curve", curve.line)] where !data.isEmpty {
            svg.add("<path class=\"\(name)\" d=\"\(data)\"/>")
        }
    }

    private func addPauses(of axis: TimeAxis, in panel: ProfilePanel, to svg: inout Markup) {
        for pause in axis.pauses where pause.width >= 0.5 {
            let isBack = pause.duration <= .zero
            let text = FigureText.duration(isBack ? .zero - pause.duration : pause.duration)
            let middle = Markup.number(pause.x + pause.width / 2)
            svg.add(
                "<g class=\"pause\"><title>\(isBack ? "time goes back by" : "no fix for") \(text)</title>"
                    + box(x: pause.x, width: pause.width, panel))
            if Double(text.count) * layout.characterWidth + 6 < pause.width {
                svg.add("<text x=\"\(middle)\" y=\"\(Markup.number(panel.top + panel.height / 2 + 4))\">\(text)</text>")
            } else if pause.isCut, pause.width > 6 {
                svg.add(
                    "<path d=\"M\(middle) \(Markup.number(panel.top))m-2 0v\(Markup.number(panel.height))m4 0V\(Markup.number(panel.top))\"/>"
                )
            }
            svg.add("</g>")
        }
    }

    private func addStops(on axis: TimeAxis, in panel: ProfilePanel, to svg: inout Markup) {
        for (index, stop) in stops.enumerated() {
            guard let start = axis.stretch(holding: stop.from), let end = axis.stretch(holding: stop.to) else {
                continue
            }
            let x = axis.x(of: stop.from, in: start)
            let width = axis.x(of: stop.to, in: end) - x
            guard width >= 0.5 else { continue }
            svg.add(
                "<g class=\"standing\"><title>Stop \(index + 1), \(FigureText.duration(stop.duration))</title>"
                    + box(x: x, width: width, panel))
            let number = "\(index + 1)"
            if Double(number.count) * layout.characterWidth + 4 < width, panel.top == Self.topRoom {
                svg.add(
                    "<text x=\"\(Markup.number(x + width / 2))\" y=\"\(Markup.number(panel.top + 13))\">\(number)</text>"
                )
            }
            svg.add("</g>")
        }
    }

    private func box(x: Double, width: Double, _ panel: ProfilePanel) -> String {
        "<rect x=\"\(Markup.number(x))\" y=\"\(Markup.number(panel.top))\" width=\"\(Markup.number(width))\" "
            + "height=\"\(Markup.number(panel.height))\"/>"
    }

    private func addTimes(of axis: TimeAxis, top: Double, bottom: Double, to svg: inout Markup) {
        var marks = ""
        var texts = ""
        for tick in axis.ticks(distance: layout.timeDistance) {
            marks += "M\(Markup.number(tick.x)) \(Markup.number(bottom))v5"
            let place = min(axis.end - Double(tick.text.count) * layout.characterWidth / 2 + Self.right, tick.x)
            texts +=
                "<text class=\"time\" x=\"\(Markup.number(place))\" y=\"\(Markup.number(bottom + 18))\">\(tick.text)</text>"
            if let date = tick.date {
                let half = Double(date.count) * layout.characterWidth / 2
                let place = min(layout.width - half - 2, max(half + 2, tick.x))
                texts +=
                    "<text class=\"time date\" x=\"\(Markup.number(place))\" y=\"\(Markup.number(bottom + 33))\">\(date)</text>"
            }
        }
        svg.add("<path class=\"ticks\" d=\"\(marks)\"/>\(texts)")
    }
}
