package import GNSS

/// A circle within which the vehicle's position is not disclosed.
package struct PrivateZone: Sendable, Hashable {
    /// The centre in degrees, WGS 84.
    package let latitude, longitude: Double
    package let radiusMeters: Double

    package init(latitude: Double, longitude: Double, radiusMeters: Double) {
        self.latitude = latitude
        self.longitude = longitude
        self.radiusMeters = radiusMeters
    }

    /// Whether the zone is more than 1,000 km from `fix`. If so, the zone's latitude and longitude are probably
    /// swapped.
    package func isImplausiblyFar(from fix: Fix) -> Bool { !contains(fix, margin: 1_000_000) }

    /// Whether `fix` is inside the circle, or at most `margin` metres outside it.
    fileprivate func contains(_ fix: Fix, margin: Double = 0) -> Bool {
        var centre = fix
        centre.latitude = latitude
        centre.longitude = longitude
        return centre.distance(to: fix) <= radiusMeters + margin
    }
}

/// The decision whether the vehicle is private, because its private switch is on or because it is in one of its private
/// zones. This type does no I/O.
///
/// When in doubt, the vehicle is private. A vehicle that has entered a zone leaves it only with a fix that is outside
/// the border by more than the fix's error. The state thus doesn't flicker at the border.
package struct PrivateMode: Sendable {
    /// The limits of a fix's error in metres, and the error assumed if the receiver reports none.
    private static let minimumMargin = 10.0
    private static let maximumMargin = 100.0
    private static let defaultMargin = 25.0
    /// The maximum time between two readings of a polled switch, which is read every second. A longer gap means that
    /// the process was frozen, and the switch may have been on in the meantime.
    private static let maximumPollGap = Duration.seconds(2)
    /// The maximum time for which buffered fixes may still arrive from the receiver after a gap between readings.
    private static let maximumBufferedTime = Duration.seconds(1)

    private let zones: [PrivateZone]
    private var isSwitchedOn = false
    private var isInZone = false
    /// Whether the vehicle may be in one of its zones, because there has been no fix yet.
    package private(set) var mayBeInZone: Bool
    /// Whether the next fix may have been measured while the switch was still on.
    private var nextFixMayBeEarlier = false
    /// The time of the last reading of a polled switch; `nil` before the first reading.
    private var lastReading: Duration?
    /// The time until which arriving fixes may have been measured during a gap between two readings; `nil` if there was
    /// no gap.
    private var doubtEndsAt: Duration?

    package init(zones: [PrivateZone]) {
        self.zones = zones
        mayBeInZone = !zones.isEmpty
    }

    package var isPrivate: Bool { isSwitchedOn || isInZone }

    /// Records the switch's state.
    ///
    /// - Parameters:
    ///   - isSwitchedOn: the state of the switch.
    ///   - now: the time of the reading; `nil` if there is no switch.
    ///   - isPolled: whether the switch is read every second from now on.
    package mutating func observe(isSwitchedOn: Bool, at now: Duration? = nil, isPolled: Bool = false) {
        if self.isSwitchedOn, !isSwitchedOn { nextFixMayBeEarlier = true }
        self.isSwitchedOn = isSwitchedOn
        if let now, let lastReading, now - lastReading > Self.maximumPollGap {
            doubtEndsAt = now + Self.maximumBufferedTime
        }
        if isPolled || lastReading != nil { lastReading = now }
    }

    /// Records a fix that arrived at `now`, and returns whether it may be disclosed. A fix that isn't accepted doesn't
    /// change which zone the vehicle is in.
    package mutating func mayDisclose(_ fix: Fix, isAccepted: Bool = true, at now: Duration = .zero) -> Bool {
        defer { nextFixMayBeEarlier = false }
        let stated = fix.horizontalAccuracyMeters ?? Self.defaultMargin
        let margin = isInZone ? min(max(stated, Self.minimumMargin), Self.maximumMargin) : 0
        let isInside = zones.contains { $0.contains(fix, margin: margin) }
        if isAccepted {
            isInZone = isInside
            mayBeInZone = false
        }
        let isInDoubt = doubtEndsAt.map { now < $0 } ?? false
        return !isInside && !isPrivate && !nextFixMayBeEarlier && !isInDoubt
    }
}
