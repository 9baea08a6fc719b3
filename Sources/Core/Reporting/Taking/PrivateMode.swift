package import GNSS

/// A circle within which nothing is told of where the vehicle is.
package struct PrivateZone: Sendable, Hashable {
    /// The centre in degrees, WGS 84.
    package let latitude, longitude: Double
    package let radiusMeters: Double

    package init(latitude: Double, longitude: Double, radiusMeters: Double) {
        self.latitude = latitude
        self.longitude = longitude
        self.radiusMeters = radiusMeters
    }

    /// Whether the zone is so far from `fix` (1,000 km) that its coordinates are probably swapped.
    package func isImplausible(from fix: Fix) -> Bool { !holds(fix, margin: 1_000_000) }

    /// Whether `fix` lies in the circle, or within `margin` metres around it.
    fileprivate func holds(_ fix: Fix, margin: Double = 0) -> Bool {
        var centre = fix
        centre.latitude = latitude
        centre.longitude = longitude
        return centre.distance(to: fix) <= radiusMeters + margin
    }
}

/// Decides whether the vehicle is private: by its switch, or because it is in one of its zones. Pure.
///
/// Whatever is not known counts for privacy. A zone that was entered is left only by a fix that is beyond its border by
/// more than it may err, so that the border does not flicker.
package struct PrivateMode: Sendable {
    /// What a fix may err, in metres: at least, at most, and where its receiver does not say.
    private static let leastMargin = 10.0
    private static let longestMargin = 100.0
    private static let usualMargin = 25.0
    /// A switch that is watched is looked at each second. If nobody has looked for longer than this, the process was
    /// frozen, and the switch may have been on meanwhile.
    private static let longestUnseen = Duration.seconds(2)
    /// How long fixes may arrive that the receiver has buffered while the process was frozen.
    private static let buffered = Duration.seconds(1)

    private let zones: [PrivateZone]
    private var isSwitchedOn = false
    private var isInZone = false
    /// Whether no fix has said yet whether the vehicle is in one of its zones.
    package private(set) var mayBeInZone: Bool
    /// Whether the next fix may date from the time before the switch went off.
    private var fixIsOfBefore = false
    /// The time of the last look at a switch that is watched.
    private var lastLook: Duration?
    /// The end of the time in which fixes may date from a gap between two looks at the switch.
    private var doubtEndsAt: Duration?

    package init(zones: [PrivateZone]) {
        self.zones = zones
        mayBeInZone = !zones.isEmpty
    }

    package var isPrivate: Bool { isSwitchedOn || isInZone }

    /// Takes how the switch stands at `now`; without a time there is no switch that could be watched. From the first
    /// look with `isWatched` on, somebody looks each second.
    package mutating func observe(isSwitchedOn: Bool, at now: Duration? = nil, isWatched: Bool = false) {
        if self.isSwitchedOn, !isSwitchedOn { fixIsOfBefore = true }
        self.isSwitchedOn = isSwitchedOn
        if let now, let lastLook, now - lastLook > Self.longestUnseen { doubtEndsAt = now + Self.buffered }
        if isWatched || lastLook != nil { lastLook = now }
    }

    /// Whether `fix`, which came at `now`, is to be told; one that was not accepted says nothing of where the vehicle
    /// is.
    package mutating func tells(_ fix: Fix, isAccepted: Bool = true, at now: Duration = .zero) -> Bool {
        defer { fixIsOfBefore = false }
        let stated = fix.horizontalAccuracyMeters ?? Self.usualMargin
        let margin = isInZone ? min(max(stated, Self.leastMargin), Self.longestMargin) : 0
        let isHeld = zones.contains { $0.holds(fix, margin: margin) }
        if isAccepted {
            isInZone = isHeld
            mayBeInZone = false
        }
        let isInDoubt = doubtEndsAt.map { now < $0 } ?? false
        return !isHeld && !isPrivate && !fixIsOfBefore && !isInDoubt
    }
}
