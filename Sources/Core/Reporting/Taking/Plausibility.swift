package import GNSS
package import TimeAndRandomness

/// A check that a fix is plausible, given its position, its time, and the motion since the previous fix.
///
/// A rejection is never final. If three fixes in a row agree with each other, at any speed, they are accepted. The last
/// accepted fix before them then counts as wrong.
package struct Plausibility: Sendable {
    /// The number of agreeing fixes that overrule the last accepted fix.
    private static let requiredAgreements = 3

    /// The time between two fixes beyond which other fixes must confirm the later one. A vehicle may be parked
    /// overnight, but a faulty receiver is off by years.
    private static let maximumSilence = Duration.seconds(12 * 3600)

    private let earliest: UTCTime?
    private let expected: UTCTime?
    private let newest: Fix?
    private var lastAccepted: Fix?
    /// Whether a position measured by satellites has been accepted, not only estimates by dead reckoning.
    private var hasAcceptedMeasured = false
    /// The fix before `lastAccepted`; `nil` unless the two agree.
    private var earlierAccepted: Fix?
    private var candidate: Fix?
    /// The rejected fix before `candidate`; `nil` if there is none.
    private var earlierCandidate: Fix?
    private var candidateCount = 0

    /// - Parameters:
    ///   - earliest: the build date for a live receiver; `nil` for recorded logs, which keep their dates.
    ///   - expected: the approximate current time, by a clock that may be wrong. A first fix near that time is accepted
    ///     at once. Any other first fix is accepted only when three fixes agree. `nil` accepts any first fix.
    ///   - newest: the newest update of an earlier run. A first fix that can't follow this update is accepted only when
    ///     three fixes agree. `nil` for recorded logs, which may be older.
    package init(earliest: UTCTime?, expected: UTCTime? = nil, newest: LocationUpdate? = nil) {
        self.earliest = earliest
        self.expected = expected
        self.newest = newest.map(Fix.init)
    }

    /// Judges the next fix.
    ///
    /// - Parameters:
    ///   - fix: the next fix.
    ///   - latest: the maximum time that a fix can have; `nil` if the current time is unknown.
    ///   - measured: the last accepted fix, with `MotionFilter`'s values for speed and accuracy.
    /// - Returns: the verdict.
    package mutating func judge(_ fix: Fix, latest: UTCTime?, after measured: Fix? = nil) -> FixVerdict {
        guard (-90...90).contains(fix.latitude), (-180...180).contains(fix.longitude) else {
            return .rejected(.positionOutOfRange)
        }
        guard fix.latitude != 0 || fix.longitude != 0 else { return .rejected(.nullIsland) }
        if let earliest, fix.timeOfFix < earliest { return .rejected(.before(earliest)) }
        if let latest, fix.timeOfFix > latest { return .rejected(.after(latest)) }

        guard fix.quality != .estimated || hasAcceptedMeasured else { return .rejected(.estimatedBeforeMeasured) }

        guard let rejection = rejectionReason(for: fix, after: measured) else {
            accept(fix, after: lastAccepted)
            return .accepted(overrulesEarlier: false)
        }
        countAgreement(fix)
        guard candidateCount >= Self.requiredAgreements else { return .rejected(rejection) }
        let overrules = (lastAccepted ?? newest).map { $0.timeOfFix >= fix.timeOfFix } ?? false
        accept(fix, after: earlierCandidate)
        return .accepted(overrulesEarlier: overrules)
    }

    /// Returns the reason to reject `fix` unless other fixes confirm it; `nil` if there is no reason.
    private func rejectionReason(for fix: Fix, after measured: Fix?) -> FixRejection? {
        if let lastAccepted {
            var previous = lastAccepted
            var next = fix
            if let measured, measured.timeOfFix == lastAccepted.timeOfFix {
                previous = measured
                next = fix.completed(from: measured)
                previous.speedMetersPerSecond = measured.knownSpeedMetersPerSecond
            }
            let contradiction = Self.contradiction(between: previous, and: next)
            guard case .jump = contradiction, let earlierAccepted,
                fix.canContinue(from: earlierAccepted, via: lastAccepted)
            else {
                return contradiction
            }
            return nil
        }
        if let newest {
            if fix.timeOfFix <= newest.timeOfFix { return .notAdvancing }
            if newest.timeOfFix.duration(to: fix.timeOfFix) <= Self.maximumSilence {
                return Self.contradiction(between: newest, and: fix)
            }
        }
        guard let expected else { return nil }
        let distance = expected.duration(to: fix.timeOfFix)
        return distance > Self.maximumSilence || distance < .zero - Self.maximumSilence ? .unconfirmedTime : nil
    }

    /// Updates the count of consecutive rejected fixes that agree, including `fix`.
    private mutating func countAgreement(_ fix: Fix) {
        let agrees = candidate.map { Self.contradiction(between: $0, and: fix) == nil } ?? false
        candidateCount = agrees ? candidateCount + 1 : 1
        if let earlierCandidate, let candidate, fix.canContinue(from: earlierCandidate, via: candidate) {
            candidateCount = Self.requiredAgreements
        }
        earlierCandidate = candidate
        candidate = fix
    }

    private mutating func accept(_ fix: Fix, after previous: Fix?) {
        earlierAccepted = previous
        lastAccepted = fix
        hasAcceptedMeasured = hasAcceptedMeasured || fix.quality != .estimated
        candidate = nil
        earlierCandidate = nil
        candidateCount = 0
    }

    /// Returns the reason why `next` can't follow `previous`; `nil` if it can.
    private static func contradiction(between previous: Fix, and next: Fix) -> FixRejection? {
        guard next.timeOfFix > previous.timeOfFix else { return .notAdvancing }
        guard previous.timeOfFix.duration(to: next.timeOfFix) <= maximumSilence else { return .unconfirmedTime }
        if let rate = next.impossibleAcceleration(since: previous) {
            return .acceleration(metersPerSecondSquared: Int(rate.rounded()))
        }
        return next.isWithinReach(of: previous) ? nil : .jump(meters: Int(previous.distance(to: next).rounded()))
    }
}

/// `Plausibility`'s verdict on a fix.
package enum FixVerdict: Sendable, Hashable {
    /// `overrulesEarlier` says whether the fix proves earlier updates wrong, because its time isn't later than theirs.
    case accepted(overrulesEarlier: Bool)
    case rejected(FixRejection)
}

/// The reason why a fix is rejected.
package enum FixRejection: Sendable, Hashable {
    case positionOutOfRange
    /// Latitude and longitude are exactly 0, which gateways send when they have no data.
    case nullIsland
    case before(UTCTime)
    case after(UTCTime)
    case notAdvancing
    /// The position is estimated by dead reckoning, but no position has been measured by satellites yet. Before the
    /// first fix, the estimate is often the last known position.
    case estimatedBeforeMeasured
    /// The time is far from every time known so far. The fix is accepted once other fixes confirm its time.
    case unconfirmedTime
    case jump(meters: Int)
    /// The change of speed since the last fix is greater than any vehicle can achieve in that time.
    case acceleration(metersPerSecondSquared: Int)

    /// The value of the label that names this reason in a metric.
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
