/// A limit on how fast a live line is read. This type reads no clock; the caller passes times from one monotonic clock.
///
/// The fastest serial ports carry 92 kB per second. Faster input is either a backlog or a flood. A backlog has
/// accumulated while nothing was read, and is worth reading if it contains fixes. A flood is left to the kernel, which
/// blocks the sender of a stream and drops datagrams.
struct ReadPace: Sendable, Hashable {
    /// The time for which one portion of bytes must last. It is short, because a fix may have to wait for the next
    /// portion.
    private static let period = Duration.milliseconds(100)
    /// The number of bytes per period while fixes arrive.
    private static let generousPortion = 1 << 20
    /// The number of bytes per period while no fixes arrive: three times the rate of the fastest serial port.
    private static let smallPortion = 1 << 15
    /// The fixed cost of each read, counted in bytes, so that a flood of tiny datagrams is limited too.
    private static let readCost = 128

    private var periodBegan: Duration
    /// The cost of this period's reads in bytes. If the last read exceeds the portion, the excess counts against the
    /// next periods.
    private var cost = 0
    private var hasFix = false
    /// Whether a fix arrived in the previous period. It is true at first, because the line may have a backlog when it
    /// is opened.
    private var hadFix = true

    init(openedAt now: Duration) { periodBegan = now }

    private var portion: Int { hasFix || hadFix ? Self.generousPortion : Self.smallPortion }

    /// Whether more may be read in this period.
    var mayRead: Bool { cost < portion }

    mutating func recordRead(of count: Int, withFix: Bool) {
        cost += count + Self.readCost
        if withFix { hasFix = true }
    }

    /// Returns how long to pause reading; zero if the line may be read.
    mutating func pauseDuration(at now: Duration) -> Duration {
        let next = periodBegan + Self.period
        if now >= next {
            periodBegan = now
            cost = max(0, cost - portion)
            hadFix = hasFix
            hasFix = false
        }
        return mayRead ? .zero : periodBegan + Self.period - now
    }
}
