package import GNSS
import Glibc
import TimeAndRandomness

/// The offset in time and position between a vehicle's drive and the log, for a replay with many vehicles.
package struct DriveOffset: Sendable, Hashable {
    /// The delay of the drive's start relative to the log's.
    package var delay: Duration
    private let northMeters: Double
    private let eastMeters: Double

    package static let none = Self(delay: .zero, withinMeters: 0, forVehicle: 0)

    /// Creates an offset of at most `radius` metres in any direction. It depends only on `number`, so that a vehicle
    /// drives on the same streets in every run. The offsets of many vehicles are distributed evenly over the circle.
    package init(delay: Duration, withinMeters radius: Double, forVehicle number: Int) {
        self.delay = delay
        var chance = SplitMix64(seed: UInt64(bitPattern: Int64(number)))
        let distance = radius * chance.unit().squareRoot()
        let direction = 2 * Double.pi * chance.unit()
        northMeters = distance * cos(direction)
        eastMeters = distance * sin(direction)
    }

    /// Returns `fix` moved by the distance of the offset. The shape of the track is kept, except at the poles.
    package func moved(_ fix: Fix) -> Fix {
        guard northMeters != 0 || eastMeters != 0 else { return fix }
        var moved = fix
        moved.latitude = min(90, max(-90, fix.latitude + northMeters / Fix.metersPerDegree))
        let shrinking = max(0.01, cos(moved.latitude / 180 * .pi))
        moved.longitude = remainder(fix.longitude + eastMeters / Fix.metersPerDegree / shrinking, 360)
        return moved
    }
}
