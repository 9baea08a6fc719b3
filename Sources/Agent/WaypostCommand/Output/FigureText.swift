import GNSS
import TimeAndChance

/// Figures as a person reads them: as many digits as they are worth, with their unit.
enum FigureText {
    /// `1 fix`, `2 fixes`, `12,345 fixes`; the plural is `noun` with an s unless given.
    static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(grouped(number)) \(number == 1 ? noun : plural ?? noun + "s")"
    }

    /// `12,345`; four digits stand together.
    static func grouped(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if digits.count > 4, index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// Rounded to exactly `places` decimals, as `4.0`.
    static func decimal(_ value: Double, _ places: Int) -> String {
        let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
        guard let scaled = Int(exactly: (value * Double(scale)).rounded()) else { return "\(value)" }
        let sign = scaled < 0 ? "-" : ""
        guard places > 0 else { return "\(scaled)" }
        let fraction = String(scaled.magnitude % UInt(scale))
        return "\(sign)\(scaled.magnitude / UInt(scale))." + padded(fraction, places)
    }

    /// `640 m`, `4.57 km`, `45.7 km`, `457 km`.
    static func distance(_ meters: Double) -> String {
        switch meters {
        case ..<999.5: "\(decimal(meters, 0)) m"
        case ..<9995: "\(decimal(meters / 1000, 2)) km"
        case ..<99_950: "\(decimal(meters / 1000, 1)) km"
        default: "\(Int(exactly: (meters / 1000).rounded()).map(grouped) ?? "\(meters / 1000)") km"
        }
    }

    /// `80.6 km/h`.
    static func speed(_ metersPerSecond: Double) -> String { "\(decimal(metersPerSecond * 3.6, 1)) km/h" }

    /// `0.03 m`, `4.5 m`, `457 m`.
    static func accuracy(_ meters: Double) -> String {
        "\(decimal(meters, meters < 0.995 ? 2 : meters < 99.5 ? 1 : 0)) m"
    }

    /// `640 bytes`, `91.9 kB`, `4.57 MB`.
    static func bytes(_ count: Int) -> String {
        switch count {
        case ..<1000: self.count(count, "byte")
        case ..<999_950: "\(decimal(Double(count) / 1e3, 1)) kB"
        default: "\(decimal(Double(count) / 1e6, 1)) MB"
        }
    }

    /// `0.5 s`, `34 s`, `1 min 33 s`, `2 h 14 min`, `3 days 4 h`.
    static func duration(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        if seconds < 0 { return "-\(self.duration(.zero - duration))" }
        if seconds < 0.95 { return "\(decimal(seconds, 1)) s" }
        guard let whole = Int(exactly: seconds.rounded()) else { return "\(seconds) s" }
        switch whole {
        case ..<60: return "\(whole) s"
        case ..<3600: return "\(whole / 60) min" + rest(whole % 60, "s")
        case ..<172_800: return "\(whole / 3600) h" + rest(whole / 60 % 60, "min")
        default: return "\(grouped(whole / 86_400)) days" + rest(whole / 3600 % 24, "h")
        }
    }

    private static func rest(_ number: Int, _ unit: String) -> String { number == 0 ? "" : " \(number) \(unit)" }

    /// `2026-03-31`.
    static func date(_ time: UTCTime) -> String { String(time.description.prefix { $0 != "T" }) }

    /// `10:31:39`, or `10:31` without seconds.
    static func clock(_ time: UTCTime, seconds: Bool = true) -> String {
        let second = time.millisecondOfDay / 1000
        let minutes = "\(padded(String(second / 3600), 2)):\(padded(String(second / 60 % 60), 2))"
        return seconds ? "\(minutes):\(padded(String(second % 60), 2))" : minutes
    }

    /// `2026-03-31 10:30:00 to 10:34:59`; with a second date where it is another one.
    static func span(_ from: UTCTime, _ to: UTCTime) -> String {
        if from == to { return "\(date(from)) \(clock(from))" }
        let end = date(from) == date(to) ? clock(to) : "\(date(to)) \(clock(to))"
        return "\(date(from)) \(clock(from)) to \(end)"
    }

    private static func padded(_ digits: String, _ width: Int) -> String {
        String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
