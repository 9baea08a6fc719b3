extension Duration {
    /// The duration as text, rounded to one unit and without a sign: `90 s`, `60 min`, `3 h`, `2 days`, `56 years`.
    package var humanReadable: String {
        let seconds = components.seconds.magnitude
        return switch seconds {
        case ..<120: "\(seconds) s"
        // The bounds ensure that a rounded value is 2 h or 2 days, never 120 min or 48 h.
        case ..<7170: "\((seconds + 30) / 60) min"
        case ..<171_000: "\((seconds + 1800) / 3600) h"
        case ..<63_072_000: "\((seconds + 43_200) / 86_400) days"
        default: "\((seconds + 15_778_476) / 31_556_952) years"
        }
    }
}

extension BinaryInteger {
    /// Returns the number with its noun, such as `1 fix`, `2 fixes`, `12,345 fixes`. The default plural is `noun` with
    /// an s.
    package func counted(_ noun: String, plural: String? = nil) -> String {
        "\(grouped) \(self == 1 ? noun : plural ?? noun + "s")"
    }

    /// The number with thousands separators, such as `1,234` or `-1,234,567`.
    package var grouped: String {
        var text = String(magnitude)
        var end = text.utf8.count - 3
        while end > 0 {
            text.insert(",", at: text.utf8.index(text.startIndex, offsetBy: end))
            end -= 3
        }
        return self < 0 ? "-" + text : text
    }
}
