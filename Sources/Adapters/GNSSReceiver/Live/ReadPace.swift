/// Limits how much of a live line is read at once. It has no clock; all times are on one monotonic scale.
///
/// The fastest serial ports carry 92 kB per second. Faster input is either a backlog that accumulated while nothing was
/// read, which is worth reading if it contains fixes, or a flood. A flood is left to the kernel, which blocks the
/// sender of a stream and drops datagrams.
struct ReadPace: Sendable, Hashable {
    /// The time for which a portion must last: short, because a fix may have to wait for the next portion.
    private static let period = Duration.milliseconds(100)
    /// The bytes per period while there are fixes.
    private static let generousPortion = 1 << 20
    /// The bytes per period without a fix: three times the rate of the fastest serial port.
    private static let smallPortion = 1 << 15
    /// The cost of a read in addition to its bytes, in bytes: datagrams may be tiny.
    private static let readCost = 128

    private var periodBegan: Duration
    /// The cost of this period's reads. The last read may exceed the portion; the next periods make up for it.
    private var taken = 0
    private var hasFix = false
    /// Whether the previous period had a fix; true at first, because the line may have a backlog when it is opened.
    private var hadFix = true

    init(openedAt now: Duration) { periodBegan = now }

    private var portion: Int { hasFix || hadFix ? Self.generousPortion : Self.smallPortion }

    /// Whether some of this period's portion is left.
    var mayRead: Bool { taken < portion }

    mutating func recordRead(of count: Int, withFix: Bool) {
        taken += count + Self.readCost
        if withFix { hasFix = true }
    }

    /// Returns how long to pause reading; zero if the line may be read.
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
