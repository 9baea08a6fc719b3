import TimeAndChance

/// When positions of one vehicle arrived, by the second, for the latest quarter of an hour.
struct ArrivalStrip: Sendable {
    /// What arrived during one bar of the strip.
    struct Bar: Sendable, Hashable {
        /// Last locations.
        var live = 0
        /// Past locations, which had to wait.
        var late = 0
    }

    private struct Second: Sendable {
        let number: Int64
        var updates = 0
        var bar = Bar()
    }

    /// Seconds in which something arrived, in order; at most as many as the longest window has.
    private var seconds: [Second] = []

    /// How many of them are kept.
    var secondCount: Int { seconds.count }

    /// Counts what one update brought. A clock that was set back counts for the latest second.
    mutating func add(_ bar: Bar, at now: UTCTime) {
        let number = now.millisecondsSince1970 / 1000
        if seconds.last.map({ $0.number < number }) ?? true {
            seconds.append(Second(number: number))
            if let kept = seconds.firstIndex(where: { $0.number > number - ArrivalWindow.longest }), kept > 0 {
                seconds.removeFirst(kept)
            }
        }
        let last = seconds.count - 1
        seconds[last].updates += 1
        seconds[last].bar.live += bar.live
        seconds[last].bar.late += bar.late
    }

    /// How many updates came in this second and the 59 before it.
    func updatesInLastMinute(now: UTCTime) -> Int {
        let number = now.millisecondsSince1970 / 1000
        return seconds.reduce(0) { $0 + ($1.number > number - 60 && $1.number <= number ? $1.updates : 0) }
    }

    /// A bar for each part of the window, from the oldest.
    func bars(in window: ArrivalWindow) -> [Bar] {
        var bars = [Bar](repeating: Bar(), count: ArrivalWindow.barCount)
        for second in seconds {
            guard let index = window.index(of: second.number) else { continue }
            bars[index].live += second.bar.live
            bars[index].late += second.bar.late
        }
        return bars
    }
}

/// The time that every strip of a page shows, up to now: two minutes at first, later more, at most a quarter of an
/// hour.
struct ArrivalWindow: Sendable, Hashable {
    static let barCount = 60
    /// Seconds of the longest window.
    static let longest = (barSeconds.last ?? 1) * Int64(barCount)

    private static let barSeconds: [Int64] = [2, 5, 15]

    /// How long a bar is.
    let barSeconds: Int64
    /// Where the strip ends, in seconds since 1970: the end of the bar that is being filled.
    let end: Int64

    init(startedAt: UTCTime, now: UTCTime) {
        let running = startedAt.duration(to: now) / .seconds(1)
        barSeconds = Self.barSeconds.first { running <= Double($0 * Int64(Self.barCount)) } ?? Self.longest / 60
        end = (now.millisecondsSince1970 / 1000 / barSeconds + 1) * barSeconds
    }

    /// Where the strip begins, in seconds since 1970.
    var start: Int64 { end - barSeconds * Int64(Self.barCount) }

    /// The bar that holds a second since 1970.
    func index(of second: Int64) -> Int? {
        (start..<end).contains(second) ? Int((second - start) / barSeconds) : nil
    }
}
