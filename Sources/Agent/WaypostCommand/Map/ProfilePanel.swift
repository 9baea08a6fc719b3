import GNSS

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
