/// Speeds in classes with round bounds, a colour each.
struct SpeedScale: Sendable, Hashable {
    /// Width of a class in km/h.
    let step: Double
    /// How many there are; the last one has no upper bound.
    let count: Int

    /// As many colours as the page has.
    static let palette = 7
    /// Below this, in km/h, a scale would show the noise of a parked receiver.
    private static let leastTop = 5.0
    private static let steps: [Double] = [1, 2, 3, 5, 10, 15, 20, 25, 30, 50, 75, 100, 150]

    /// A scale for speeds up to about `top`, in metres per second.
    init(top: Double) {
        let kilometers = max(Self.leastTop, top * 3.6)
        step = Self.steps.first { kilometers / $0 <= Double(Self.palette) } ?? 200
        // The last class begins well below the top: a speed limit that is just exceeded needs no colour of its own.
        count = min(Self.palette, max(1, Int((kilometers / step - 0.2).rounded(.up))))
    }

    /// The class of a speed in metres per second, counted from the slowest.
    func index(of speed: Double) -> Int { min(count - 1, max(0, Int(min(1000, speed * 3.6 / step)))) }

    /// Whether a speed in metres per second lies in a class or an eighth of its width beside it: a speed that is kept
    /// at a bound shall not make the line flicker.
    func isAbout(_ speed: Double, inClass index: Int) -> Bool {
        let place = speed * 3.6 / step - Double(index)
        return place >= -0.125 && (place < 1.125 || index == count - 1)
    }

    /// The place of a class's colour in the palette: few classes are far apart.
    func color(of index: Int) -> Int { index * (Self.palette - 1) / max(1, count - 1) }

    /// As `15–30` or `≥ 90`, in km/h.
    func label(of index: Int) -> String {
        let low = Int(Double(index) * step)
        return index == count - 1 ? "≥ \(low)" : "\(low)–\(Int(Double(index + 1) * step))"
    }
}

/// How often which speed was stated, in steps of 1 km/h.
struct SpeedHistogram: Sendable {
    private var counts = [Int](repeating: 0, count: 1001)
    private(set) var total = 0

    /// Adds a speed in metres per second.
    mutating func add(_ speed: Double) {
        counts[min(counts.count - 1, max(0, Int(min(1000, speed * 3.6))))] += 1
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
}
