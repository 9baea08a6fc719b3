/// How much of a live line is read at once: a decision, without a clock of its own.
///
/// Receivers say little: the fastest serial lines carry 92 kB a second. What comes faster has gathered while nobody
/// read, and is worth reading when fixes come of it; or it is a flood, which is left to the kernel, who lets the sender
/// of a stream wait and drops datagrams. All times are on one monotonic scale.
struct ReadPace: Sendable, Hashable {
    /// For how long a portion must last; a fix that waits for the next one is hardly older for it.
    private static let period = Duration.milliseconds(100)
    /// In bytes, each period, as long as fixes come.
    private static let generousPortion = 1 << 20
    /// The same without a fix: three times what the fastest serial line carries.
    private static let smallPortion = 1 << 15
    /// What a read costs beside its bytes, in bytes: datagrams may be tiny.
    private static let readCost = 128

    private var periodBegan: Duration
    /// Beyond the portion by what the last read brought; the next periods pay for it.
    private var taken = 0
    private var hasFix = false
    /// Whether a fix came in the period before; true at first, for a line may have been waiting to be opened.
    private var hadFix = true

    init(openedAt now: Duration) { periodBegan = now }

    private var portion: Int { hasFix || hadFix ? Self.generousPortion : Self.smallPortion }

    /// Whether the portion of this period is not used up.
    var mayRead: Bool { taken < portion }

    /// `count` bytes were read, perhaps with a fix in them.
    mutating func took(_ count: Int, withFix: Bool) {
        taken += count + Self.readCost
        if withFix { hasFix = true }
    }

    /// How long to leave the line alone; zero when it may be read.
    mutating func rest(at now: Duration) -> Duration {
        let next = periodBegan + Self.period
        if now >= next {
            periodBegan = now
            taken = max(0, taken - portion)
            hadFix = hasFix
            hasFix = false
        }
        return mayRead ? .zero : periodBegan + Self.period - now
    }
}
