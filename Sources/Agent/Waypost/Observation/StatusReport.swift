import GNSS
import HTTPMessages
package import LocationReporting
import ReportedText
package import SQLiteOutbox
import TimeAndChance

/// What the running service says of itself: `GET /status`, and the ground of `/healthz` and `/metrics`.
package struct StatusReport: Sendable, Hashable, Codable {
    package struct Receiver: Sendable, Hashable, Codable {
        package var state: String
        /// The kind of the state: `starting`, `receiving`, `noPosition`, `waiting` or `ended`.
        package var kind: String
        /// Seconds since the last accepted fix; absent before the first.
        package var secondsSinceFix: Int?
        package var timeOfFix: String?
        /// Of the last fix; `estimated` is dead reckoning.
        package var quality: String?
        /// What is wrong with the fixes that come; absent while they are accepted, or none come.
        package var refusal: String?
        /// The same in one word, a key of `refusedFixes`.
        package var refusalKind: String?
        /// What the receiver has warned of within the last ten minutes.
        package var warnings: [String]
    }

    package struct Delivery: Sendable, Hashable, Codable {
        package var secondsSinceDelivery: Int?
        /// Time of fix of the newest position that Fleet Engine has.
        package var timeOfFix: String?
        /// Why nothing is sent; absent while all is well.
        package var trouble: String?
        /// The kind of the trouble: `token`, `tokenRefused`, `retry`, `throttled`, `unreachable`, `intercepted`,
        /// `hold`, `rejected` or `outbox`.
        package var troubleKind: String?
        package var troubleSeconds: Int?
        /// Why the outbox takes no updates: positions are sent from memory only. Absent while it does.
        package var memoryOnly: String?
        package var memoryOnlySeconds: Int?
        /// Seconds until the next attempt, while one is waited for.
        package var nextAttemptSeconds: Int?
        /// Why the token cannot be renewed, while the one in hand serves; absent while it can, and when that has ended.
        package var renewalTrouble: String?
        package var renewalTroubleSeconds: Int?
        /// For how long the token in hand is used still, while it cannot be renewed.
        package var tokenSecondsLeft: Int?
    }

    /// What a crash may cost.
    package struct Durability: Sendable, Hashable, Codable {
        /// `full` or `economy`.
        package var mode: String
        /// A crash loses at most so many of the last updates; 0 with full durability.
        package var updatesAtRisk: Int
        /// And none accepted longer ago than this.
        package var secondsAtRisk: Int
    }

    /// The configuration in force.
    package struct Loaded: Sendable, Hashable, Codable {
        /// By the host's clock.
        package var loadedAt: String
        /// Why the last reload changed nothing; absent when it did, and before the first.
        package var problem: String?
        package var problemSeconds: Int?
    }

    package var version: String
    package var vehicle: String
    /// Absent where none can be reloaded, as in a replay.
    package var configuration: Loaded?
    package var uptimeSeconds: Int
    package var receiver: Receiver
    package var delivery: Delivery
    package var ledger: Ledger
    /// What was evicted, by reason.
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
    /// How often a stalled stage was bypassed, by stage.
    package var repairs: [String: Int]
    /// Why the last run ended itself; absent when it did not.
    package var lastStall: StallRecord?

    package init(
        vehicle: String, snapshot: AgentMonitor.Snapshot, outbox: StoreSummary, durability: OutboxDurability,
        at now: Duration
    ) {
        version = Release.version
        self.vehicle = vehicle
        configuration = snapshot.loadedAt.map { time in
            Loaded(
                loadedAt: time.description, problem: snapshot.rejectedReload?.reason,
                problemSeconds: seconds(from: snapshot.rejectedReload?.at, to: now))
        }
        uptimeSeconds = Int(now / .seconds(1))
        receiver = Receiver(snapshot, at: now)
        delivery = Delivery(snapshot, at: now)
        ledger = outbox.ledger
        evictions = TallyReport.byReason(outbox.evictions)
        quarantine = TallyReport(outbox.quarantined)
        self.durability = Durability(durability)
        requests = snapshot.counts.requests
        retries = snapshot.counts.retries
        tokenFetches = snapshot.counts.tokenFetches
        bytesSent = snapshot.counts.traffic.bytesSent
        bytesReceived = snapshot.counts.traffic.bytesReceived
        fixes = snapshot.counts.fixes
        refusedFixes = snapshot.counts.refusedFixes
        receiverWarnings = snapshot.counts.receiverWarnings
        notStored = snapshot.counts.notStored
        repairs = snapshot.storeRepairs > 0 ? [Stage.store.rawValue: snapshot.storeRepairs] : [:]
        lastStall = snapshot.lastStall
    }

    /// Whether all is well: a receiver without a fix, a delivery in trouble, an outbox that accepts nothing are
    /// reasons against it, each after some minutes.
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
        let token = delivery.tokenTrouble.map { "; the token \($0)" } ?? ""
        let reload = configuration?.problem.map { "; the last reload was rejected: \($0)" } ?? ""
        return "\(fix)\(why); \(sent); \(ledger.pending) pending\(trouble)\(memoryOnly)\(token)\(reload)"
    }
}

extension StatusReport.Receiver {
    /// Fixes come each second or so: the last one that was rejected longer ago than this says nothing of now.
    private static let newestRefusal = Duration.seconds(30)
    /// A warning that came longer ago than this says nothing of now.
    private static let newestWarning = Duration.seconds(600)

    fileprivate init(_ snapshot: AgentMonitor.Snapshot, at now: Duration) {
        let refusal = snapshot.lastRefusal.flatMap { last in
            now - last.at < Self.newestRefusal && last.at > (snapshot.lastFix?.at ?? .zero - .seconds(1))
                ? last.refusal : nil
        }
        self.init(
            state: snapshot.receiver?.description ?? "starting",
            kind: (snapshot.receiver?.kind ?? .starting).rawValue,
            secondsSinceFix: seconds(from: snapshot.lastFix?.at, to: now),
            timeOfFix: snapshot.lastFix?.fix.timeOfFix.description, quality: snapshot.lastFix?.fix.quality.rawValue,
            refusal: refusal?.description, refusalKind: refusal?.label,
            warnings: snapshot.warningsAt.filter { now - $0.value < Self.newestWarning }.map(\.key.description).sorted()
        )
    }
}

extension StatusReport.Delivery {
    fileprivate init(_ snapshot: AgentMonitor.Snapshot, at now: Duration) {
        let renewal = snapshot.renewalTrouble.flatMap { $0.tokenUntil > now ? $0 : nil }
        self.init(
            secondsSinceDelivery: seconds(from: snapshot.lastDelivery?.at, to: now),
            timeOfFix: snapshot.lastDelivery?.timeOfFix.description, trouble: snapshot.trouble?.clause.description,
            troubleKind: snapshot.trouble?.kind.rawValue,
            troubleSeconds: seconds(from: snapshot.trouble?.since, to: now),
            memoryOnly: snapshot.memoryOnly?.reason.description,
            memoryOnlySeconds: seconds(from: snapshot.memoryOnly?.since, to: now),
            nextAttemptSeconds: snapshot.waitsUntil.flatMap { $0 > now ? seconds(from: now, to: $0) : nil },
            renewalTrouble: renewal?.reason.description,
            renewalTroubleSeconds: seconds(from: renewal?.since, to: now),
            tokenSecondsLeft: renewal.flatMap { seconds(from: now, to: $0.tokenUntil) })
    }

    /// Why the token cannot be renewed, as what the token does: "lasts 29 min more and cannot be renewed: …".
    package var tokenTrouble: String? {
        renewalTrouble.map {
            "lasts \(Duration.seconds(tokenSecondsLeft ?? 0).spoken) more and cannot be renewed: \($0)"
        }
    }
}

/// Whole seconds.
private func seconds(from moment: Duration?, to later: Duration) -> Int? {
    moment.map { Int((later - $0) / .seconds(1)) }
}

extension StatusReport.Durability {
    package init(_ durability: OutboxDurability) {
        let window = durability.window
        self.init(
            mode: durability.rawValue, updatesAtRisk: window?.updates ?? 0,
            secondsAtRisk: window.map { Int($0.span / .seconds(1)) } ?? 0)
    }
}

/// How many updates met one fate and from which time, as status and listings print it.
package struct TallyReport: Sendable, Hashable, Codable {
    package let count: Int64
    /// Of the fixes; absent when none is known.
    package let firstTimeOfFix: String?
    package let lastTimeOfFix: String?

    package init(_ tally: UpdateTally) {
        count = tally.count
        firstTimeOfFix = tally.timesOfFix?.lowerBound.description
        lastTimeOfFix = tally.timesOfFix?.upperBound.description
    }

    /// All reasons, also those that have no update.
    package static func byReason(_ evictions: Evictions) -> [String: Self] {
        Dictionary(uniqueKeysWithValues: EvictionReason.allCases.map { ($0.rawValue, Self(evictions[$0])) })
    }
}
