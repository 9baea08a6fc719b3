package import GNSS
import ReportedText
package import TimeAndRandomness

/// Functions that format figures for people, with a sensible number of digits and a unit.
package enum FigureText {
    /// Returns a number with exactly `places` decimals, such as `4.0`.
    package static func decimal(_ value: Double, places: Int) -> String {
        let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
        guard let scaled = Int(exactly: (value * Double(scale)).rounded()) else { return "\(value)" }
        let sign = scaled < 0 ? "-" : ""
        guard places > 0 else { return "\(scaled)" }
        let fraction = String(scaled.magnitude % UInt(scale))
        return "\(sign)\(scaled.magnitude / UInt(scale))." + zeroPadded(fraction, to: places)
    }

    /// Returns a distance, such as `640 m`, `4.57 km`, `45.7 km` or `457 km`.
    package static func distance(_ meters: Double) -> String {
        switch meters {
        case ..<999.5: "\(decimal(meters, places: 0)) m"
        case ..<9995: "\(decimal(meters / 1000, places: 2)) km"
        case ..<99_950: "\(decimal(meters / 1000, places: 1)) km"
        default: "\(Int(exactly: (meters / 1000).rounded()).map(\.grouped) ?? "\(meters / 1000)") km"
        }
    }

    /// Returns a speed, such as `80.6 km/h`.
    package static func speed(_ metersPerSecond: Double) -> String {
        "\(decimal(metersPerSecond * 3.6, places: 1)) km/h"
    }

    /// Returns an accuracy, such as `0.03 m`, `4.5 m` or `457 m`.
    package static func accuracy(_ meters: Double) -> String {
        "\(decimal(meters, places: meters < 0.995 ? 2 : meters < 99.5 ? 1 : 0)) m"
    }

    /// Returns a size, such as `640 bytes`, `91.9 kB`, `4.6 MB` or `57.3 GB`.
    package static func bytes(_ count: Int) -> String {
        switch count {
        case ..<1000: count.counted("byte")
        case ..<999_950: "\(decimal(Double(count) / 1e3, places: 1)) kB"
        case ..<999_950_000: "\(decimal(Double(count) / 1e6, places: 1)) MB"
        default: "\(decimal(Double(count) / 1e9, places: 1)) GB"
        }
    }

    /// Returns a duration, such as `0.5 s`, `34 s`, `1 min 33 s`, `2 h 14 min` or `3 days 4 h`.
    package static func duration(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        if seconds < 0 { return "-\(self.duration(.zero - duration))" }
        if seconds < 0.95 { return "\(decimal(seconds, places: 1)) s" }
        guard let whole = Int(exactly: seconds.rounded()), whole < .max / 2 else { return "\(seconds) s" }
        let minutes = (whole + 30) / 60
        let hours = (whole + 1800) / 3600
        switch whole {
        case ..<60: return "\(whole) s"
        case ..<3600: return "\(whole / 60) min" + remainder(whole % 60, unit: "s")
        case ..<172_800: return "\(minutes / 60) h" + remainder(minutes % 60, unit: "min")
        default: return "\((hours / 24).grouped) days" + remainder(hours % 24, unit: "h")
        }
    }

    private static func remainder(_ number: Int, unit: String) -> String { number == 0 ? "" : " \(number) \(unit)" }

    /// Returns a date, such as `2026-03-31`.
    package static func date(_ time: UTCTime) -> String { String(time.description.prefix { $0 != "T" }) }

    /// Returns a time of day, such as `10:31:39`, or `10:31` without seconds.
    package static func timeOfDay(_ time: UTCTime, seconds: Bool = true) -> String {
        let second = time.millisecondOfDay / 1000
        let minutes = "\(zeroPadded(String(second / 3600), to: 2)):\(zeroPadded(String(second / 60 % 60), to: 2))"
        return seconds ? "\(minutes):\(zeroPadded(String(second % 60), to: 2))" : minutes
    }

    /// Returns a period, such as `2026-03-31 10:30:00 to 10:34:59`. The second date is included only if it differs from
    /// the first.
    package static func period(from: UTCTime, to: UTCTime) -> String {
        if from == to { return "\(date(from)) \(timeOfDay(from))" }
        let end = date(from) == date(to) ? timeOfDay(to) : "\(date(to)) \(timeOfDay(to))"
        return "\(date(from)) \(timeOfDay(from)) to \(end)"
    }

    /// Returns a position, such as `53.54998° N, 10.00000° E`. The fifth decimal is about a metre.
    package static func coordinates(latitude: Double, longitude: Double) -> String {
        "\(decimal(abs(latitude), places: 5))° \(latitude < 0 ? "S" : "N"), \(decimal(abs(longitude), places: 5))° "
            + (longitude < 0 ? "W" : "E")
    }

    private static func zeroPadded(_ digits: String, to width: Int) -> String {
        String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

/// Functions that write the figures of a track as text. All descriptions of a track share these functions.
package enum TrackFigures {
    /// Returns the period of a track and its length, such as `2026-03-31 10:30:00 to 10:34:59 UTC, 4 min 59 s`.
    package static func period(from first: UTCTime, to last: UTCTime) -> String {
        let length = first.duration(to: last)
        let span = "\(FigureText.period(from: first, to: last)) UTC"
        return length > .zero ? "\(span), \(FigureText.duration(length))" : span
    }

    /// Returns the top speed, such as `80.6 km/h (22.4 m/s)`; `nil` if no fix has a speed.
    package static func topSpeed(_ figures: TrackStatistics) -> String? {
        figures.topSpeedMetersPerSecond.map { "\(FigureText.speed($0)) (\(FigureText.decimal($0, places: 1)) m/s)" }
    }

    /// Returns the mean and the worst accuracy, such as `4.0 m on average, 8.5 m at worst`; `nil` if no fix has an
    /// accuracy.
    package static func accuracy(_ figures: TrackStatistics) -> String? {
        guard let mean = figures.meanAccuracyMeters, let worst = figures.worstAccuracyMeters else { return nil }
        return "\(FigureText.accuracy(mean)) on average, \(FigureText.accuracy(worst)) at worst"
    }

    /// Returns the number and total time of stops, such as `2, 4 min in total`.
    package static func stops(count: Int, time: Duration) -> String {
        "\(count.grouped), \(FigureText.duration(time))\(count > 1 ? " in total" : "")"
    }

    /// Returns the breaks of a track, such as `2 gaps, 6 min 14 s in total; 1 jump`; empty if there are none.
    package static func breaks(_ figures: TrackStatistics) -> String {
        var parts: [String] = []
        if figures.gapCount > 0 {
            let gaps = figures.gapCount.counted("gap")
            let time = FigureText.duration(figures.gapTime)
            parts.append(figures.gapCount > 1 ? "\(gaps), \(time) in total" : "\(gaps) of \(time)")
        }
        if figures.jumpCount > 0 { parts.append(figures.jumpCount.counted("jump")) }
        if figures.backwardSteps > 0 {
            parts.append("time goes back \(figures.backwardSteps == 1 ? "once" : "\(figures.backwardSteps) times")")
        }
        return parts.joined(separator: "; ")
    }

    /// Returns a description of a break, such as `gap of 1 min 33 s`, `jump of 3.20 km` or `back by 52 min`.
    package static func label(of place: TrackBreak) -> String {
        switch place.cause {
        case .gap: "gap of \(FigureText.duration(place.duration))"
        case .jump: "jump of \(FigureText.distance(place.meters))"
        case .backward where place.duration == .zero: "time stands still"
        case .backward: "back by \(FigureText.duration(.zero - place.duration))"
        }
    }
}
