import GNSS
import TimeAndRandomness

/// A chart of speed and altitude over time, as SVG. Times without a value are left blank.
struct ProfileDrawing {
    let profile: TrackProfile
    let stops: [TrackStop]
    let shortStops: [TrackStop]
    let size: DrawingSize

    private static let left = 44.0
    private static let right = 14.0
    private static let topRoom = 26.0
    private static let axisRoom = 38.0

    /// The time axis. The profile must contain at least one sample.
    var axis: TimeAxis {
        let times = profile.runs.map { run in
            (from: run.map(\.from).min() ?? run[run.startIndex].from, to: run.map(\.to).max() ?? run[run.startIndex].to)
        }
        return TimeAxis(times, x: Self.left, width: size.width - Self.left - Self.right)
    }

    /// The panels for speed and altitude, from top to bottom. A panel that would have no values is left out.
    private var panels: [ProfilePanel] {
        let isWide = size == .wide
        let speed = ProfilePanel(
            "Speed, km/h", of: profile, top: Self.topRoom, height: isWide ? 130 : 110, minimumRange: 4,
            startsAtZero: true
        ) { $0.speed.map { $0 * 3.6 } }
        let altitude = ProfilePanel(
            "Altitude above sea level, m", of: profile,
            top: (speed.map { $0.top + $0.height + 10 } ?? 0) + Self.topRoom, height: isWide ? 80 : 76,
            minimumRange: 10,
            startsAtZero: false, value: \.altitude)
        return [speed, altitude].compactMap { $0 }
    }

    /// Returns the drawing; `nil` if no fix has a speed or altitude, or if there is only one fix. `sampleOffsets`
    /// contains the x coordinates, in pixels, of the samples that the script can highlight.
    func svg(sampleOffsets: [Double]) -> Markup? {
        let panels = panels
        let axis = axis
        guard let last = panels.last, axis.runs.contains(where: { $0.from < $0.to }) else { return nil }
        let bottom = last.top + last.height
        let data = sampleOffsets.map(Markup.number).joined(separator: ",")
        var svg: Markup = ""
        svg.add(
            """
            <svg class="\(size.rawValue) profile" viewBox="0 0 \(size.width) \(bottom + Self.axisRoom)" role="img" \
            aria-label="Speed and altitude over time" data-x="[\(data)]">
            """)
        for panel in panels {
            svg += stopBands(on: axis, in: panel)
            svg += pauseBands(on: axis, in: panel)
            svg.add(panel.grid(from: Self.left, to: axis.end))
            svg += panel.curve(of: profile, on: axis)
        }
        svg += timeLabels(of: axis, bottom: bottom)
        svg.add("<path class=\"pointer\" d=\"M0 \(Self.topRoom)V\(bottom)\"/>\n</svg>")
        return svg
    }

    private func stopBands(on axis: TimeAxis, in panel: ProfilePanel) -> Markup {
        var bands: Markup = ""
        let numbered = zip(1..., stops).map { (name: "Stop \($0)", number: "\($0)", stop: $1) }
        for (name, number, stop) in shortStops.map({ (name: "Short stop", number: "", stop: $0) }) + numbered {
            guard let from = axis.x(of: stop.from), let to = axis.x(of: stop.to), to - from >= 0.5 else { continue }
            let hasNumber = panel.top == Self.topRoom && Double(number.count) * size.characterWidth + 4 < to - from
            bands += band(
                kind: "standing", title: "\(name), \(FigureText.duration(stop.duration))", x: from, width: to - from,
                in: panel, text: hasNumber ? number : "", y: panel.top + 13)
        }
        return bands
    }

    private func pauseBands(on axis: TimeAxis, in panel: ProfilePanel) -> Markup {
        var bands: Markup = ""
        for pause in axis.pauses {
            let isBack = pause.duration <= .zero
            let text = FigureText.duration(isBack ? .zero - pause.duration : pause.duration)
            let isShort = Double(text.count) * size.characterWidth + 6 >= pause.width
            bands += band(
                kind: "pause", title: "\(isBack ? "time goes back by" : "no fix for") \(text)", x: pause.x,
                width: pause.width, in: panel, text: isShort ? "" : text, y: panel.top + panel.height / 2 + 4)
        }
        return bands
    }

    private func band(
        kind: String, title: String, x: Double, width: Double, in panel: ProfilePanel, text: String, y: Double
    ) -> Markup {
        """
        <g class="\(kind)"><title>\(title)</title>\
        <rect x="\(x)" y="\(panel.top)" width="\(width)" height="\(panel.height)"/>\
        <text x="\(x + width / 2)" y="\(y)">\(text)</text></g>

        """
    }

    private func timeLabels(of axis: TimeAxis, bottom: Double) -> Markup {
        var marks: Markup = ""
        var texts: Markup = ""
        for tick in axis.ticks(distance: size.timeDistance) {
            marks += "M\(tick.x) \(bottom)v5"
            let half = Double(tick.text.count) * size.characterWidth / 2
            texts +=
                "<text class=\"time\" x=\"\(min(size.width - half, tick.x))\" y=\"\(bottom + 18)\">\(tick.text)</text>"
            if let date = tick.date {
                let half = Double(date.count) * size.characterWidth / 2
                let place = min(size.width - half - 2, max(half + 2, tick.x))
                texts += "<text class=\"time date\" x=\"\(place)\" y=\"\(bottom + 33)\">\(date)</text>"
            }
        }
        return "<path class=\"ticks\" d=\"\(marks)\"/>\(texts)\n"
    }
}

/// A panel that shows one curve over time. For each column of pixels, the curve shows the lowest and the highest value.
struct ProfilePanel {
    let title: String
    let top: Double
    let height: Double
    /// The values at the lower and the upper edge of the panel.
    let low: Double
    let high: Double
    /// The difference in value between two adjacent grid lines.
    let step: Double
    /// A function that returns the range of the values in a sample, in the panel's unit.
    let value: (TrackProfile.Sample) -> TrackProfile.Extent?

    /// Creates a panel for the values that `value` returns; `nil` if no sample contains such a value. The height of the
    /// panel covers a range of at least `minimumRange`. If `startsAtZero`, the lower edge is 0 unless there are
    /// negative values.
    init?(
        _ title: String, of profile: TrackProfile, top: Double, height: Double, minimumRange: Double,
        startsAtZero: Bool,
        value: @escaping (TrackProfile.Sample) -> TrackProfile.Extent?
    ) {
        let extents = profile.samples.compactMap(value)
        guard var low = extents.map(\.low).min(), var high = extents.map(\.high).max() else { return nil }
        if startsAtZero {
            low = min(0, low)
            high = max(0, high)
        }
        let missing = max(0, minimumRange - (high - low))
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

    private func y(of number: Double) -> Double { top + height * (high - number) / (high - low) }

    /// Returns grid lines at round values, with the values to the left of them.
    func grid(from left: Double, to right: Double) -> Markup {
        var lines: Markup = ""
        var texts: Markup = ""
        for number in RoundStep.multiples(of: step, from: low, to: high) {
            lines += "M\(left) \(y(of: number))H\(right)"
            texts += "<text class=\"number\" x=\"\(left - 6)\" y=\"\(y(of: number) + 4)\">\(number)</text>"
        }
        return """
            <path class="grid" d="\(lines)"/>\(texts)<text class="title" x="\(left)" y="\(top - 8)">\(title)</text>
            """
    }

    /// Returns the area below the highest values, and the band between the lowest and the highest values.
    func curve(of profile: TrackProfile, on axis: TimeAxis) -> Markup {
        var area: Markup = ""
        var band: Markup = ""
        for (run, place) in zip(profile.runs, axis.runs) {
            for columns in columns(of: run, x: { axis.x(of: $0, in: place) }) {
                guard let first = columns.first, let last = columns.last else { continue }
                var highs: Markup = "\(first.x) \(y(of: first.extent.high))"
                for column in columns.dropFirst() { highs += "L\(column.x) \(y(of: column.extent.high))" }
                area += "M\(first.x) \(y(of: low))L\(highs)L\(last.x) \(y(of: low))z"
                band += "M\(highs)"
                for column in columns.reversed() { band += "L\(column.x) \(y(of: column.extent.low))" }
                band += "z"
            }
        }
        return "<path class=\"area\" d=\"\(area)\"/><path class=\"band\" d=\"\(band)\"/>\n"
    }

    /// Returns the values of a run in columns of half a pixel, split into pieces. A new piece begins after a time
    /// without a value that is longer than a usual interval. Shorter times are bridged, because some receivers report
    /// speed and altitude in separate epochs.
    private func columns(
        of run: ArraySlice<TrackProfile.Sample>, x: (UTCTime) -> Double
    ) -> [[(x: Double, extent: TrackProfile.Extent)]] {
        var pieces: [[(x: Double, extent: TrackProfile.Extent)]] = []
        var previous: UTCTime?
        for sample in run {
            guard let extent = value(sample) else { continue }
            if previous.map({ $0.duration(to: sample.from) > TrackContinuity.maximumInterval }) ?? true {
                pieces.append([])
            }
            previous = sample.to
            let column = (x(sample.from) * 2).rounded() / 2
            let last = pieces.count - 1
            if let end = pieces[last].indices.last, pieces[last][end].x == column {
                pieces[last][end].extent.include(extent)
            } else {
                pieces[last].append((column, extent))
            }
        }
        return pieces
    }
}
