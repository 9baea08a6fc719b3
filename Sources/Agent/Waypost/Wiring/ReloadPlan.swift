import FleetEngine
import SQLiteOutbox

/// What a reload does with a running agent, by the keys whose values differ. Pure.
package struct ReloadPlan: Sendable, Hashable {
    /// A part of the agent that goes on in another way.
    package enum Part: String, Sendable, Hashable, CaseIterable {
        /// The receiver is opened, in place of the one before.
        case receiver
        /// Tokens come from another provider, or in another way; those in hand are dropped.
        case tokens
        /// Updates are sent over a connection of their own, to the endpoint that is configured now.
        case delivery
        /// Updates are made by another policy, or in other intervals.
        case intervals
        /// The vehicle is private elsewhere, or by another switch.
        case privateMode
        /// Another state is told on stop.
        case stateOnStop
        case log
    }

    /// The keys of which a new value needs a restart. Where there is one, nothing of the reload is applied.
    package private(set) var restartKeys: [String] = []
    package private(set) var parts: Set<Part> = []

    package init(from old: Configuration, to new: Configuration) {
        func note<Value: Equatable>(_ value: (Configuration) -> Value, needsRestartOf key: String) {
            if value(old) != value(new) { restartKeys.append(key) }
        }
        func note<Value: Equatable>(_ value: (Configuration) -> Value, changes changed: Part...) {
            if value(old) != value(new) { parts.formUnion(changed) }
        }
        // What waits in the outbox is this vehicle's.
        note(\.vehicle.providerID, needsRestartOf: "vehicle.providerId")
        note(\.vehicle.vehicleID, needsRestartOf: "vehicle.vehicleId")
        note(\.vehicle.service, needsRestartOf: "vehicle.service")
        // The outbox stays open.
        note(\.outbox.path, needsRestartOf: "outbox.path")
        note(\.outbox.maximumBytes, needsRestartOf: "outbox.maximumMegabytes")
        note(\.outbox.maximumAge, needsRestartOf: "outbox.maximumAgeDays")
        note(\.outbox.durability, needsRestartOf: "outbox.durability")
        note(\.statusAddress, needsRestartOf: "status.listen")
        if old.receiver != new.receiver {
            // With a log, or the input, the service ends; and a log's fixes are judged by other rules.
            if old.receiverEnds || new.receiverEnds { restartKeys.append("receiver") } else { parts.insert(.receiver) }
        }
        note(\.authorization, changes: .tokens, .delivery)
        note(\.upload, changes: .delivery)
        note(\.stateWhileRunning, changes: .delivery)
        note(\.stateOnStop, changes: .stateOnStop)
        note(\.reporting.heartbeat, changes: .delivery)
        note(\.privateWhen, changes: .privateMode)
        note(\.reporting.privateZones, changes: .privateMode)
        note(
            {
                var reporting = $0.reporting
                reporting.privateZones = []
                return reporting
            }, changes: .intervals)
        note(\.log, changes: .log)
    }

    /// Adds what differs between the files that the connections in use were made with, and those of now.
    mutating func note(_ old: CertificateFileStates, _ new: CertificateFileStates) {
        if old.upload != new.upload { parts.insert(.delivery) }
        if old.tokens != new.tokens { parts.formUnion([.tokens, .delivery]) }
    }

    /// What has changed, for the log.
    var words: String {
        let words: [(Part, String)] = [
            (.receiver, "the receiver is opened anew"), (.tokens, "tokens are fetched anew"),
            (.delivery, "updates are sent by the new values"), (.intervals, "intervals"),
            (.privateMode, "when the vehicle is private"), (.stateOnStop, "the state on stop"), (.log, "the log"),
        ]
        let changes = words.filter { parts.contains($0.0) }.map(\.1)
        return changes.isEmpty ? "nothing has changed" : "changed: " + changes.joined(separator: ", ")
    }
}

extension Configuration {
    /// Whether the receiver comes to an end by itself, and the service with it.
    fileprivate var receiverEnds: Bool { readsRecording || receiver.source == .standardInput }
}
