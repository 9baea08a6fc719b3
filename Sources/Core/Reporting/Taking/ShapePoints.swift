import GNSS
import TimeAndChance

/// Collects what has to be told between two updates, so that the told track stays within a distance of every fix: a
/// corner, a stop, the end of a tunnel. A point tells where and when, no more: the way from one to the next has the
/// speed and heading between them.
///
/// The ends are the update before and the one after as they are told; between them the vehicle is taken to have moved
/// straight and evenly (`TrackSimplification`). Over a gap or a jump nothing is promised, but the last fix before it
/// and the first one after it are told. Memory and time are bounded whatever comes: so many fixes are looked at
/// together, and what they have led to is not looked at again. Pure.
package struct ShapePoints: Sendable {
    /// So many fixes are looked at together.
    private static let longestWindow = 256
    /// With so many points an update is due, whatever the policy.
    private static let many = 48
    /// At most so many points go with one update; of more, the latest. A receiver of 50 fixes in a second can need them
    /// all before an update is allowed.
    package static let most = 256
    /// What rounding to whole 10⁻⁷ degrees may move a position, in metres.
    private static let rounding = 0.01

    /// Metres; `nil` for none of all this.
    private let tolerance: Double?
    /// Points that are to be told, whatever comes.
    private var settled: [LocationUpdate] = []
    /// The fixes since the last point of these, or since the last update, with it: as they would be reported.
    private var window: [LocationUpdate] = []
    /// The same as the receiver had them: a parked vehicle is reported in one place, but once it has moved off, some of
    /// these fixes were on the way already.
    private var seen: [LocationUpdate] = []
    /// Whether the two differ.
    private var isHeld = false
    private var continuity = TrackContinuity()

    /// `meters`: how far the told track may be from a fix; `nil` tells updates alone.
    package init(meters: Double?) { tolerance = meters.map { $0 - Self.rounding } }

    /// Whether so much has to be told that an update should not wait any longer.
    var isFull: Bool { settled.count >= Self.many }

    /// Takes a fix as it would be reported, and as its receiver had it: elsewhere while the vehicle is parked.
    mutating func add(_ fix: Fix, seenAt raw: Fix? = nil) {
        guard let tolerance else { return }
        let point = LocationUpdate(placeOf: fix)
        let rawPoint = raw.map(LocationUpdate.init(placeOf:)) ?? point
        if case .onward = continuity.step(to: fix), let last = window.last {
            if isHeld, (point.latitude, point.longitude) != (last.latitude, last.longitude) {
                window.replaceSubrange(1..., with: seen.dropFirst())
                isHeld = false
            }
            if window.count == Self.longestWindow { settleMost(tolerance) }
        } else {
            if window.count > 1 { settle(kept(tolerance).dropFirst().map { window[$0] }) }
            settle([point])
            window.removeAll(keepingCapacity: true)
            seen.removeAll(keepingCapacity: true)
            isHeld = false
        }
        window.append(point)
        seen.append(rawPoint)
        isHeld = isHeld || point != rawPoint
    }

    /// The points that go with the last fix, which becomes an update; the next ones begin with it.
    mutating func take() -> [LocationUpdate] {
        guard let tolerance, let told = window.last else { return [] }
        if window.count == 1 {
            settled.removeLast()  // what it begins with is this update
        } else {
            settle(kept(tolerance).dropFirst().dropLast().map { window[$0] })
        }
        let points = settled
        settled = []
        window = [told]
        seen = [told]
        isHeld = false
        return points
    }

    /// Forgets what has not been told.
    mutating func forget() {
        settled = []
        window = []
        seen = []
        isHeld = false
        continuity = TrackContinuity()
    }

    private mutating func settle(_ points: [LocationUpdate]) { settled = (settled + points).suffix(Self.most) }

    /// Settles what the older fixes have led to; the last leg stays open, unless it is most of the window.
    private mutating func settleMost(_ tolerance: Double) {
        let kept = kept(tolerance)
        let open = kept.dropLast().last ?? 0
        let end = open < window.count / 2 ? window.count - 1 : open
        settle(kept.dropFirst().prefix { $0 <= end }.map { window[$0] })
        window.removeFirst(end)
        seen.removeFirst(end)
    }

    /// Those of the window that stay.
    private func kept(_ tolerance: Double) -> [Int] {
        TrackSimplification.kept(of: window.map(\.place), tolerance: tolerance)
    }
}
