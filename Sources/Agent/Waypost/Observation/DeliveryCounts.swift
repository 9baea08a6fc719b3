import FleetEngine
import GNSS
import HTTPMessages
package import LocationReporting

/// What has happened since the agent started, counted: the figures of summaries, status and metrics.
package struct DeliveryCounts: Sendable, Hashable {
    package var fixes = 0
    package var accepted = 0
    package var delivered = 0
    package var requests = 0
    package var retries = 0
    package var tokenFetches = 0
    package var bytesSent = 0
    package var bytesReceived = 0
    package var refusedFixes: [String: Int] = [:]
    package var receiverWarnings: [String: Int] = [:]
    package var notStored = 0
    package var quarantined = 0

    package init() {}

    /// Adds one event.
    package mutating func count(_ event: ReportingEvent) {
        switch event {
        case .fix: fixes += 1
        case .refused(_, let refusal): refusedFixes[refusal.label, default: 0] += 1
        case .receiverWarning(let warning): receiverWarnings[warning.label, default: 0] += 1
        case .accepted: accepted += 1
        case .notStored: notStored += 1
        case .uploading: requests += 1
        case .delivered(let batch, let traffic, _):
            delivered += batch.pending.count
            bytesSent += traffic.bytesSent
            bytesReceived += traffic.bytesReceived
        case .failed(let outcome, let traffic):
            if outcome.isFailedAttempt { retries += 1 }
            bytesSent += traffic.bytesSent
            bytesReceived += traffic.bytesReceived
        case .stateSent(_, let traffic):
            requests += 1
            bytesSent += traffic.bytesSent
            bytesReceived += traffic.bytesReceived
        case .quarantined: quarantined += 1
        case .receiver, .progress, .noToken, .outboxFailed, .waiting, .serverTime, .idle: break
        }
    }

    package static func + (one: Self, other: Self) -> Self {
        var sum = one
        sum.fixes += other.fixes
        sum.accepted += other.accepted
        sum.delivered += other.delivered
        sum.requests += other.requests
        sum.retries += other.retries
        sum.tokenFetches += other.tokenFetches
        sum.bytesSent += other.bytesSent
        sum.bytesReceived += other.bytesReceived
        sum.refusedFixes.merge(other.refusedFixes) { $0 + $1 }
        sum.receiverWarnings.merge(other.receiverWarnings) { $0 + $1 }
        sum.notStored += other.notStored
        sum.quarantined += other.quarantined
        return sum
    }
}
