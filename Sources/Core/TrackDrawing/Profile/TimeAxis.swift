import TimeAndChance

/// Time from left to right: runs at one scale, the pauses between them as long as they were, or cut where they would
/// take the room.
struct TimeAxis: Sendable {
    struct Stretch: Sendable {
        let from: UTCTime
        let to: UTCTime
        let x: Double
    }

    /// What lies between two runs.
    struct Pause: Sendable {
        /// From the run before to the next; negative where the time goes back.
        let duration: Duration
        let x: Double
        let width: Double
        /// Whether it is drawn shorter than it was.
        let isCut: Bool
    }

    struct Tick: Sendable, Hashable {
        let x: Double
        let text: String
        /// Where another day begins.
        var date: String?
    }

    private(set) var stretches: [Stretch] = []
    private(set) var pauses: [Pause] = []
    let end: Double
    /// How long a pixel is.
    private let secondsPerPixel: Double

    /// A cut pause is at least that many pixels wide, if there are few.
    private static let cutWidth = 14.0

    /// - Parameters:
    ///   - runs: times without a break, in the order in which they came; at least one.
    ///   - start: where the axis begins, in pixels.
    ///   - width: how long it is, in pixels.
    init(_ runs: [(from: UTCTime, to: UTCTime)], x start: Double, width: Double) {
        let durations = zip(runs, runs.dropFirst()).map { $0.to.duration(to: $1.from) }
        let seen = max(1, runs.reduce(0) { $0 + Self.seconds($1.from.duration(to: $1.to)) })
        let hidden = durations.reduce(0) { $0 + max(0, Self.seconds($1)) }
        let longest = hidden > seen ? seen / Double(2 * durations.count) : .infinity
        let isCut = durations.map { $0 <= .zero || Self.seconds($0) > longest }
        let least = min(Self.cutWidth, width / Double(4 * max(1, durations.count)))
        let shown = durations.map { min(longest, max(0, Self.seconds($0))) }
        let room = width - least * Double(isCut.count { $0 })
        let perSecond = room / (seen + shown.reduce(0, +))
        var x = start
        for (index, run) in runs.enumerated() {
            stretches.append(Stretch(from: run.from, to: run.to, x: x))
            x += Self.seconds(run.from.duration(to: run.to)) * perSecond
            guard index < durations.count else { break }
            let pause = shown[index] * perSecond + (isCut[index] ? least : 0)
            pauses.append(Pause(duration: durations[index], x: x, width: pause, isCut: isCut[index]))
            x += pause
        }
        end = start + width
        secondsPerPixel = 1 / perSecond
    }

    /// Where a time of a run lies.
    func x(of time: UTCTime, in stretch: Stretch) -> Double {
        stretch.x + Self.seconds(stretch.from.duration(to: time)) / secondsPerPixel
    }

    /// The run that holds a time, from one of them on; the first one, where the time comes again.
    func index(holding time: UTCTime, from start: Int = 0) -> Int? {
        stretches[start...].firstIndex { $0.from <= time && time <= $0.to }
    }

    /// Round times, at least `distance` pixels apart.
    func ticks(distance: Double) -> [Tick] {
        let step = RoundStep.seconds(atLeast: distance * secondsPerPixel)
        var ticks: [Tick] = []
        var shownDate = ""
        var dateEnd = -Double.infinity
        for stretch in continuous {
            var time = Self.firstMultiple(of: step, from: stretch.from)
            while time <= stretch.to {
                let place = x(of: time, in: stretch)
                if ticks.last.map({ place - $0.x >= distance * 0.6 }) ?? true {
                    let date = FigureText.date(time)
                    let isOfDays = step >= 86_400
                    var tick = Tick(x: place, text: isOfDays ? date : FigureText.clock(time, seconds: step < 60))
                    if !isOfDays, date != shownDate, place >= dateEnd {
                        tick.date = date
                        shownDate = date
                        dateEnd = place + distance
                    }
                    ticks.append(tick)
                }
                time = UTCTime(millisecondsSince1970: time.millisecondsSince1970 + step * 1000)
            }
        }
        if ticks.isEmpty, let first = stretches.first {
            ticks = [Tick(x: first.x, text: FigureText.clock(first.from), date: FigureText.date(first.from))]
        }
        return ticks
    }

    /// Runs together with those that follow after pauses at full length.
    private var continuous: [Stretch] {
        var joined: [Stretch] = []
        for (index, stretch) in stretches.enumerated() {
            if index > 0, !pauses[index - 1].isCut, let before = joined.popLast() {
                joined.append(Stretch(from: before.from, to: stretch.to, x: before.x))
            } else {
                joined.append(stretch)
            }
        }
        return joined
    }

    private static func firstMultiple(of step: Int64, from time: UTCTime) -> UTCTime {
        let length = step * 1000
        let rest = time.millisecondsSince1970 % length
        let past = rest < 0 ? rest + length : rest
        return UTCTime(millisecondsSince1970: time.millisecondsSince1970 + (past == 0 ? 0 : length - past))
    }

    private static func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }
}

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
