extension Duration {
    /// As people say it, in one unit, rounded: `90 s`, `60 min`, `3 h`, `2 days`, `56 years`; the sign is dropped.
    package var spoken: String {
        let seconds = components.seconds.magnitude
        return switch seconds {
        case ..<120: "\(seconds) s"
        // What would be 120 min or 48 h once it is rounded is 2 h or 2 days.
        case ..<7170: "\((seconds + 30) / 60) min"
        case ..<171_000: "\((seconds + 1800) / 3600) h"
        case ..<63_072_000: "\((seconds + 43_200) / 86_400) days"
        default: "\(seconds / 31_556_952) years"
        }
    }
}

/// Counts as a person reads them, the same wherever one is reported.
extension BinaryInteger {
    /// `1 fix`, `2 fixes`, `12,345 fixes`; the plural is `noun` with an s unless given.
    package func counted(_ noun: String, _ plural: String? = nil) -> String {
        "\(grouped) \(self == 1 ? noun : plural ?? noun + "s")"
    }

    /// `1,234`, `-1,234,567`.
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
