package import GNSS
package import TimeAndChance

/// Decides whether a fix can be true: position, time, and the way from the last one.
///
/// Nothing is locked out for good: if three fixes in a row agree with each other, at whatever speed, they are right and
/// the earlier one was wrong.
package struct Plausibility: Sendable {
    /// How many fixes must agree to overrule an earlier one.
    private static let quorum = 3

    /// A time further ahead than this needs others that confirm it: a vehicle is parked for a night, a receiver errs by
    /// years.
    private static let longestSilence = Duration.seconds(12 * 3600)

    private let earliest: UTCTime?
    private let expected: UTCTime?
    private let newest: Fix?
    private var lastAccepted: Fix?
    /// Whether a position that was measured, not estimated, has been accepted.
    private var hasMeasured = false
    /// The fix before `lastAccepted` that agrees with it.
    private var earlier: Fix?
    private var candidate: Fix?
    /// The rejected fix before `candidate`.
    private var earlierCandidate: Fix?
    private var candidateCount = 0

    /// - Parameters:
    ///   - earliest: the build date for a live receiver; `nil` for recorded logs, which keep their dates.
    ///   - expected: about the present, if only by a clock that may be wrong; a first fix near it is accepted at once,
    ///     any other when three agree. `nil` accepts any first fix.
    ///   - newest: the newest update that an earlier run accepted; a first fix that can't follow it is accepted when
    ///     three agree. `nil` for recorded logs, which may be older.
    package init(earliest: UTCTime?, expected: UTCTime? = nil, newest: LocationUpdate? = nil) {
        self.earliest = earliest
        self.expected = expected
        self.newest = newest.map(Fix.init)
    }

    /// Judges the next fix.
    ///
    /// - Parameters:
    ///   - fix: the next fix.
    ///   - latest: the latest time that can be true; `nil` if nothing trustworthy knows the present.
    ///   - measured: the last accepted fix with the speed and the radius that its track shows.
    /// - Returns: whether the fix can be true.
    package mutating func judge(_ fix: Fix, latest: UTCTime?, after measured: Fix? = nil) -> FixVerdict {
        guard (-90...90).contains(fix.latitude), (-180...180).contains(fix.longitude) else {
            return .rejected(.positionOutOfRange)
        }
        guard fix.latitude != 0 || fix.longitude != 0 else { return .rejected(.nullIsland) }
        if let earliest, fix.timeOfFix < earliest { return .rejected(.before(earliest)) }
        if let latest, fix.timeOfFix > latest { return .rejected(.after(latest)) }

        guard fix.quality != .estimated || hasMeasured else { return .rejected(.estimatedBeforeMeasured) }

        guard let rejection = objection(to: fix, after: measured) else {
            accept(fix, after: lastAccepted)
            return .accepted(overrulesEarlier: false)
        }
        count(fix)
        guard candidateCount >= Self.quorum else { return .rejected(rejection) }
        let overrules = (lastAccepted ?? newest).map { $0.timeOfFix >= fix.timeOfFix } ?? false
        accept(fix, after: earlierCandidate)
        return .accepted(overrulesEarlier: overrules)
    }

    /// What speaks against `fix` as long as it stands alone.
    private func objection(to fix: Fix, after measured: Fix?) -> FixRejection? {
        if let lastAccepted {
            var previous = lastAccepted
            var next = fix
            if let measured, measured.timeOfFix == lastAccepted.timeOfFix {
                previous = measured
                next = fix.completed(after: measured)
                previous.speedMetersPerSecond = measured.knownSpeedMetersPerSecond
            }
            let contradiction = Self.contradiction(between: previous, and: next)
            guard case .jump = contradiction, let earlier, fix.continues(from: earlier, by: lastAccepted) else {
                return contradiction
            }
            return nil
        }
        if let newest {
            if fix.timeOfFix <= newest.timeOfFix { return .notAdvancing }
            if newest.timeOfFix.duration(to: fix.timeOfFix) <= Self.longestSilence {
                return Self.contradiction(between: newest, and: fix)
            }
        }
        guard let expected else { return nil }
        let distance = expected.duration(to: fix.timeOfFix)
        return distance > Self.longestSilence || distance < .zero - Self.longestSilence ? .unconfirmedTime : nil
    }

    /// Counts how many rejected fixes in a row agree, `fix` being the last.
    private mutating func count(_ fix: Fix) {
        let agrees = candidate.map { Self.contradiction(between: $0, and: fix) == nil } ?? false
        candidateCount = agrees ? candidateCount + 1 : 1
        if let earlierCandidate, let candidate, fix.continues(from: earlierCandidate, by: candidate) {
            candidateCount = Self.quorum
        }
        earlierCandidate = candidate
        candidate = fix
    }

    private mutating func accept(_ fix: Fix, after previous: Fix?) {
        earlier = previous
        lastAccepted = fix
        hasMeasured = hasMeasured || fix.quality != .estimated
        candidate = nil
        earlierCandidate = nil
        candidateCount = 0
    }

    /// Why `next` cannot follow `previous`; `nil` when it can.
    private static func contradiction(between previous: Fix, and next: Fix) -> FixRejection? {
        guard next.timeOfFix > previous.timeOfFix else { return .notAdvancing }
        guard previous.timeOfFix.duration(to: next.timeOfFix) <= longestSilence else { return .unconfirmedTime }
        if let rate = next.impossibleAcceleration(since: previous) {
            return .acceleration(metersPerSecondSquared: Int(rate.rounded()))
        }
        return next.isWithinReach(of: previous) ? nil : .jump(meters: Int(previous.distance(to: next).rounded()))
    }
}

/// What `Plausibility` makes of a fix.
package enum FixVerdict: Sendable, Hashable {
    /// `overrulesEarlier` when it contradicts what was accepted before, and that was wrong.
    case accepted(overrulesEarlier: Bool)
    case rejected(FixRejection)
}

/// Why a fix is rejected.
package enum FixRejection: Sendable, Hashable {
    case positionOutOfRange
    /// Exactly 0, 0: what gateways without data send.
    case nullIsland
    case before(UTCTime)
    case after(UTCTime)
    case notAdvancing
    /// Dead reckoning from a place that no satellite has confirmed: often the last known place, before the first fix.
    case estimatedBeforeMeasured
    /// Far from every time known so far; accepted once others confirm it.
    case unconfirmedTime
    case jump(meters: Int)
    /// The speeds that it and the last fix state cannot follow each other.
    case acceleration(metersPerSecondSquared: Int)

    /// One word for a metric's label.
    package var label: String {
        switch self {
        case .positionOutOfRange: "position_out_of_range"
        case .nullIsland: "zero_position"
        case .estimatedBeforeMeasured: "estimated_before_measured"
        case .before: "before_build"
        case .after: "in_the_future"
        case .notAdvancing: "not_advancing"
        case .unconfirmedTime: "unconfirmed_time"
        case .jump: "jump"
        case .acceleration: "acceleration"
        }
    }
}
