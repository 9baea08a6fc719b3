import GNSS
import HTTPMessages
package import LocationReporting
import ReportedText
package import SQLiteOutbox
package import TimeAndChance

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

    /// What an accepted update has to fear.
    package struct Durability: Sendable, Hashable, Codable {
        /// `full` or `economy`.
        package var mode: String
        /// A crash loses at most so many of the last updates; 0 with full durability.
        package var updatesAtRisk: Int
        /// And none accepted longer ago than this.
        package var secondsAtRisk: Int
    }

    package var version: String
    package var vehicle: String
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
        func seconds(since moment: Duration?) -> Int? { moment.map { Int((now - $0) / .seconds(1)) } }
        version = Release.version
        self.vehicle = vehicle
        uptimeSeconds = Int(now / .seconds(1))
        receiver = Receiver(
            state: snapshot.receiver?.description ?? "starting",
            kind: (snapshot.receiver?.kind ?? .starting).rawValue,
            secondsSinceFix: seconds(since: snapshot.lastFix?.at),
            timeOfFix: snapshot.lastFix?.fix.timeOfFix.description, quality: snapshot.lastFix?.fix.quality.rawValue,
            warnings: snapshot.warningsAt.filter { now - $0.value < .seconds(600) }.map(\.key.description).sorted())
        delivery = Delivery(
            secondsSinceDelivery: seconds(since: snapshot.lastDelivery?.at),
            timeOfFix: snapshot.lastDelivery?.timeOfFix.description, trouble: snapshot.trouble?.reason.description,
            troubleSeconds: seconds(since: snapshot.trouble?.since),
            memoryOnly: snapshot.memoryOnly?.reason.description,
            memoryOnlySeconds: seconds(since: snapshot.memoryOnly?.since),
            nextAttemptSeconds: snapshot.waitsUntil.flatMap { $0 > now ? Int(($0 - now) / .seconds(1)) : nil })
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
        return "\(fix)\(why); \(sent); \(ledger.pending) pending\(trouble)\(memoryOnly)"
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

extension StatusReport {
    /// The same in Prometheus's text format, version 0.0.4.
    package var metrics: String {
        var text = ""
        func family(_ name: String, _ kind: String, _ help: String, _ samples: [(labels: String, value: Int)]) {
            text += "# HELP waypost_\(name) \(help)\n# TYPE waypost_\(name) \(kind)\n"
            for sample in samples {
                text += "waypost_\(name)\(sample.labels.isEmpty ? "" : "{\(sample.labels)}") \(sample.value)\n"
            }
        }
        family(
            "updates", "gauge", "Updates since the outbox was created, by state.",
            [
                ("state=\"accepted\"", Int(ledger.accepted)), ("state=\"delivered\"", Int(ledger.delivered)),
                ("state=\"pending\"", Int(ledger.pending)), ("state=\"evicted\"", Int(ledger.evicted)),
                ("state=\"quarantined\"", Int(ledger.quarantined)),
            ])
        family(
            "updates_evicted", "gauge", "Updates evicted since the outbox was created, by reason.",
            evictions.sorted { $0.key < $1.key }.map { ("reason=\"\($0.key)\"", Int($0.value.count)) })
        family("fixes_total", "counter", "Fixes that were not rejected.", [("", fixes)])
        family(
            "fixes_refused_total", "counter", "Fixes that were rejected, by reason.",
            refusedFixes.sorted { $0.key < $1.key }.map { ("reason=\"\($0.key)\"", $0.value) })
        family(
            "receiver_warnings_total", "counter", "Warnings of the receiver, by kind.",
            receiverWarnings.sorted { $0.key < $1.key }.map { ("kind=\"\($0.key)\"", $0.value) })
        family("updates_not_stored_total", "counter", "Updates that the outbox could not store.", [("", notStored)])
        family("requests_total", "counter", "Requests sent to Fleet Engine.", [("", requests)])
        family("retries_total", "counter", "Failed requests, except those that put delivery on hold.", [("", retries)])
        family("token_fetches_total", "counter", "Tokens asked of the issuer.", [("", tokenFetches)])
        family("sent_bytes_total", "counter", "Bytes of requests to Fleet Engine.", [("", bytesSent)])
        family("received_bytes_total", "counter", "Bytes of answers from Fleet Engine.", [("", bytesReceived)])
        family("uptime_seconds", "gauge", "Seconds since the start.", [("", uptimeSeconds)])
        family(
            "receiver_state", "gauge", "1 for the state that the receiver is in.",
            ReceiverState.Kind.allCases.map { ("state=\"\($0.rawValue)\"", $0.rawValue == receiver.kind ? 1 : 0) })
        if let seconds = receiver.secondsSinceFix {
            family("seconds_since_fix", "gauge", "Seconds since the last fix that was not rejected.", [("", seconds)])
        }
        if let seconds = delivery.secondsSinceDelivery {
            family("seconds_since_delivery", "gauge", "Seconds since the last delivery.", [("", seconds)])
        }
        family(
            "repairs_total", "counter", "How often a stalled stage was bypassed, by stage.",
            Stage.allCases.map { ("stage=\"\($0.rawValue)\"", repairs[$0.rawValue] ?? 0) })
        family(
            "last_run_stalled", "gauge", "1 for the stage whose stall ended the last run.",
            Stage.allCases.map { ("stage=\"\($0.rawValue)\"", lastStall?.stage == $0 ? 1 : 0) })
        family("healthy", "gauge", "1 while nothing needs attention.", [("", isHealthy ? 1 : 0)])
        return text
    }
}

extension StatusReport {
    /// Why nothing is sent, or that all is well, in one sentence; `now` is the present, for the times in it.
    package func why(at now: UTCTime) -> String {
        if let trouble = delivery.trouble {
            let since = delivery.troubleSeconds.map { Self.moment($0, before: now) } ?? "now"
            let next =
                delivery.nextAttemptSeconds.map { ", the next attempt is in \(Duration.seconds($0).spoken)" } ?? ""
            return "Nothing has been sent since \(since): \(trouble)\(next); \(safety)."
        }
        if let receiver = receiverTrouble(at: now) { return receiver }
        guard let delivered = delivery.secondsSinceDelivery else {
            return "Nothing has been sent yet: the service started \(Duration.seconds(uptimeSeconds).spoken) ago, and "
                + "its first update is on its way; \(safety)."
        }
        if delivered > Self.longestSilence {
            return "Nothing has been sent since \(Self.moment(delivered, before: now)), and no stage has reported why; "
                + "\(safety); look at the log."
        }
        let rest = ledger.pending > 1 ? "\(Self.grouped(ledger.pending)) updates are pending" : "nothing is pending"
        return "All is well: the last delivery was \(Duration.seconds(delivered).spoken) ago, \(rest)."
    }

    /// A heartbeat goes out each minute, and may fail twice before anybody should wonder.
    private static let longestSilence = 180
    /// A receiver that is well gives a fix each second or so.
    private static let longestWithoutFix = 90

    private func receiverTrouble(at now: UTCTime) -> String? {
        let state = receiver.state
        let last = receiver.secondsSinceFix.map { Self.moment($0, before: now) }
        switch ReceiverState.Kind(rawValue: receiver.kind) {
        case .starting where last == nil:
            return "There is no position yet: \(state); \(repetition)."
        case .waiting, .noPosition, .ended:
            return "There is no new position since \(last ?? "the start"): \(state); \(repetition)."
        case .receiving, .starting, nil:
            guard (receiver.secondsSinceFix ?? uptimeSeconds) > Self.longestWithoutFix else { return nil }
            let cause =
                refusedFixes.max { ($0.value, $1.key) < ($1.value, $0.key) }
                .map { "fixes arrive but are rejected (\(Self.grouped(Int64($0.value))) times \($0.key))" } ?? state
            return "There is no new position since \(last ?? "the start"): \(cause); \(repetition)."
        }
    }

    /// What becomes of the last known position while there is no newer one.
    private var repetition: String {
        delivery.secondsSinceDelivery == nil
            ? safety : "the last known one is repeated each minute, and \(safety)"
    }

    private var safety: String {
        switch ledger.pending {
        case 0: "no update is pending"
        case 1: "1 update is safe"
        default: "\(Self.grouped(ledger.pending)) updates are safe"
        }
    }

    /// `09:14 UTC`, with its date when that is another day's.
    private static func moment(_ seconds: Int, before now: UTCTime) -> String {
        let time = now.advanced(by: .zero - .seconds(seconds))
        let text = time.description
        let (date, clock) = (text.prefix(10), text.dropFirst(11).prefix(5))
        return time.civilDate == now.civilDate ? "\(clock) UTC" : "\(date) \(clock) UTC"
    }

    /// `1,204`.
    static func grouped(_ number: Int64) -> String {
        var digits = String(number)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits = String(digits.dropLast(3))
        }
        return ([digits] + groups).joined(separator: ",")
    }
}
