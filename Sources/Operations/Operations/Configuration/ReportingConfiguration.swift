import ReportedText
package import Reporting

/// The settings for reporting: when updates are made, and what they contain.
package struct ReportingConfiguration: Sendable, Hashable {
    package var policy: ReportingPolicy.Kind
    package var heartbeat: Duration
    /// The maximum distance in metres between a fix and the reported track. If it is `nil`, updates contain no
    /// additional points between their positions.
    package var trackToleranceMeters: Double?
    package var privateZones: [PrivateZone]

    /// The values of `reporting.policy`.
    enum PolicyWord: String, CaseIterable { case interval, accuracy }

    init(_ root: inout ConfigurationSection) {
        var section = root.section("reporting", "the rules for when updates are made and what they contain")
        let word = section.choice(
            "policy", default: PolicyWord.interval,
            "the policy for a moving vehicle: report at a fixed interval (interval), or when a follower's extrapolated position is too far off (accuracy)"
        )
        let intervalKey: String
        let otherPolicyKeys: [String]
        switch word {
        case .interval:
            intervalKey = "intervalSeconds"
            otherPolicyKeys = ["liveToleranceMeters", "maximumIntervalSeconds"]
            policy = .interval(
                section.seconds(
                    intervalKey, in: 5...60, default: 10, "the time between two updates of a moving vehicle"))
        case .accuracy:
            intervalKey = "maximumIntervalSeconds"
            otherPolicyKeys = ["intervalSeconds"]
            policy = .accuracy(
                liveToleranceMeters: section.integer(
                    "liveToleranceMeters", in: 10...1000, default: 50,
                    "the maximum distance between the vehicle and a follower's extrapolated position, for the policy accuracy"
                ),
                maximumInterval: section.seconds(
                    intervalKey, in: 5...60, default: 30,
                    "the maximum time between two updates of a moving vehicle, for the policy accuracy"))
        }
        let others = otherPolicyKeys.compactMap { key in section.readMember(key).map { (key: key, value: $0) } }
        heartbeat = section.seconds(
            "heartbeatSeconds", in: 5...60, default: 60,
            "the time between two updates of a parked vehicle; at least the interval of a moving vehicle")
        trackToleranceMeters = section.integer(
            "trackToleranceMeters", in: 1...1000, default: 5, or: "off",
            "the maximum distance of the reported track from any fix"
        ).map(Double.init)
        privateZones = section.circles(
            "privateZones", atMost: 50, "the circles in which positions are not stored, sent or shown")
        section.finish()
        guard !section.isRejected("policy") else { return }
        for (key, value) in others {
            section.reportWrong(
                key, value,
                advice: "it has no effect with the policy \"\(word.rawValue)\": remove it, or choose the other policy")
        }
        section.require(
            "heartbeatSeconds", lasting: heartbeat, notShorterThan: intervalKey, lasting: policy.maximumInterval)
    }
}

extension ReportingConfiguration {
    /// A description of when updates are made, for the status report.
    package var schedule: String {
        let parked = "every \(heartbeat.humanReadable) while parked"
        return switch policy {
        case .interval(let interval): "every \(interval.humanReadable); \(parked)"
        case .accuracy(let meters, let maximum):
            "when the position that a follower extrapolates would be \(meters) m off, and at least every \(maximum.humanReadable); \(parked)"
        }
    }
}
