import Conditions
import ReportedText
import Reporting
import TimeAndRandomness
import Operations

/// The state of the service that the live view shows: its last report, and events found by comparing successive
/// reports.
struct WatchedService: Sendable, Hashable {
    struct Event: Sendable, Hashable {
        enum Kind: Sendable, Hashable { case good, bad, neutral }

        let time: UTCTime
        let kind: Kind
        let text: String
    }

    /// A period in which the service doesn't answer, and the reason.
    struct Silence: Sendable, Hashable {
        let since: UTCTime
        let reason: String
    }

    private(set) var report: StatusReport?
    private(set) var silence: Silence?
    /// The events, newest first.
    private(set) var events: [Event] = []

    /// The maximum number of events to keep, which is larger than the number of lines of any usual terminal.
    private static let maximumEvents = 200

    mutating func note(_ answer: Result<StatusReport, AgentError>, at now: UTCTime) {
        switch answer {
        case .failure(let error):
            if silence == nil { add(.bad, "the service does not answer", at: now) }
            silence = Silence(since: silence?.since ?? now, reason: error.description)
        case .success(let newReport):
            if silence != nil { add(.good, "the service answers again", at: now) }
            silence = nil
            addEvents(from: newReport, since: report, at: now)
            report = newReport
        }
    }

    private mutating func addEvents(from newReport: StatusReport, since previous: StatusReport?, at now: UTCTime) {
        guard let previous, newReport.uptimeSeconds >= previous.uptimeSeconds else {
            if previous != nil { add(.neutral, "the service has restarted", at: now) }
            if let seconds = newReport.delivery.secondsSinceDelivery {
                add(.good, "last delivery", at: now.advanced(by: .zero - .seconds(seconds)))
            }
            for condition in newReport.conditions { add(condition, at: now) }
            return
        }
        if newReport.counts.tokenFetches > previous.counts.tokenFetches { add(.neutral, "requested a token", at: now) }
        let delivered = newReport.ledger.delivered - previous.ledger.delivered
        if delivered > 0 { add(.good, "delivered \(delivered.counted("update"))", at: now) }
        let known = Set(previous.conditions.map(\.code))
        for condition in newReport.conditions where !known.contains(condition.code) { add(condition, at: now) }
        let active = Set(newReport.conditions.map(\.code))
        for condition in previous.conditions where !active.contains(condition.code) {
            add(condition.severity == .info ? .neutral : .good, "no longer: \(condition.title)", at: now)
        }
        let retries = newReport.counts.retries - previous.counts.retries
        if retries > 0 { add(.bad, retries.counted("retry", plural: "retries"), at: now) }
    }

    private mutating func add(_ condition: StatusReport.ReportedCondition, at time: UTCTime) {
        let kind: Event.Kind = condition.severity == .info ? .neutral : .bad
        for cause in condition.causes { add(kind, "\(condition.title): \(cause.cause)", at: time) }
    }

    private mutating func add(_ kind: Event.Kind, _ text: String, at time: UTCTime) {
        events.insert(Event(time: time, kind: kind, text: text), at: 0)
        events = Array(events.prefix(Self.maximumEvents))
    }
}
