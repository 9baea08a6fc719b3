package import GNSS

/// A circle within which nothing is told of where the vehicle is.
package struct PrivateZone: Sendable, Hashable {
    /// The centre in degrees, WGS 84.
    package let latitude, longitude: Double
    package let radiusMeters: Double

    package init(latitude: Double, longitude: Double, radiusMeters: Double) {
        (self.latitude, self.longitude, self.radiusMeters) = (latitude, longitude, radiusMeters)
    }

    /// Whether `fix` lies in the circle, or within `margin` metres around it.
    fileprivate func holds(_ fix: Fix, margin: Double = 0) -> Bool {
        var centre = fix
        (centre.latitude, centre.longitude) = (latitude, longitude)
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

    private var zones: [PrivateZone]
    private var isSwitchedOn = false
    private var isInZone = false
    /// Whether no fix has said yet whether the vehicle is in one of its zones.
    package private(set) var mayBeInZone: Bool
    /// Whether the next fix may be of before the switch was off.
    private var fixIsOfBefore = false

    package init(zones: [PrivateZone]) { (self.zones, mayBeInZone) = (zones, !zones.isEmpty) }

    package var isPrivate: Bool { isSwitchedOn || isInZone }

    /// Other zones from now on: whether the vehicle is in one of them, the next fix says. Gives whether they differ.
    package mutating func change(zones: [PrivateZone]) -> Bool {
        guard self.zones != zones else { return false }
        (self.zones, mayBeInZone) = (zones, !zones.isEmpty)
        return true
    }

    /// Takes how the switch stands.
    package mutating func observe(isSwitchedOn: Bool) {
        if self.isSwitchedOn, !isSwitchedOn { fixIsOfBefore = true }
        self.isSwitchedOn = isSwitchedOn
    }

    /// Whether `fix` is to be told; one that was not accepted says nothing of where the vehicle is.
    package mutating func tells(_ fix: Fix, isAccepted: Bool = true) -> Bool {
        defer { fixIsOfBefore = false }
        let stated = fix.horizontalAccuracyMeters ?? Self.usualMargin
        let margin = isInZone ? min(max(stated, Self.leastMargin), Self.longestMargin) : 0
        let isHeld = zones.contains { $0.holds(fix, margin: margin) }
        if isAccepted { (isInZone, mayBeInZone) = (isHeld, false) }
        return !isHeld && !isPrivate && !fixIsOfBefore
    }
}
