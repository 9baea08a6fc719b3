import TimeAndRandomness

/// A time axis from left to right. It consists of runs, which are periods without a break in the track, and the pauses
/// between them. All runs have the same scale. Long pauses are shortened if the pauses would take up more room than the
/// runs.
struct TimeAxis: Sendable {
    struct Run: Sendable {
        let from: UTCTime
        let to: UTCTime
        /// The x coordinate of the run's start, in pixels.
        let x: Double
    }

    /// The part of the axis between two runs.
    struct Pause: Sendable {
        /// The time from the end of one run to the start of the next; negative if the next run starts earlier.
        let duration: Duration
        let x: Double
        let width: Double
    }

    struct Tick: Sendable, Hashable {
        let x: Double
        let text: String
        /// The date; `nil` except on the first tick of a day.
        var date: String?
    }

    private(set) var runs: [Run] = []
    private(set) var pauses: [Pause] = []
    let end: Double
    private let secondsPerPixel: Double

    /// - Parameters:
    ///   - times: the first and the last time of each run; at least one run.
    ///   - start: the pixel where the axis starts.
    ///   - width: the length of the axis in pixels.
    init(_ times: [(from: UTCTime, to: UTCTime)], x start: Double, width: Double) {
        func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }
        let durations = zip(times, times.dropFirst()).map { $0.to.duration(to: $1.from) }
        let driven = max(1, times.reduce(0) { $0 + seconds($1.from.duration(to: $1.to)) })
        let paused = durations.reduce(0) { $0 + max(0, seconds($1)) }
        let longest = paused > driven ? driven / Double(2 * durations.count) : .infinity
        let shortest = driven / Double(max(100, 4 * durations.count))
        let shown = durations.map { max(shortest, min(longest, seconds($0))) }
        secondsPerPixel = (driven + shown.reduce(0, +)) / width
        end = start + width
        var x = start
        for (index, run) in times.enumerated() {
            runs.append(Run(from: run.from, to: run.to, x: x))
            x += seconds(run.from.duration(to: run.to)) / secondsPerPixel
            guard index < durations.count else { break }
            let width = shown[index] / secondsPerPixel
            pauses.append(Pause(duration: durations[index], x: x, width: width))
            x += width
        }
    }

    /// Returns the x coordinate, in pixels, of a time within a run.
    func x(of time: UTCTime, in run: Run) -> Double {
        run.x + run.from.duration(to: time) / .seconds(1) / secondsPerPixel
    }

    /// Returns the x coordinate, in pixels, of a time in the first run that contains it; `nil` if no run does.
    func x(of time: UTCTime) -> Double? {
        runs.first { $0.from <= time && time <= $0.to }.map { x(of: time, in: $0) }
    }

    /// Returns ticks at round times that are roughly `distance` pixels apart, or more.
    func ticks(distance: Double) -> [Tick] {
        let step = RoundStep.timeStep(atLeast: distance * secondsPerPixel) * 1000
        let hasDays = step >= 86_400_000
        var ticks: [Tick] = []
        var shownDate = ""
        var dateEnd = -Double.infinity
        for run in runs {
            let (quotient, rest) = run.from.millisecondsSince1970.quotientAndRemainder(dividingBy: step)
            var time = UTCTime(millisecondsSince1970: (rest > 0 ? quotient + 1 : quotient) * step)
            while time <= run.to {
                let place = x(of: time, in: run)
                if ticks.last.map({ place - $0.x >= distance * 0.6 }) ?? true {
                    let date = FigureText.date(time)
                    var tick = Tick(x: place, text: hasDays ? date : FigureText.timeOfDay(time, seconds: step < 60_000))
                    if !hasDays, date != shownDate, place >= dateEnd {
                        tick.date = date
                        shownDate = date
                        dateEnd = place + distance
                    }
                    ticks.append(tick)
                }
                time = UTCTime(millisecondsSince1970: time.millisecondsSince1970 + step)
            }
        }
        if ticks.isEmpty, let first = runs.first {
            ticks = [Tick(x: first.x, text: FigureText.timeOfDay(first.from), date: FigureText.date(first.from))]
        }
        return ticks
    }
}

/// Functions that find round numbers for grids and axes.
enum RoundStep {
    /// Returns the smallest number that is at least `minimum` and is 1, 2 or 5 times a power of ten. `minimum` must be
    /// positive.
    static func step(atLeast minimum: Double) -> Double {
        var power = 1.0
        while power * 10 <= minimum { power *= 10 }
        while power > minimum { power /= 10 }
        return [1, 2, 5].map { $0 * power }.first { $0 >= minimum } ?? power * 10
    }

    /// Returns the smallest usual time step that is at least `minimum` seconds, such as 15 seconds or an hour. The
    /// result is in seconds.
    static func timeStep(atLeast minimum: Double) -> Int64 {
        let usual: [Int64] = [
            1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800,
        ]
        if let step = usual.first(where: { Double($0) >= minimum }) { return step }
        return 86_400 * Int64(min(1e9, step(atLeast: minimum / 86_400)))
    }

    /// Returns the multiples of `step` from `low` to `high`; empty if there are more than a thousand.
    static func multiples(of step: Double, from low: Double, to high: Double) -> [Double] {
        let first = (low / step).rounded(.up)
        let last = (high / step).rounded(.down)
        guard first <= last, last - first < 1000 else { return [] }
        return (0...Int(last - first)).map { (first + Double($0)) * step }
    }
}
