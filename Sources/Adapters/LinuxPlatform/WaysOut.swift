/// The ways out that the kernel has announced: a decision, which announcement is news.
///
/// The kernel repeats itself: an address is announced again whenever its lifetime is extended (DHCP, router
/// advertisements). And it is silent: the IPv4 routes of a link that goes down, or of an address that is removed, go
/// without a word. So a link or an address that goes takes its routes along: what is forgotten wrongly is only told
/// twice. Nor does it repeat the addresses and routes of a link whose cable or radio is back: a link that was down and
/// works again is a way out itself.
struct WaysOut: Sendable, Hashable {
    private static let capacity = 64

    private var known: Set<WayOut> = []
    private var downLinks: Set<UInt32> = []

    /// Whether one of the messages in `datagram` tells of a way out that is new.
    mutating func take(_ datagram: Span<UInt8>) -> Bool {
        var hasNew = false
        for announcement in NetworkAnnouncement.all(in: datagram) {
            switch announcement {
            case .gained(let way): if gain(way) { hasNew = true }
            case .lost(let way):
                known.remove(way)
                if way.kind == .address { forget { $0.kind == .route && $0.interface == way.interface } }
            case .linkDown(let interface):
                forget { $0.interface == interface }
                if downLinks.count == Self.capacity { downLinks = [] }
                downLinks.insert(interface)
            case .linkUp(let interface): if downLinks.remove(interface) != nil { hasNew = true }
            }
        }
        return hasNew
    }

    /// Announcements were missed: nothing is certain any more.
    mutating func forgetAll() { known = [] }

    private mutating func gain(_ way: WayOut) -> Bool {
        if known.contains(way) { return false }
        if known.count == Self.capacity { forgetAll() }
        known.insert(way)
        return true
    }

    private mutating func forget(_ isGone: (WayOut) -> Bool) { known = known.filter { !isGone($0) } }
}
