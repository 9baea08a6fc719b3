import GNSS
import TimeAndChance

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

/// One curve over time: lows and highs of what a column of pixels stands for.
struct ProfilePanel {
    let title: String
    let top: Double
    let height: Double
    /// Numbers at the lower and the upper edge.
    let low: Double
    let high: Double
    /// Between two lines.
    let step: Double
    /// What is drawn of a slot, in the panel's unit.
    let value: (TrackProfile.Slot) -> TrackProfile.Extent?

    /// A panel for what the slots of `runs` hold; `nil` when none of them holds it.
    ///
    /// `least` is the shortest range of numbers that is drawn over the full height; the lower edge is 0 where it
    /// `startsAtZero`.
    init?(
        _ title: String, of runs: [TrackProfile.Run], top: Double, height: Double, least: Double, startsAtZero: Bool,
        value: @escaping (TrackProfile.Slot) -> TrackProfile.Extent?
    ) {
        var extent: TrackProfile.Extent?
        for run in runs {
            for slot in run.slots {
                guard let found = value(slot) else { continue }
                if extent == nil { extent = found } else { extent?.include(found) }
            }
        }
        guard var extent else { return nil }
        if startsAtZero { extent.include(TrackProfile.Extent(0)) }
        let missing = least - (extent.high - extent.low)
        if missing > 0 {
            extent.include(TrackProfile.Extent(extent.high + (startsAtZero ? missing : missing / 2)))
            if !startsAtZero { extent.include(TrackProfile.Extent(extent.low - missing / 2)) }
        }
        step = RoundStep.step(atLeast: (extent.high - extent.low) / (height / 34))
        low = (extent.low / step).rounded(.down) * step
        high = (extent.high / step).rounded(.up) * step
        (self.title, self.top, self.height, self.value) = (title, top, height, value)
    }

    private func y(_ number: Double) -> Double { top + height * (high - number) / (high - low) }

    /// Lines and numbers at round values, between two edges.
    func axis(from left: Double, to right: Double) -> String {
        var lines = ""
        var texts = ""
        for number in RoundStep.multiples(of: step, from: low, to: high) {
            lines += "M\(Markup.number(left)) \(Markup.number(y(number)))H\(Markup.number(right))"
            texts +=
                "<text class=\"number\" x=\"\(Markup.number(left - 6))\" y=\"\(Markup.number(y(number) + 4))\">"
                + "\(Markup.number(number))</text>"
        }
        return "<path class=\"grid\" d=\"\(lines)\"/>\(texts)"
            + "<text class=\"title\" x=\"\(Markup.number(left))\" y=\"\(Markup.number(top - 8))\">\(title)</text>"
    }

    /// The curves of a profile as path data.
    struct Curve: Sendable, Hashable {
        /// Everything below.
        var area = ""
        /// Where a column of pixels has one value.
        var line = ""
        /// From low to high where it has several.
        var band = ""
    }

    /// Adds the curve of one run; where no slot holds anything for longer than the usual interval it is interrupted.
    func add(_ run: TrackProfile.Run, slotMilliseconds: Int64, to curve: inout Curve, x: (UTCTime) -> Double) {
        var columns: [(x: Double, extent: TrackProfile.Extent)] = []
        func finish() {
            guard let first = columns.first, let last = columns.last else { return }
            let highs = columns.map { "\(Markup.number($0.x)) \(Markup.number(y($0.extent.high)))" }
            let path = highs.joined(separator: "L")
            let base = Markup.number(y(low))
            curve.area += "M\(Markup.number(first.x)) \(base)L\(path)L\(Markup.number(last.x)) \(base)z"
            if columns.contains(where: { y($0.extent.low) - y($0.extent.high) > 0.5 }) {
                curve.band += "M\(path)"
                for column in columns.reversed() {
                    curve.band += "L\(Markup.number(column.x)) \(Markup.number(y(column.extent.low)))"
                }
                curve.band += "z"
            } else {
                curve.line += "M\(path)" + (columns.count == 1 ? "h0" : "")
            }
            columns.removeAll()
        }
        var previous: Int64?
        for slot in run.slots {
            guard let extent = value(slot) else { continue }
            // Some receivers state speed and altitude in epochs of their own.
            let pause = (slot.number - (previous ?? slot.number) - 1) * slotMilliseconds
            if Duration.milliseconds(pause) > TrackContinuity.longestInterval { finish() }
            previous = slot.number
            let time = UTCTime(millisecondsSince1970: slot.number * slotMilliseconds + slotMilliseconds / 2)
            let column = (x(min(run.to, max(run.from, time))) * 2).rounded() / 2
            if let last = columns.last, last.x == column {
                columns[columns.count - 1].extent.include(extent)
            } else {
                columns.append((column, extent))
            }
        }
        finish()
    }
}
