package import GNSS
import Glibc
import TimeAndChance

/// By how much the drive of one vehicle of many differs from the log: it begins later, and it is elsewhere.
package struct DriveOffset: Sendable, Hashable {
    /// How much later it begins.
    package var delay: Duration
    private let northMeters: Double
    private let eastMeters: Double

    /// No difference.
    package static let none = Self(delay: .zero, withinMeters: 0, of: 0)

    /// A drive that begins `delay` later, at a place within `radius` metres that `number` alone decides: the same
    /// vehicle drives the same streets in every run. The places are spread evenly over the circle.
    package init(delay: Duration, withinMeters radius: Double, of number: Int) {
        self.delay = delay
        var chance = SplitMix64(seed: UInt64(bitPattern: Int64(number)))
        let distance = radius * chance.unit().squareRoot()
        let direction = 2 * Double.pi * chance.unit()
        northMeters = distance * cos(direction)
        eastMeters = distance * sin(direction)
    }

    /// `fix` as much farther north and east, with the shape of the track kept; nobody drives over a pole.
    package func moved(_ fix: Fix) -> Fix {
        guard northMeters != 0 || eastMeters != 0 else { return fix }
        var moved = fix
        let metersPerDegree = 111_195.0
        moved.latitude = min(90, max(-90, fix.latitude + northMeters / metersPerDegree))
        let shrinking = max(0.01, cos(moved.latitude / 180 * .pi))
        moved.longitude = remainder(fix.longitude + eastMeters / metersPerDegree / shrinking, 360)
        return moved
    }
}
