import FleetEngine
import GNSS
package import LocationReporting

/// From what happens in the pipeline to the decisions in a recording: the same words when it is made and when it is
/// played again. Pure.
package struct FlightWords: Sendable {
    /// Why the next wait is.
    private var reason = "outbox"

    package init() {}

    /// The entry for `event`; `nil` when it is no decision.
    package mutating func entry(for event: ReportingEvent, at now: Int) -> FlightEntry? {
        let entry = FlightEntry(at: now)
        switch event {
        case .accepted(let stored):
            return entry.with(\.accepted, stored.sequence).with(\.timeOfFix, stored.update.timeOfFix.description)
        case .notStored(let error): return entry.with(\.notStored, error.code.rawValue)
        case .uploading(let batch): return entry.with(\.uploading, batch.pending.count)
        case .waiting(let delay, _): return entry.with(\.waiting, delay.milliseconds).with(\.reason, reason)
        case .quarantined(let stored, _): return entry.with(\.quarantined, stored.sequence)
        case .failed(let outcome, _): reason = outcome.word
        case .noToken: reason = "token"
        case .outboxFailed: reason = "outbox"
        case .receiver, .receiverWarning, .progress, .fix, .refused, .delivered, .serverTime, .idle, .stateSent: break
        }
        return nil
    }
}

extension UploadOutcome {
    /// Its kind, without the other side's words.
    var word: String {
        switch self {
        case .delivered: "delivered"
        case .tokenRefused: "tokenRefused"
        case .retry: "retry"
        case .throttled: "throttled"
        case .unreachable: "unreachable"
        case .intercepted: "intercepted"
        case .hold: "hold"
        case .rejected: "rejected"
        }
    }
}

extension Duration {
    /// Whole milliseconds.
    var milliseconds: Int { Int(self / .milliseconds(1)) }
}
