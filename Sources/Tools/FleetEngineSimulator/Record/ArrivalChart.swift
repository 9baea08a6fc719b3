import TimeAndRandomness

/// The data of a small bar chart on the page. It counts the positions that arrived from one vehicle in each second of
/// the last quarter of an hour.
struct ArrivalChart: Sendable {
    /// The number of positions that arrived in the period of one bar.
    struct Bar: Sendable, Hashable {
        /// The number of positions that arrived as last locations.
        var live = 0
        /// The number of positions that arrived as past locations.
        var late = 0
    }

    private struct Second: Sendable {
        let number: Int64
        var updates = 0
        var bar = Bar()
    }

    /// The seconds in which positions arrived, in order. Seconds older than the longest window are removed.
    private var seconds: [Second] = []

    /// The number of seconds that are kept in memory.
    var secondCount: Int { seconds.count }

    /// Counts the positions of one update. If the clock has been set back, the positions are added to the latest
    /// second.
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

    /// Returns the number of updates in this second and the previous 59.
    func updatesInLastMinute(now: UTCTime) -> Int {
        let number = now.millisecondsSince1970 / 1000
        return seconds.reduce(0) { $0 + ($1.number > number - 60 && $1.number <= number ? $1.updates : 0) }
    }

    /// Returns the bars of the window, the oldest first.
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

/// The period that all charts on the page show. It ends now, and grows from two minutes to a quarter of an hour while
/// the simulator runs.
struct ArrivalWindow: Sendable, Hashable {
    static let barCount = 60
    /// The length of the longest window, in seconds.
    static let longest = (barSeconds.last ?? 1) * Int64(barCount)

    private static let barSeconds: [Int64] = [2, 5, 15]

    /// The period that one bar covers, in seconds.
    let barSeconds: Int64
    /// The end of the window in seconds since 1970, which is the end of the current bar.
    let end: Int64

    init(startedAt: UTCTime, now: UTCTime) {
        let running = startedAt.duration(to: now) / .seconds(1)
        barSeconds = Self.barSeconds.first { running <= Double($0 * Int64(Self.barCount)) } ?? Self.longest / 60
        end = (now.millisecondsSince1970 / 1000 / barSeconds + 1) * barSeconds
    }

    /// The start of the window in seconds since 1970.
    var start: Int64 { end - barSeconds * Int64(Self.barCount) }

    /// Returns the index of the bar that covers a second since 1970; `nil` if the second isn't in the window.
    func index(of second: Int64) -> Int? {
        (start..<end).contains(second) ? Int((second - start) / barSeconds) : nil
    }
}
