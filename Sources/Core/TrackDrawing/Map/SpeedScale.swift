import GNSS

/// Speeds in classes with round bounds, a colour each, which divide the speeds that were driven.
struct SpeedScale: Sendable, Hashable {
    /// Between the classes, in km/h and growing; the last class has no upper bound.
    let bounds: [Double]
    /// The speed that was kept, in km/h, where there is one class.
    private let kept: Int?
    /// What all but wild speeds keep below, in km/h.
    private let top: Int

    /// For a page that is drawn anew each second: bounds that followed the speeds would recolour the track under the
    /// eyes of who looks. None of them is a usual limit, which is kept for long.
    static let fixed = SpeedScale(bounds: [10, 25, 40, 60, 85, 110], kept: nil, top: 0)

    /// As many colours as the page has.
    static let palette = 7
    private static let steps: [Double] = [1, 2, 5, 10, 20, 50]
    /// Speeds that differ by no more, in km/h or as a share of the usual one, are one speed with some noise.
    private static let noise = (kilometers: 2.5, share: 0.08)
    /// A class holds at least this share of the driven speeds.
    private static let leastShare = 0.04
    /// A speed that was kept comes so many times as often as any.
    private static let mostCrowded = 3.0
}

extension SpeedScale {
    /// Bounds at round numbers near those that cut the driven speeds into equal parts, and not in the middle of a speed
    /// that was kept: it would have two colours.
    init(dividing speeds: SpeedHistogram) {
        let low = speeds.driven(0.05)
        let middle = speeds.driven(0.5)
        let high = speeds.driven(0.95)
        let top = Int((speeds.usualTop * 3.6).rounded())
        guard high - low > max(Self.noise.kilometers, middle * Self.noise.share) else {
            self.init(bounds: [], kept: middle > Self.noise.kilometers ? Int(middle) : nil, top: top)
            return
        }
        let least = (high - low) / Double(2 * Self.palette)
        let step = Self.steps.first { $0 >= least } ?? 100
        self.init(bounds: Self.bounds(dividing: speeds, spread: high - low, step: step), kept: nil, top: top)
    }

    private static func bounds(dividing speeds: SpeedHistogram, spread: Double, step: Double) -> [Double] {
        func crowd(_ bound: Double) -> Double { speeds.driven(from: bound - 1, to: bound + 1) }
        // If all speeds were driven for the same time, so many would lie beside a bound.
        let usual = 2 / spread
        return (1..<palette).reduce(into: []) { bounds, part in
            let last = bounds.last ?? 0
            let near = (speeds.driven(Double(part) / Double(palette)) / step).rounded() * step
            let choices = [near, near - step, near + step].filter {
                $0 > last && speeds.driven(from: last, to: $0) >= leastShare
                    && speeds.driven(from: $0, to: .infinity) >= leastShare
            }
            guard let first = choices.first else { return }
            let bound = choices.first { crowd($0) * 2 < crowd(first) } ?? first
            if crowd(bound) < usual * mostCrowded { bounds.append(bound) }
        }
    }

    var count: Int { bounds.count + 1 }

    /// The class of a speed in metres per second, counted from the slowest.
    func index(of speed: Double) -> Int { bounds.firstIndex { speed * 3.6 < $0 } ?? bounds.count }

    /// Whether a speed in metres per second lies in a class or an eighth of its width beside it: a speed that is kept
    /// at a bound shall not make the line flicker.
    func isAbout(_ speed: Double, inClass index: Int) -> Bool {
        let low = index == 0 ? 0 : bounds[index - 1]
        guard index < bounds.count else { return speed * 3.6 >= low - (low - (bounds.dropLast().last ?? 0)) / 8 }
        let margin = (bounds[index] - low) / 8
        return speed * 3.6 >= low - margin && speed * 3.6 < bounds[index] + margin
    }

    /// The place of a class's colour in the palette: few classes are far apart, and one speed is neither slow nor fast.
    func color(of index: Int) -> Int {
        kept == nil ? index * (Self.palette - 1) / max(1, count - 1) : Self.palette / 2
    }

    /// As `15–30`, `≥ 90` or `about 80`, in km/h.
    func label(of index: Int) -> String {
        guard let last = bounds.last else { return kept.map { "about \($0)" } ?? "up to \(top)" }
        if index == bounds.count { return "≥ \(Int(last))" }
        return "\(index == 0 ? 0 : Int(bounds[index - 1]))–\(Int(bounds[index]))"
    }

    /// How many of the driven speeds lie in each class, in percent.
    func percentages(of speeds: SpeedHistogram) -> [Int] {
        let limits = [0] + bounds.map { Int($0) } + [Int.max]
        return SpeedHistogram.percentages(
            zip(limits, limits.dropFirst()).map { speeds.drivenCount(from: $0, to: $1) })
    }
}

/// How often which speed was stated, in steps of 1 km/h.
struct SpeedHistogram: Sendable {
    private var counts = [Int](repeating: 0, count: 1001)
    private(set) var total = 0

    /// What is slower stands or drifts, as long as something was faster.
    private static let slowestDriven = Int((Motion.creepingSpeed * 3.6).rounded(.down))

    /// Adds a speed in metres per second.
    mutating func add(_ speed: Double) {
        counts[Int(max(0, min(Double(counts.count - 1), speed * 3.6)))] += 1
        total += 1
    }

    /// The speed, in metres per second, that all but one of 500 keep below: one wild value does not make the scale.
    var usualTop: Double {
        var left = total - total / 500
        for (index, count) in counts.enumerated() {
            left -= count
            if left <= 0 { return Double(index + 1) / 3.6 }
        }
        return 0
    }

    /// How often which speed was driven, by km/h.
    private var driven: ArraySlice<Int> {
        let moving = counts[Self.slowestDriven...]
        return moving.contains { $0 > 0 } ? moving : counts[...]
    }

    /// The share of the driven speeds that lies from `low` to below `high`, both in km/h.
    func driven(from low: Double, to high: Double) -> Double {
        let all = driven
        let part = zip(all.indices, all).reduce(0) { $0 + (Double($1.0) >= low && Double($1.0) < high ? $1.1 : 0) }
        return Double(part) / Double(max(1, all.reduce(0, +)))
    }

    /// The speed, in km/h, that this share of the driven ones keeps below.
    func driven(_ share: Double) -> Double {
        let all = driven
        var left = share * Double(all.reduce(0, +))
        for (index, count) in zip(all.indices, all) where count > 0 {
            if left <= Double(count) { return Double(index) + left / Double(count) }
            left -= Double(count)
        }
        return 0
    }

    /// How many of the driven ones lie from `low` to below `high`, both in km/h.
    func drivenCount(from low: Int, to high: Int) -> Int {
        let all = driven
        return zip(all.indices, all).reduce(0) { $0 + ((low..<high).contains($1.0) ? $1.1 : 0) }
    }

    /// How many of all stood, in percent.
    var standingPercentage: Int {
        guard total > 0 else { return 0 }
        let standing = counts[..<Self.slowestDriven].reduce(0, +)
        return Self.percentages([standing, total - standing])[0]
    }

    /// Shares in whole percents that come to 100 together: what rounding down leaves goes to those that lost most.
    static func percentages(_ counts: [Int]) -> [Int] {
        let total = counts.reduce(0, +)
        guard total > 0 else { return counts.map { _ in 0 } }
        var shares = counts.map { $0 * 100 / total }
        let byLoss = counts.indices.sorted { one, other in
            let loss = counts[one] * 100 % total
            let otherLoss = counts[other] * 100 % total
            return loss == otherLoss ? one < other : loss > otherLoss
        }
        for index in byLoss.prefix(100 - shares.reduce(0, +)) { shares[index] += 1 }
        return shares
    }
}
