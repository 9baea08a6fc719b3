package import GNSS

/// What a vehicle's motion says about its fixes: believed fixes in, fixes worth reporting out.
package struct MotionFilter: Sendable {
    private var deadReckoning = DeadReckoningAccuracy()
    private var place = StationaryHold()
    private var heading = HeadingHold()

    package init() {}

    /// `fix` with the accuracy, place and heading that it is reported with; its time never changes.
    package mutating func filtered(_ fix: Fix) -> Fix {
        heading.steadied(place.held(deadReckoning.widened(fix)))
    }
}
