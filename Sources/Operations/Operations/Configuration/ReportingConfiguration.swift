import ReportedText
package import Reporting

/// When updates are made, and what goes with them.
package struct ReportingConfiguration: Sendable, Hashable {
    package var policy: ReportingPolicy.Kind
    package var heartbeat: Duration
    /// How far the told track may be from a fix; `nil`: updates alone are told.
    package var trackToleranceMeters: Double?
    package var privateZones: [PrivateZone]

    /// The words of `reporting.policy`.
    enum PolicyWord: String, CaseIterable { case interval, accuracy }

    init(_ root: inout ConfigurationSection) {
        var section = root.section("reporting", "when updates are made, and what goes with them")
        let word = section.choice(
            "policy", default: PolicyWord.interval,
            "interval: at a fixed interval; accuracy: when who lets the last one drive on is too far off")
        let longest: String
        let foreign: [String]
        switch word {
        case .interval:
            longest = "intervalSeconds"
            foreign = ["liveToleranceMeters", "maximumIntervalSeconds"]
            policy = .interval(
                section.seconds(longest, in: 5...60, default: 10, "between two updates of a moving vehicle"))
        case .accuracy:
            longest = "maximumIntervalSeconds"
            foreign = ["intervalSeconds"]
            policy = .accuracy(
                liveToleranceMeters: section.integer(
                    "liveToleranceMeters", in: 10...1000, default: 50,
                    "with accuracy: how far a follower who lets the last update drive on may be from the vehicle"),
                maximumInterval: section.seconds(
                    longest, in: 5...60, default: 30, "with accuracy: most time between two updates of a moving vehicle"
                ))
        }
        let others = foreign.compactMap { key in section.member(key).map { (key: key, value: $0) } }
        heartbeat = section.seconds(
            "heartbeatSeconds", in: 5...60, default: 60,
            "between two updates of a parked vehicle; not below the longest of a moving one")
        trackToleranceMeters = section.integer(
            "trackToleranceMeters", in: 1...1000, default: 5, or: "off",
            "how far the track told by an update and its shape points may be from any fix"
        ).map(Double.init)
        privateZones = section.circles(
            "privateZones", atMost: 50, "where nothing is kept, sent or shown of where the vehicle is"
        ).map { PrivateZone(latitude: $0.latitude, longitude: $0.longitude, radiusMeters: $0.radiusMeters) }
        section.finish()
        guard !section.isRejected("policy") else { return }  // nothing follows from a misspelt one
        for (key, value) in others {
            section.wrong(
                key, value,
                "it does nothing with the policy \"\(word.rawValue)\": remove it, or choose the other policy")
        }
        section.require("heartbeatSeconds", heartbeat, notBelow: longest, policy.maximumInterval)
    }
}

extension ReportingConfiguration {
    /// When updates are made, for the status.
    package var words: String {
        let parked = "parked every \(heartbeat.spoken)"
        return switch policy {
        case .interval(let interval): "every \(interval.spoken), \(parked)"
        case .accuracy(let meters, let longest):
            "when a follower would be \(meters) m off, at least every \(longest.spoken), \(parked)"
        }
    }
}
