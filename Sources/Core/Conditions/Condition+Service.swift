package import ReportedText
package import Reporting

/// Conditions of the service, its host and its outbox.
extension Condition {
    /// The clock that shows that the host's clock is wrong.
    package enum ClockSource: Sendable, Hashable { case fleetEngine, receiver }

    /// Creates the condition for private zones that are implausibly far from the vehicle. `zones` are the zones'
    /// indices in the configuration.
    package init(distantZones zones: [Int]) {
        let names = zones.map { "reporting.privateZones[\($0)]" }.joined(separator: ", ")
        self.init(
            .privateModeMisconfigured,
            Wording(
                "\(text: names): more than 1,000 km from the vehicle",
                "check that latitude and longitude are not swapped"), facts: .zones(zones))
    }

    /// Creates the condition for a private switch at `path` that can't work.
    package init(privateSwitch finding: CheckFinding.PrivateSwitch, at path: String) {
        self.init(
            .privateModeMisconfigured, CheckFinding.privateSwitch(finding, path: path).wording,
            facts: .privateSwitch(finding))
    }

    /// Creates the condition for an interface of the operating system that is unavailable because of `error`.
    package init(unavailable interface: SystemInterface, because error: any Error) {
        self.init(
            .systemInterfaceUnavailable, Wording("\(interface.consequence) (\(error))", interface.remedy),
            facts: .systemInterface(interface))
    }

    /// Creates the condition for a recording in `directory` that was ended by `refusal`, or otherwise by `error`.
    package init(recordingIn directory: String, endedBy error: any Error, _ refusal: PathRefusal?) {
        let wording = refusal?.wording ?? Wording("\(error)", "")
        self.init(.recordingStopped, Wording("\(directory): \(wording.cause); reporting continues", wording.remedy))
    }

    /// Creates the condition for a rejected reload. `problem` and `others` are the reasons, each with its location in
    /// the configuration, the value and the remedy. `now` makes each rejection a different condition, so that each is
    /// logged, because the operator expects an answer.
    package init(rejectedReload problem: ReportedText, and others: [ReportedText] = [], at now: Duration) {
        self.init(
            .reloadRejected, Wording(problem, ""), and: others.map { Wording($0, "") },
            facts: .number(Int64(now / .milliseconds(1))))
    }

    /// Creates the condition for a token that wasn't renewed because of `failure`. The current token stays valid for
    /// `remaining`.
    package init(renewalFailedBy failure: Condition, remaining: Duration) {
        self.init(
            .tokenRenewalFailing,
            Wording(
                "\(failure.cause); the current token remains in use for at most another \(remaining.humanReadable)",
                failure.remedy),
            facts: .causedBy(failure.code, failure.facts))
    }

    /// Creates the condition for `files`, which other users can change. Returns `nil` if `files` is empty.
    package init?(exposed files: [Wording]) {
        guard let first = files.first else { return nil }
        self.init(.configurationExposed, first, and: Array(files.dropFirst()))
    }

    /// Creates the condition for a status address that Waypost can't listen on.
    package init(statusAddress address: String, unavailable fault: ListenFault) {
        let wording = fault.wording(on: address)
        self.init(.statusAddressUnavailable, Wording("status.listen: \(wording.cause)", wording.remedy))
    }

    /// Creates the condition for a run that terminated itself at `time` because of `reason`.
    package init(stalledAt time: String, _ reason: String) { self.init(.lastRunStalled, "\(time): \(reason)") }

    /// Creates the condition for fixes whose time is behind the current time by `lag`, or ahead of it if `lag` is
    /// negative.
    package init(receiverLag lag: Duration) {
        let side = lag > .zero ? "behind" : "ahead of"
        self.init(
            .receiverTimeWrong,
            "\(lag.humanReadable) \(text: side) the current time; positions are sent with the receiver's time",
            facts: .clock(nil, isAhead: lag < .zero))
    }

    /// Creates the condition for a host's clock that is ahead of the `other` clock by `offset`, or behind it if
    /// `offset` is negative.
    package init(hostClockOffset offset: Duration, from other: ClockSource) {
        let side = offset > .zero ? "ahead of" : "behind"
        let clock = other == .fleetEngine ? "Fleet Engine's" : "the receiver's"
        self.init(
            .hostClockWrong, "\(offset.humanReadable) \(text: side) \(text: clock); updates carry the receiver's time",
            facts: .clock(other, isAhead: offset > .zero))
    }

    /// Creates the condition for pending updates that take up `percent` percent of the outbox's limit of
    /// `maximumBytes`.
    package init(outboxFilledTo percent: Int64, ofBytes maximumBytes: Int64) {
        self.init(
            .outboxNearlyFull,
            "\(percent) % of \(maximumBytes / 1_000_000) MB; near the limit, points are removed from old tracks")
    }

    /// Creates the condition for `count` updates that the outbox has evicted since the start. The updates that remain
    /// still preserve the track.
    package init(thinned count: Int64) {
        self.init(
            .updatesThinned, "\(text: count.counted("update")) evicted since the start; the others preserve the track")
    }

    /// Creates the condition for the updates that the outbox has evicted since the start: `oldest` because it was full,
    /// and `aged` because of their age. At least one of the numbers isn't zero.
    package init(lostOldest oldest: Int64, aged: Int64) {
        func wording(_ count: Int64, _ reason: ReportedText, _ key: ReportedText) -> Wording? {
            count == 0
                ? nil
                : Wording(
                    "\(text: count.counted("update")) evicted since the start, \(reason)",
                    "find out why nothing is delivered, or raise outbox.\(key)")
        }
        let wordings = [
            wording(oldest, "the oldest first, because the outbox was full", "maximumMegabytes"),
            wording(aged, "because of age", "maximumAgeDays"),
        ].compactMap(\.self)
        self.init(.updatesLost, wordings[0], and: Array(wordings.dropFirst()))
    }
}

/// An interface of the operating system that the service uses to supervise itself and its host.
package enum SystemInterface: Sendable, Hashable, CaseIterable {
    /// rtnetlink, which reports new addresses and routes.
    case networkChanges
    /// The timer with which the service detects that one of its stages has stalled.
    case stallDetection
    /// The socket of the service manager, `NOTIFY_SOCKET`.
    case serviceManager

    fileprivate var consequence: ReportedText {
        switch self {
        case .networkChanges: "the kernel doesn't report network changes, so delivery waits for its next retry"
        case .stallDetection: "stalled stages aren't detected"
        case .serviceManager: "the service manager receives no messages"
        }
    }

    /// The remedy; empty for the catalog's.
    fileprivate var remedy: ReportedText {
        switch self {
        case .serviceManager: "start the service through systemd, or remove the variable NOTIFY_SOCKET"
        case .networkChanges, .stallDetection: ""
        }
    }
}
