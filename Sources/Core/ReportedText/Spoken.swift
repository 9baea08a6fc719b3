extension Duration {
    /// As people say it, in one unit, rounded: `90 s`, `60 min`, `3 h`, `2 days`, `56 years`; the sign is dropped.
    package var spoken: String {
        let seconds = components.seconds.magnitude
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\((seconds + 30) / 60) min"
        case ..<172_800: "\((seconds + 1800) / 3600) h"
        case ..<63_072_000: "\((seconds + 43_200) / 86_400) days"
        default: "\(seconds / 31_556_952) years"
        }
    }
}
