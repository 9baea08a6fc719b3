import GNSS

/// The speed classes, each with its own colour. The bounds are fixed, so that a colour means the same speed on every
/// map and a growing track keeps its colours. Common speed limits (30, 50, 80, 100, 130 km/h) are inside a class. If a
/// limit were a bound, the colour would flicker while a vehicle is driven at that limit.
enum SpeedScale {
    /// The bounds between the classes, in km/h. The last class has no upper bound.
    static let bounds: [Double] = [10, 25, 40, 60, 85, 110]
    static let classCount = bounds.count + 1

    /// Returns the index of the class that contains a speed in metres per second. The slowest class has the index 0.
    static func classIndex(of speed: Double) -> Int { bounds.firstIndex { speed * 3.6 < $0 } ?? bounds.count }

    /// Whether a speed in metres per second is in a class, or at most 2 km/h outside it. Such a speed doesn't change
    /// the colour of a line that has the colour of the class.
    static func isNearClass(_ index: Int, speed: Double) -> Bool {
        let low = index == 0 ? 0 : bounds[index - 1] - 2
        let high = index == bounds.count ? .infinity : bounds[index] + 2
        return speed * 3.6 >= low && speed * 3.6 < high
    }

    /// Returns the label of a class, such as `10–25` or `≥ 110`, in km/h.
    static func label(ofClass index: Int) -> String {
        guard index < bounds.count else { return "≥ \(Int(bounds[index - 1]))" }
        return "\(index == 0 ? 0 : Int(bounds[index - 1]))–\(Int(bounds[index]))"
    }
}

/// The number of fixes in each speed class. Fixes slower than `Motion.creepingSpeed` aren't counted.
struct SpeedShares: Sendable {
    private var counts = [Int](repeating: 0, count: SpeedScale.classCount)

    /// Adds a speed in metres per second.
    mutating func add(_ speed: Double) {
        if speed >= Motion.creepingSpeed { counts[SpeedScale.classIndex(of: speed)] += 1 }
    }

    /// The share of each class in percent; `nil` if the vehicle never moved.
    var percentages: [Int]? {
        let total = counts.reduce(0, +)
        guard total > 0 else { return nil }
        return counts.map { Int((Double($0) / Double(total) * 100).rounded()) }
    }
}
