import GNSS
import TimeAndRandomness

/// The points between two updates, such as a corner, a stop or the end of a tunnel. With them, the reported track stays
/// within a tolerance of every fix. A point consists only of a time and a position. Its speed and heading follow from
/// the neighbouring points.
///
/// Between two reported positions the track is straight, and the vehicle moves along it at constant speed
/// (`TrackSimplification`). The tolerance doesn't hold across a gap or a jump. The last fix before such a break and the
/// first fix after it are always points. Memory and time are bounded, because a limited number of fixes is considered
/// at a time and settled points aren't revised. This type does no I/O.
package struct ShapePoints: Sendable {
    /// The maximum number of fixes that are considered at a time.
    private static let maximumWindow = 256
    /// The number of settled points that makes an update due, regardless of the policy.
    private static let duePointCount = 48
    /// The maximum number of points per update. If there are more, the latest are kept. A receiver with 50 fixes per
    /// second can reach the maximum before an update is allowed.
    package static let maximumPoints = 256
    /// The maximum error in metres from rounding a position to 10⁻⁷ degrees.
    private static let maximumRoundingError = 0.01

    /// The tolerance in metres; `nil` if no points are reported between updates.
    private let tolerance: Double?
    /// Points that will be reported regardless of later fixes.
    private var settledPoints: [LocationUpdate] = []
    /// The positions to report, from the last settled point or update on.
    private var window: [LocationUpdate] = []
    /// The receiver's positions for the fixes of `window`. A parked vehicle is reported in one place, but some of these
    /// positions may turn out to be part of its departure.
    private var rawWindow: [LocationUpdate] = []
    /// Whether `window` and `rawWindow` differ, because the vehicle is parked.
    private var differsFromRaw = false
    private var continuity = TrackContinuity()

    /// - Parameter toleranceMeters: the maximum distance of the reported track from a fix; `nil` if no points are
    ///   reported between updates.
    package init(toleranceMeters: Double?) {
        tolerance = toleranceMeters.map { $0 - Self.maximumRoundingError }
    }

    /// Whether the number of points makes an update due, regardless of the policy.
    var makesUpdateDue: Bool { settledPoints.count >= Self.duePointCount }

    /// Adds a fix.
    ///
    /// - Parameters:
    ///   - fix: the fix as it would be reported.
    ///   - rawFix: the receiver's fix, which differs from `fix` while the vehicle is parked; `nil` if they are equal.
    mutating func add(_ fix: Fix, rawFix: Fix? = nil) {
        guard let tolerance else { return }
        let point = LocationUpdate(placeOf: fix)
        let rawPoint = rawFix.map(LocationUpdate.init(placeOf:)) ?? point
        if case .onward = continuity.step(to: fix), let last = window.last {
            if differsFromRaw, (point.latitude, point.longitude) != (last.latitude, last.longitude) {
                window.replaceSubrange(1..., with: rawWindow.dropFirst())
                differsFromRaw = false
            }
            if window.count == Self.maximumWindow { settleFullWindow(tolerance: tolerance) }
        } else {
            if window.count > 1 { settle(keptIndices(tolerance: tolerance).dropFirst().map { window[$0] }) }
            settle([point])
            window.removeAll(keepingCapacity: true)
            rawWindow.removeAll(keepingCapacity: true)
            differsFromRaw = false
        }
        window.append(point)
        rawWindow.append(rawPoint)
        differsFromRaw = differsFromRaw || point != rawPoint
    }

    /// Removes and returns the points before the last fix. That fix becomes the update itself, and starts the next
    /// window.
    mutating func takePoints() -> [LocationUpdate] {
        guard let tolerance, let update = window.last else { return [] }
        if window.count == 1 {
            settledPoints.removeLast()  // the first fix after a gap, which is the update itself
        } else {
            settle(keptIndices(tolerance: tolerance).dropFirst().dropLast().map { window[$0] })
        }
        let points = settledPoints
        settledPoints = []
        window = [update]
        rawWindow = [update]
        differsFromRaw = false
        return points
    }

    /// Forgets all fixes since the last update.
    mutating func reset() {
        settledPoints = []
        window = []
        rawWindow = []
        differsFromRaw = false
        continuity = TrackContinuity()
    }

    private mutating func settle(_ points: [LocationUpdate]) {
        settledPoints = (settledPoints + points).suffix(Self.maximumPoints)
    }

    /// Settles the points of a full window. The last straight leg stays in the window, because later fixes may extend
    /// it, unless it makes up more than half of the window.
    private mutating func settleFullWindow(tolerance: Double) {
        let kept = keptIndices(tolerance: tolerance)
        let open = kept.dropLast().last ?? 0
        let end = open < window.count / 2 ? window.count - 1 : open
        settle(kept.dropFirst().prefix { $0 <= end }.map { window[$0] })
        window.removeFirst(end)
        rawWindow.removeFirst(end)
    }

    /// Returns the indices of the window's positions that must be reported.
    private func keptIndices(tolerance: Double) -> [Int] {
        TrackSimplification.keptIndices(of: window.map(\.place), tolerance: tolerance)
    }
}
