import GNSS
import TimeAndChance

/// Speed and altitude over time, as SVG; what no fix states stays empty.
struct ProfileDrawing {
    let profile: TrackProfile
    let stops: [TrackStop]
    let shortStops: [TrackStop]
    let samples: [TrackSample]
    let layout: PageLayout

    private static let left = 44.0
    private static let right = 14.0
    private static let topRoom = 26.0
    private static let axisRoom = 38.0

    private var isNarrow: Bool { layout == .narrow }

    /// The panels that have something to show, from the top.
    private var panels: [ProfilePanel] {
        let speed = ProfilePanel(
            "Speed, km/h", of: profile.runs, top: Self.topRoom, height: isNarrow ? 110 : 130, least: 4,
            startsAtZero: true
        ) { slot in
            slot.speed.map { TrackProfile.Extent(low: $0.low * 3.6, high: $0.high * 3.6) }
        }
        let altitude = ProfilePanel(
            "Altitude above sea level, m", of: profile.runs,
            top: (speed.map { $0.top + $0.height } ?? 0) + (speed == nil ? 0 : 10) + Self.topRoom,
            height: isNarrow ? 76 : 80, least: 10, startsAtZero: false, value: \.altitude)
        return [speed, altitude].compactMap { $0 }
    }

    /// `nil` when no fix states speed or altitude, or there is only one fix.
    var svg: Markup? {
        let panels = panels
        guard let last = panels.last, profile.runs.contains(where: { $0.from < $0.to }) else { return nil }
        let axis = Self.axis(of: profile, layout)
        let bottom = last.top + last.height
        let places = samples.map { Markup.number(axis.x(of: $0.time, in: axis.stretches[$0.run])) }
        var svg: Markup = ""
        svg.add(
            """
            <svg class="\(layout.rawValue) profile" viewBox="0 0 \(layout.width) \(bottom + Self.axisRoom)" role="img" \
            aria-label="Speed and altitude over time" data-x="[\(places.joined(separator: ","))]">
            """)
        for panel in panels {
            addPauses(of: axis, in: panel, to: &svg)
            addStops(on: axis, in: panel, to: &svg)
            svg.add(panel.axis(from: Self.left, to: axis.end))
            addCurve(in: panel, on: axis, to: &svg)
        }
        addTimes(of: axis, bottom: bottom, to: &svg)
        svg.add("<path class=\"pointer\" d=\"M0 \(Self.topRoom)V\(bottom)\"/>\n</svg>")
        return svg
    }

    static func axis(of profile: TrackProfile, _ layout: PageLayout) -> TimeAxis {
        TimeAxis(profile.runs.map { ($0.from, $0.to) }, x: left, width: layout.width - left - right)
    }

    private func addCurve(in panel: ProfilePanel, on axis: TimeAxis, to svg: inout Markup) {
        var curve = ProfilePanel.Curve()
        for (run, stretch) in zip(profile.runs, axis.stretches) {
            panel.add(run, slotMilliseconds: profile.slotMilliseconds, to: &curve) { axis.x(of: $0, in: stretch) }
        }
        for (name, data) in [("area", curve.area), ("band", curve.band), ("curve", curve.line)] where data != "" {
            svg.add("<path class=\"\(name)\" d=\"\(data)\"/>")
        }
    }

    private func addPauses(of axis: TimeAxis, in panel: ProfilePanel, to svg: inout Markup) {
        for pause in axis.pauses where pause.width >= 0.5 {
            let isBack = pause.duration <= .zero
            let text = FigureText.duration(isBack ? .zero - pause.duration : pause.duration)
            let middle = pause.x + pause.width / 2
            var inside: Markup = ""
            if Double(text.count) * layout.characterWidth + 6 < pause.width {
                inside = "<text x=\"\(middle)\" y=\"\(panel.top + panel.height / 2 + 4)\">\(text)</text>"
            } else if pause.isCut, pause.width > 6 {
                inside = "<path d=\"M\(middle) \(panel.top)m-2 0v\(panel.height)m4 0V\(panel.top)\"/>"
            }
            addBand(
                "pause", "\(isBack ? "time goes back by" : "no fix for") \(text)", x: pause.x, width: pause.width,
                panel,
                inside, to: &svg)
        }
    }

    private func addStops(on axis: TimeAxis, in panel: ProfilePanel, to svg: inout Markup) {
        for stop in shortStops {
            for (x, width) in Self.extents(of: stop, on: axis) {
                let title = "Short stop, \(FigureText.duration(stop.duration))"
                addBand("standing", title, x: x, width: width, panel, "", to: &svg)
            }
        }
        for (number, stop) in zip(1..., stops) {
            let extents = Self.extents(of: stop, on: axis)
            let widest = extents.map(\.width).max() ?? 0
            let title = "Stop \(number), \(FigureText.duration(stop.duration))"
            let hasRoom = Double(String(number).count) * layout.characterWidth + 4 < widest
            var hasNumber = !hasRoom || panel.top != Self.topRoom
            for (x, width) in extents {
                var text: Markup = ""
                if !hasNumber, width == widest {
                    text = "<text x=\"\(x + width / 2)\" y=\"\(panel.top + 13)\">\(number)</text>"
                    hasNumber = true
                }
                addBand("standing", title, x: x, width: width, panel, text, to: &svg)
            }
        }
    }

    /// Where on the axis a stop lies, run by run: a pause within it is one without a fix, and shown as such. What is
    /// too short to be seen is left out.
    private static func extents(of stop: TrackStop, on axis: TimeAxis) -> [(x: Double, width: Double)] {
        guard let first = axis.index(holding: stop.from), let last = axis.index(holding: stop.to, from: first) else {
            return []
        }
        return axis.stretches[first...last].compactMap { stretch in
            let x = axis.x(of: max(stop.from, stretch.from), in: stretch)
            let width = axis.x(of: min(stop.to, stretch.to), in: stretch) - x
            return width >= 0.5 ? (x, width) : nil
        }
    }

    private func addBand(
        _ kind: String, _ title: String, x: Double, width: Double, _ panel: ProfilePanel, _ inside: Markup,
        to svg: inout Markup
    ) {
        svg.add(
            """
            <g class="\(kind)"><title>\(title)</title>\
            <rect x="\(x)" y="\(panel.top)" width="\(width)" height="\(panel.height)"/>\(inside)</g>
            """)
    }

    private func addTimes(of axis: TimeAxis, bottom: Double, to svg: inout Markup) {
        var marks: Markup = ""
        var texts: Markup = ""
        for tick in axis.ticks(distance: layout.timeDistance) {
            marks += "M\(tick.x) \(bottom)v5"
            let place = min(axis.end - Double(tick.text.count) * layout.characterWidth / 2 + Self.right, tick.x)
            texts += "<text class=\"time\" x=\"\(place)\" y=\"\(bottom + 18)\">\(tick.text)</text>"
            if let date = tick.date {
                let half = Double(date.count) * layout.characterWidth / 2
                let place = min(layout.width - half - 2, max(half + 2, tick.x))
                texts += "<text class=\"time date\" x=\"\(place)\" y=\"\(bottom + 33)\">\(date)</text>"
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
        let extents = runs.flatMap { $0.slots.compactMap(value) }
        guard var low = extents.map(\.low).min(), var high = extents.map(\.high).max() else { return nil }
        if startsAtZero {
            low = min(0, low)
            high = max(0, high)
        }
        let missing = max(0, least - (high - low))
        if !startsAtZero { low -= missing / 2 }
        high += startsAtZero ? missing : missing / 2
        step = RoundStep.step(atLeast: (high - low) / (height / 34))
        self.low = (low / step).rounded(.down) * step
        self.high = (high / step).rounded(.up) * step
        self.title = title
        self.top = top
        self.height = height
        self.value = value
    }

    private func y(_ number: Double) -> Double { top + height * (high - number) / (high - low) }

    /// Lines and numbers at round values, between two edges.
    func axis(from left: Double, to right: Double) -> Markup {
        var lines: Markup = ""
        var texts: Markup = ""
        for number in RoundStep.multiples(of: step, from: low, to: high) {
            lines += "M\(left) \(y(number))H\(right)"
            texts += "<text class=\"number\" x=\"\(left - 6)\" y=\"\(y(number) + 4)\">\(number)</text>"
        }
        return """
            <path class="grid" d="\(lines)"/>\(texts)<text class="title" x="\(left)" y="\(top - 8)">\(title)</text>
            """
    }

    /// The curves of a profile as path data.
    struct Curve: Sendable {
        /// Everything below.
        var area: Markup = ""
        /// Where a column of pixels has one value.
        var line: Markup = ""
        /// From low to high where it has several.
        var band: Markup = ""
    }

    /// Adds the curve of one run; where no slot holds anything for longer than the usual interval it is interrupted.
    func add(_ run: TrackProfile.Run, slotMilliseconds: Int64, to curve: inout Curve, x: (UTCTime) -> Double) {
        var columns: [(x: Double, extent: TrackProfile.Extent)] = []
        func finish() {
            guard let first = columns.first, let last = columns.last else { return }
            var highs: Markup = "\(first.x) \(y(first.extent.high))"
            for column in columns.dropFirst() { highs += "L\(column.x) \(y(column.extent.high))" }
            curve.area += "M\(first.x) \(y(low))L\(highs)L\(last.x) \(y(low))z"
            if columns.contains(where: { y($0.extent.low) - y($0.extent.high) > 0.5 }) {
                curve.band += "M\(highs)"
                for column in columns.reversed() { curve.band += "L\(column.x) \(y(column.extent.low))" }
                curve.band += "z"
            } else {
                curve.line += columns.count == 1 ? "M\(highs)h0" : "M\(highs)"
            }
            columns.removeAll()
        }
        var previous: Int64?
        for slot in run.slots {
            guard let extent = value(slot) else { continue }
            // Some receivers state speed and altitude in epochs of their own.
            let pause = (slot.number - (previous ?? slot.number) - 1) * slotMilliseconds
            if Duration.milliseconds(pause) > TrackContinuity.maximumInterval { finish() }
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
