import GNSS
import TimeAndChance

/// The figures of a track, stops included.
struct TrackSummary: Sendable {
    private(set) var statistics = TrackStatistics()
    private(set) var stops = StopFinder()

    /// Adds the next fix; tells how it follows the one before.
    @discardableResult
    mutating func add(_ fix: Fix) -> TrackContinuity.Step {
        let step = statistics.add(fix)
        stops.add(fix, step)
        return step
    }
}

/// The figures of a track in words, the same ones wherever a track is described.
enum TrackFigures {
    /// `2026-03-31 10:30:00 to 10:34:59 UTC, 4 min 59 s`.
    static func time(from first: UTCTime, to last: UTCTime) -> String {
        let length = first.duration(to: last)
        let span = "\(FigureText.span(first, last)) UTC"
        return length > .zero ? "\(span), \(FigureText.duration(length))" : span
    }

    /// `80.6 km/h (22.4 m/s)`; `nil` when no fix states a speed.
    static func topSpeed(_ figures: TrackStatistics) -> String? {
        figures.topSpeedMetersPerSecond.map { "\(FigureText.speed($0)) (\(FigureText.decimal($0, 1)) m/s)" }
    }

    /// `4.0 m on average, 8.5 m at worst`; `nil` when no fix has one.
    static func accuracy(_ figures: TrackStatistics) -> String? {
        guard let mean = figures.meanAccuracyMeters, let worst = figures.worstAccuracyMeters else { return nil }
        return "\(FigureText.accuracy(mean)) on average, \(FigureText.accuracy(worst)) at worst"
    }

    /// `2 stops, together 4 min`.
    static func stops(count: Int, time: Duration) -> String {
        let together = count > 1 ? "together " : ""
        return "\(FigureText.grouped(count)), \(together)\(FigureText.duration(time))"
    }

    /// `2 gaps, together 6 min 14 s; 1 jump`; empty for a track that does not break.
    static func breaks(_ figures: TrackStatistics) -> String {
        var parts: [String] = []
        if figures.gapCount > 0 {
            let together = figures.gapCount > 1 ? ", together" : " of"
            parts.append(
                "\(FigureText.count(figures.gapCount, "gap"))\(together) \(FigureText.duration(figures.gapTime))")
        }
        if figures.jumpCount > 0 { parts.append(FigureText.count(figures.jumpCount, "jump")) }
        if figures.backwardSteps > 0 {
            parts.append("time goes back \(figures.backwardSteps == 1 ? "once" : "\(figures.backwardSteps) times")")
        }
        return parts.joined(separator: "; ")
    }

    /// `gap of 1 min 33 s`, `jump of 3.20 km`, `back by 52 min`.
    static func text(of place: TrackBreak) -> String {
        switch place.cause {
        case .gap: "gap of \(FigureText.duration(place.duration))"
        case .jump: "jump of \(FigureText.distance(place.meters))"
        case .backward where place.duration == .zero: "time stands still"
        case .backward: "back by \(FigureText.duration(.zero - place.duration))"
        }
    }
}
