package import ReportedText

/// Conditions of the service, its host and its outbox.
extension Condition {
    /// The clock that a wrong host clock was compared with.
    package enum ClockSource: Sendable, Hashable { case fleetEngine, receiver }

    /// Private zones are implausibly far from the vehicle. `zones` are their indices in the configuration.
    package init(distantZones zones: [Int]) {
        let names = zones.map { "reporting.privateZones[\($0)]" }.joined(separator: ", ")
        self.init(.privateZoneDistant, "\(text: names): more than 1,000 km from the vehicle")
    }

    /// The recording in `directory` has ended for `reason`. `remedy` is empty if the code's remedy helps.
    package init(recordingIn directory: String, endedBy reason: ReportedText, remedy: ReportedText) {
        self.init(.recordingStopped, Wording("\(directory): \(reason); reporting continues", remedy))
    }

    /// A reload was rejected because the new configuration has `problems`. Each rejection is reported, because it
    /// answers a request; `now` distinguishes them.
    package init(rejectedReload problems: [String], at now: Duration) {
        let cause = ReportedText(problems.joined(separator: "; "), limit: ReportedText.longestSentence)
        self.init(
            .reloadRejected, "the configuration in force stays: \(cause)", facts: .number(Int64(now / .milliseconds(1)))
        )
    }

    /// The token was not renewed because of `failure`; the current one is valid for `remaining`.
    package init(renewalFailedBy failure: Condition, remaining: Duration) {
        self.init(
            .tokenRenewalFailing,
            Wording("\(failure.cause); the current one is used for \(remaining.spoken) more", failure.remedy))
    }

    /// The status address can't be listened on for `reason`. `remedy` is empty if the code's remedy helps.
    package init(statusAddressUnavailable reason: ReportedText, remedy: ReportedText) {
        self.init(.statusAddressUnavailable, Wording(reason, remedy))
    }

    /// The last run ended itself at `time`, because of `reason`.
    package init(stalledAt time: String, _ reason: String) { self.init(.lastRunStalled, "\(time): \(reason)") }

    /// Fixes carry a time that is `lag` in the past, or in the future if `lag` is negative.
    package init(receiverLag lag: Duration) {
        let side = lag > .zero ? "behind" : "ahead of"
        self.init(.receiverTimeWrong, "\(lag.spoken) \(text: side) the present, and positions are sent with it")
    }

    /// The host's clock is `offset` ahead of another clock, or slow by that much if `offset` is negative.
    package init(hostClockOffset offset: Duration, from other: ClockSource) {
        let side = offset > .zero ? "ahead of" : "behind"
        let clock = other == .fleetEngine ? "Fleet Engine's" : "the receiver's"
        self.init(
            .hostClockWrong, "\(offset.spoken) \(text: side) \(text: clock); updates carry the receiver's time")
    }

    /// Pending updates fill `percent` of the outbox's limit.
    package init(outboxFilledTo percent: Int64, ofBytes maximumBytes: Int64) {
        self.init(
            .outboxNearlyFull,
            "\(percent) % of \(maximumBytes / 1_000_000) MB; near the limit, old tracks lose points")
    }

    /// This many updates were evicted since the start so that the others keep the track.
    package init(thinned count: Int64) {
        self.init(
            .updatesThinned, "\(text: count.counted("update")) evicted since the start; the others keep the track")
    }

    /// This many updates were evicted since the start, the oldest first.
    package init(lost count: Int64) {
        self.init(.updatesLost, "\(text: count.counted("update")) evicted since the start, the oldest first")
    }
}
