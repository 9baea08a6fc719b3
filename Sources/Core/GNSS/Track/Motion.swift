/// When a vehicle stands, creeps or moves: every decision about its motion asks here.
///
/// Speeds are in metres a second, as receivers state them: also of one that is parked they wander up to `creeping`.
/// Where one decision ends at another speed than it began at, they lie apart, so that noise does not switch it.
package enum Motion {
    /// Below this nothing but noise is left, and the place can be held.
    package static let stillSpeed = 0.3
    /// Below this a vehicle stands, and its course over ground is noise.
    package static let standingSpeed = 0.5
    /// From this on it certainly does not stand; a course that was accepted is accepted down to here.
    package static let creepingSpeed = 1.0
    /// From this on it moves, and its course is accepted.
    package static let movingSpeed = 1.5

    /// How long it stands in one place until it is parked, or has stopped: longer than most traffic lights.
    package static let parkingTime = Duration.seconds(60)
    /// Metres within which the fixes of one that is parked lie; parked receivers wander up to 20.
    package static let parkingRadius = 25.0
}
