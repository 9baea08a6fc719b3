package import GNSS

/// Decides whether a fix can be true: position, time, and the way from the last one.
///
/// Nothing is locked out for good: when three fixes in a row agree with each other, they are right and the earlier one
/// was wrong.
package struct Plausibility: Sendable {
    /// No vehicle is faster, in metres per second (360 km/h).
    static let fastestSpeed = 100.0
    /// What a receiver may be off at any time, in metres, when it does not say.
    static let usualError = 50.0
    /// How many fixes must agree to overrule an earlier one.
    static let quorum = 3

    private let earliest: UTCTime?
    private var lastBelieved: Fix?
    private var candidate: Fix?
    private var candidateCount = 0

    /// `earliest`: the build date for a live receiver; `nil` for recorded logs, which keep their dates.
    package init(earliest: UTCTime?) { self.earliest = earliest }

    /// Judges the next fix; `nil` means that it is believed.
    ///
    /// `latest`: the latest time that can be true, when anything trustworthy knows the present.
    package mutating func judge(_ fix: Fix, latest: UTCTime?) -> FixRefusal? {
        guard (-90...90).contains(fix.latitude), (-180...180).contains(fix.longitude) else {
            return .positionOutOfRange
        }
        guard fix.latitude != 0 || fix.longitude != 0 else { return .nullIsland }
        if let earliest, fix.timeOfFix < earliest { return .before(earliest) }
        if let latest, fix.timeOfFix > latest { return .after(latest) }

        guard let refusal = lastBelieved.flatMap({ Self.contradiction(between: $0, and: fix) }) else {
            believe(fix)
            return nil
        }
        let agrees = candidate.map { Self.contradiction(between: $0, and: fix) == nil } ?? false
        candidateCount = agrees ? candidateCount + 1 : 1
        candidate = fix
        guard candidateCount >= Self.quorum else { return refusal }
        believe(fix)
        return nil
    }

    private mutating func believe(_ fix: Fix) {
        (lastBelieved, candidate, candidateCount) = (fix, nil, 0)
    }

    /// Why `next` cannot follow `previous`; `nil` when it can.
    private static func contradiction(between previous: Fix, and next: Fix) -> FixRefusal? {
        guard next.timeOfFix > previous.timeOfFix else { return .notAdvancing }
        let seconds = previous.timeOfFix.duration(to: next.timeOfFix) / .seconds(1)
        let error = (previous.horizontalAccuracyMeters ?? usualError) + (next.horizontalAccuracyMeters ?? usualError)
        let distance = previous.distance(to: next)
        return distance <= seconds * fastestSpeed + max(usualError, error * 2)
            ? nil : .jump(meters: Int(distance.rounded()))
    }
}
