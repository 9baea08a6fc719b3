import FoundationEssentials
import GNSS
package import LocationReporting
import ReportedText
package import SQLiteOutbox

/// What the running service says of itself: `GET /status`, and the ground of `/healthz` and `/metrics`.
package struct StatusReport: Sendable, Hashable, Codable {
    package struct Receiver: Sendable, Hashable, Codable {
        package var state: String
        /// The kind of the state: `starting`, `receiving`, `noPosition`, `waiting` or `ended`.
        package var kind: String
        /// Seconds since the last believed fix; absent before the first.
        package var secondsSinceFix: Int?
        package var timeOfFix: String?
        /// Of the last fix; `estimated` is dead reckoning.
        package var quality: String?
        /// What the receiver has warned of within the last ten minutes.
        package var warnings: [String]
    }

    package struct Delivery: Sendable, Hashable, Codable {
        package var secondsSinceDelivery: Int?
        /// Time of fix of the newest position that Fleet Engine has.
        package var timeOfFix: String?
        /// Why nothing is sent; absent while all is well.
        package var trouble: String?
        package var troubleSeconds: Int?
        /// Why the outbox takes no updates: positions are sent from memory only. Absent while it does.
        package var memoryOnly: String?
        package var memoryOnlySeconds: Int?
        /// Seconds until the next attempt, while one is waited for.
        package var nextAttemptSeconds: Int?
    }

    package struct Account: Sendable, Hashable, Codable {
        package var accepted, delivered, pending, evicted, quarantined: Int64
    }

    /// What an accepted update has to fear.
    package struct Durability: Sendable, Hashable, Codable {
        /// `full` or `economy`.
        package var mode: String
        /// A crash takes at most so many of the last updates; 0 with full durability.
        package var updatesAtRisk: Int
        /// And none accepted longer ago than this.
        package var secondsAtRisk: Int
    }

    package var version: String
    package var vehicle: String
    package var uptimeSeconds: Int
    package var receiver: Receiver
    package var delivery: Delivery
    package var ledger: Account
    /// What was given up, by reason.
    package var evictions: [String: TallyReport]
    package var quarantine: TallyReport
    package var durability: Durability
    package var requests: Int
    package var retries: Int
    package var tokenFetches: Int
    package var bytesSent: Int
    package var bytesReceived: Int
    package var fixes: Int
    package var refusedFixes: [String: Int]
    package var receiverWarnings: [String: Int]
    package var notStored: Int
    /// Repairs of stages that stood still, by stage.
    package var repairs: [String: Int]
    /// Why the last run ended itself; absent when it did not.
    package var lastStall: StallRecord?

    package init(
        vehicle: String, snapshot: AgentMonitor.Snapshot, outbox: StoreSummary, durability: OutboxDurability,
        at now: Duration
    ) {
        func seconds(since moment: Duration?) -> Int? { moment.map { Int((now - $0) / .seconds(1)) } }
        version = Release.version
        self.vehicle = vehicle
        uptimeSeconds = Int(now / .seconds(1))
        receiver = Receiver(
            state: snapshot.receiver?.description ?? "starting",
            kind: (snapshot.receiver?.kind ?? .starting).rawValue, secondsSinceFix: seconds(since: snapshot.lastFixAt),
            timeOfFix: snapshot.lastFix?.timeOfFix.description, quality: snapshot.lastFix?.quality.rawValue,
            warnings: snapshot.warningsAt.filter { now - $0.value < .seconds(600) }.map(\.key.description).sorted())
        delivery = Delivery(
            secondsSinceDelivery: seconds(since: snapshot.lastDeliveryAt),
            timeOfFix: snapshot.deliveredTimeOfFix?.description, trouble: snapshot.trouble?.description,
            troubleSeconds: seconds(since: snapshot.troubleSince), memoryOnly: snapshot.memoryOnly?.description,
            memoryOnlySeconds: seconds(since: snapshot.memoryOnlySince),
            nextAttemptSeconds: snapshot.waitsUntil.flatMap { $0 > now ? Int(($0 - now) / .seconds(1)) : nil })
        ledger = Account(outbox.ledger)
        evictions = TallyReport.byReason(outbox.evictions)
        quarantine = TallyReport(outbox.quarantined)
        self.durability = Durability(durability)
        requests = snapshot.counts.requests
        retries = snapshot.counts.retries
        tokenFetches = snapshot.counts.tokenFetches
        bytesSent = snapshot.counts.bytesSent
        bytesReceived = snapshot.counts.bytesReceived
        fixes = snapshot.counts.fixes
        refusedFixes = snapshot.counts.refusedFixes
        receiverWarnings = snapshot.counts.receiverWarnings
        notStored = snapshot.counts.notStored
        repairs = Dictionary(uniqueKeysWithValues: snapshot.repairs.map { ($0.key.rawValue, $0.value) })
        lastStall = snapshot.lastStall
    }

    /// Whether somebody should look: a receiver without a fix, a delivery in trouble, an outbox that takes nothing are
    /// reasons, each after some minutes.
    package var isHealthy: Bool {
        (delivery.troubleSeconds ?? 0) < 300 && (delivery.memoryOnlySeconds ?? 0) < 300
            && (receiver.secondsSinceFix ?? uptimeSeconds) < 300
    }

    private var fixIsExpected: Bool {
        receiver.kind == ReceiverState.Kind.receiving.rawValue && receiver.secondsSinceFix != nil
    }

    /// One line for `systemctl status`.
    package var headline: String {
        let fix = receiver.secondsSinceFix.map { "last fix \($0) s ago" } ?? "no fix yet"
        let why = fixIsExpected ? "" : " (\(receiver.state))"
        let sent = delivery.secondsSinceDelivery.map { "last delivery \($0) s ago" } ?? "nothing delivered yet"
        let trouble = delivery.trouble.map { "; \($0)" } ?? ""
        let memoryOnly = delivery.memoryOnly.map { "; positions are sent from memory only: \($0)" } ?? ""
        return "\(fix)\(why); \(sent); \(ledger.pending) pending\(trouble)\(memoryOnly)"
    }
}

extension StatusReport.Account {
    package init(_ ledger: Ledger) {
        self.init(
            accepted: ledger.accepted, delivered: ledger.delivered, pending: ledger.pending, evicted: ledger.evicted,
            quarantined: ledger.quarantined)
    }
}

extension StatusReport.Durability {
    package init(_ durability: OutboxDurability) {
        let window = durability.window
        self.init(
            mode: durability.rawValue, updatesAtRisk: window?.updates ?? 0,
            secondsAtRisk: window.map { Int($0.span / .seconds(1)) } ?? 0)
    }
}
