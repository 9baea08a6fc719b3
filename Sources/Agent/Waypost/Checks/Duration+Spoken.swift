extension Duration {
    /// As people say it, in one unit, rounded down: `90 s`, `59 min`, `3 h`, `2 days`, `56 years`; the sign is dropped.
    package var spoken: String {
        let seconds = components.seconds.magnitude
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        case ..<63_072_000: "\(seconds / 86_400) days"
        default: "\(seconds / 31_556_952) years"
        }
    }
}
