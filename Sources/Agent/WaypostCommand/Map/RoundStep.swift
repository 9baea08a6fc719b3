/// Round numbers for grids and axes.
enum RoundStep {
    /// The smallest of 1, 2 and 5 times a power of ten that is at least `minimum`, which is positive.
    static func step(atLeast minimum: Double) -> Double {
        var power = 1.0
        while power * 10 <= minimum { power *= 10 }
        while power > minimum { power /= 10 }
        return [1, 2, 5].map { $0 * power }.first { $0 >= minimum } ?? power * 10
    }

    /// The smallest usual division of time that is at least `minimum` seconds.
    static func seconds(atLeast minimum: Double) -> Int64 {
        let usual: [Int64] = [
            1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800,
        ]
        if let step = usual.first(where: { Double($0) >= minimum }) { return step }
        return 86_400 * Int64(min(1e9, step(atLeast: minimum / 86_400)))
    }

    /// The multiples of `step` in a range, at most a thousand.
    static func multiples(of step: Double, from low: Double, to high: Double) -> [Double] {
        let first = (low / step).rounded(.up)
        let last = (high / step).rounded(.down)
        guard first <= last, last - first < 1000 else { return [] }
        return (0...Int(last - first)).map { (first + Double($0)) * step }
    }
}
