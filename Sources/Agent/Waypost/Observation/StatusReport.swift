import Conditions
import GNSS
import HTTPMessages
import ReportedText
package import Reporting
package import SQLiteOutbox
package import TimeAndChance

/// What the running service says of itself: `GET /status`, and the ground of `/healthz` and `/metrics`.
package struct StatusReport: Sendable, Hashable, Codable {
    package struct Receiver: Sendable, Hashable, Codable {
        package var state: String
        /// The kind of the state: `starting`, `receiving`, `no_position`, `waiting` or `ended`.
        package var kind: String
        /// Seconds since the last accepted fix; absent before the first.
        package var secondsSinceFix: Int?
        /// Seconds since the first one of this run.
        package var secondsSinceFirstFix: Int?
        package var timeOfFix: String?
        /// By how much the time of the last fix was ahead of Fleet Engine's; absent when by less than a minute.
        package var secondsAhead: Int?
        /// By how much it was behind Fleet Engine's, or where that is not known, behind the host's while that is kept
        /// right; absent when by less than an hour, and of recorded logs.
        package var secondsBehind: Int?
        /// Of the last fix; `estimated` is dead reckoning.
        package var quality: String?
        /// Of the last fix, while that is of the last half minute: these would say nothing of now.
        package var accuracyMeters: Double?
        package var hdop: Double?
        package var satellitesUsed: Int?
        /// How many satellites are in `sky`.
        package var satellitesInView: Int?
        /// The satellites that the receiver sees, by system; absent where it has not told within the last half minute.
        package var sky: [SystemInView]?
        /// What is wrong with the fixes that come; absent while they are accepted, or none come.
        package var rejection: String?
        /// The same in one word, a key of `rejectedFixes`.
        package var rejectionKind: String?
        /// What the receiver has warned of within the last ten minutes.
        package var warnings: [String]
    }

    package struct SystemInView: Sendable, Hashable, Codable {
        package struct SatelliteInView: Sendable, Hashable, Codable {
            package let number: Int
            package let elevationDegrees: Int?
            package let azimuthDegrees: Int?
            /// C/N0; absent while the satellite is not tracked.
            package let signalDecibelHertz: Int?
            package let used: Bool
        }

        /// `GPS`, `GLONASS`, `Galileo`, `BeiDou`, `QZSS`, `NavIC` or `SBAS`.
        package let system: String
        package let satellites: [SatelliteInView]
    }

    /// The token in hand, never itself.
    package struct Token: Sendable, Hashable, Codable {
        /// From whom tokens come, without anything that may be secret.
        package var provider: String
        /// Until when the one in hand is used, a moment before its end; absent while there is none.
        package var expiresAt: String?
        package var secondsLeft: Int?
        /// Why none came, or the one in hand was not accepted, when that was last so.
        package var lastRejection: String?
        package var lastRejectionSecondsAgo: Int?
    }

    /// The outbox's files.
    package struct Outbox: Sendable, Hashable, Codable {
        /// Of the service; absent in the answer of an older release.
        package var path: String?
        package var bytes: Int64
        package var maximumBytes: Int64
        /// From the time of fix of the pending update that was accepted first to now; absent while none is pending.
        package var oldestPendingSeconds: Int?
    }

    package struct Host: Sendable, Hashable, Codable {
        /// Memory of the service.
        package var residentBytes: Int64?
        /// Where the outbox lies.
        package var freeDiskBytes: Int64?
    }

    package struct Delivery: Sendable, Hashable, Codable {
        package var secondsSinceDelivery: Int?
        /// Time of fix of the newest position that Fleet Engine has.
        package var timeOfFix: String?
        /// Why nothing is sent; absent while all is well.
        package var trouble: String?
        /// The kind of the trouble: `token`, `token_rejected`, `retry`, `throttled`, `unreachable`, `intercepted`,
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
        /// The file that it is read from; absent in the answer of an older release.
        package var file: String?
        /// A hash of the settings in force without secrets, to find vehicles that run with another configuration.
        package var hash: String?
        /// Why the last reload changed nothing; absent when it did, and before the first.
        package var problem: String?
        package var problemSeconds: Int?
    }

    package var version: String
    package var vehicle: String
    /// Absent where none can be reloaded, as in a replay.
    package var configuration: Loaded?
    package var uptimeSeconds: Int
    /// Since when nothing is told of where the vehicle is; absent while it is told.
    package var privateSeconds: Int?
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
    package var rejectedFixes: [String: Int]
    package var receiverWarnings: [String: Int]
    package var notStored: Int
    package var dropped: Int
    /// How often a stalled stage was bypassed, by stage.
    package var stageBypasses: [String: Int]
    /// Why the last run ended itself; absent when it did not.
    package var lastStall: StallRecord?
    /// What should be known of the outbox although it stores updates.
    package var outboxWarning: String?
    /// What follows is absent in the answer of an older release.
    package var token: Token?
    /// When updates are made, in words.
    package var reporting: String?
    /// By how many seconds the host's clock is ahead; absent while nobody else has told the time.
    package var clockOffsetSeconds: Int?
    package var outbox: Outbox?
    package var host: Host?
    package var deliveryDelays: DeliveryDelays?

    /// What the report says beside what the agent has met.
    package struct Surroundings: Sendable {
        package var tokenProvider = ""
        package var reporting: String?
        package var configurationHash: String?
        package var outboxPath: String?
        /// As the outbox said last.
        package var extent: StoreExtent?
        package var residentBytes: Int64?
        /// The host's time.
        package var systemTime: UTCTime?

        package init(
            tokenProvider: String = "", reporting: String? = nil, configurationHash: String? = nil,
            outboxPath: String? = nil, extent: StoreExtent? = nil, residentBytes: Int64? = nil,
            systemTime: UTCTime? = nil
        ) {
            self.configurationHash = configurationHash
            (self.tokenProvider, self.reporting) = (tokenProvider, reporting)
            (self.outboxPath, self.extent) = (outboxPath, extent)
            (self.residentBytes, self.systemTime) = (residentBytes, systemTime)
        }
    }

    package init(
        vehicle: String, snapshot: AgentMonitor.Snapshot, outbox: StoreSummary, durability: OutboxDurability,
        surroundings: Surroundings = Surroundings(), at now: Duration
    ) {
        version = Release.version
        self.vehicle = vehicle
        configuration = snapshot.loadedAt.map { time in
            Loaded(
                loadedAt: time.description, file: snapshot.loadedFrom, hash: surroundings.configurationHash,
                problem: snapshot.rejectedReload?.reason,
                problemSeconds: seconds(from: snapshot.rejectedReload?.at, to: now))
        }
        uptimeSeconds = Int(now / .seconds(1))
        privateSeconds = seconds(from: snapshot.privateSince, to: now)
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
        rejectedFixes = snapshot.counts.rejectedFixes
        receiverWarnings = snapshot.counts.receiverWarnings
        notStored = snapshot.counts.notStored
        dropped = snapshot.counts.dropped
        stageBypasses = snapshot.storeBypasses > 0 ? [Stage.store.rawValue: snapshot.storeBypasses] : [:]
        lastStall = snapshot.lastStall
        outboxWarning = snapshot.outboxWarning
        let offset = snapshot.clockOffset?.offset
        clockOffsetSeconds = offset.map { Int($0.components.seconds) }
        let present = surroundings.systemTime.map { $0.advanced(by: .zero - (offset ?? .zero)) }
        token = Token(surroundings.tokenProvider, snapshot, present: present, at: now)
        self.outbox = surroundings.extent.map {
            Outbox($0, at: surroundings.outboxPath, present: snapshot.presentByFix(at: now) ?? present)
        }
        reporting = surroundings.reporting
        host = Host(residentBytes: surroundings.residentBytes, freeDiskBytes: surroundings.extent?.freeDiskBytes)
        deliveryDelays = snapshot.delays
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
        let privacy = privateSeconds.map { "private for \(Duration.seconds($0).spoken); " } ?? ""
        return "\(privacy)\(fix)\(why); \(sent); \(ledger.pending) pending\(trouble)\(memoryOnly)\(token)\(reload)"
    }
}

extension StatusReport.Receiver {
    /// Fixes come each second or so: the last one that was rejected longer ago than this says nothing of now.
    private static let newestRejection = Duration.seconds(30)
    /// A warning that came longer ago than this says nothing of now.
    private static let newestWarning = Duration.seconds(600)
    /// The same of what is true for a moment only.
    private static let newestView = Duration.seconds(30)

    fileprivate init(_ snapshot: AgentMonitor.Snapshot, at now: Duration) {
        let rejection = snapshot.lastRejection.flatMap { last in
            now - last.at < Self.newestRejection && last.at > (snapshot.lastFix?.at ?? .zero - .seconds(1))
                ? last.rejection : nil
        }
        let fix = snapshot.lastFix.flatMap { now - $0.at < Self.newestView ? $0.fix : nil }
        let sky = snapshot.sky.flatMap { now - $0.at < Self.newestView ? $0.sky : nil }
        self.init(
            state: snapshot.receiver?.sentence(after: now - snapshot.receiverAt).description ?? "starting",
            kind: (snapshot.receiver?.kind ?? .starting).rawValue,
            secondsSinceFix: seconds(
                from: [snapshot.lastFix?.at, snapshot.withheldAt].compactMap(\.self).max(), to: now),
            secondsSinceFirstFix: seconds(from: snapshot.firstFixAt, to: now),
            timeOfFix: snapshot.lastFix?.fix.timeOfFix.description, secondsAhead: snapshot.secondsAhead,
            secondsBehind: snapshot.secondsBehind, quality: snapshot.lastFix?.fix.quality.rawValue,
            accuracyMeters: fix?.horizontalAccuracyMeters.map(tenths), hdop: fix?.hdop.map(tenths),
            satellitesUsed: fix?.satellitesUsed ?? sky?.satellites.count(where: \.isUsed),
            satellitesInView: sky?.satellites.count, sky: sky.map(StatusReport.SystemInView.all),
            rejection: rejection?.description, rejectionKind: rejection?.label,
            warnings: snapshot.warningsAt.filter { now - $0.value < Self.newestWarning }.map(\.key.description).sorted()
        )
    }
}

extension AgentMonitor.Snapshot {
    /// By how many seconds the last fix was dated after the moment at which it came, by Fleet Engine's clock; `nil`
    /// when whole seconds and an answer's way explain it.
    fileprivate var secondsAhead: Int? {
        guard let lastFix, let present = serversTime(at: lastFix.at) else { return nil }
        let ahead = present.duration(to: lastFix.fix.timeOfFix)
        return ahead > .seconds(60) ? Int(ahead.components.seconds) : nil
    }

    /// By how many seconds it was dated before that; `nil` when a slow line, or a receiver that wakes up, explains it.
    fileprivate var secondsBehind: Int? {
        lagOfLastFix.flatMap { $0 > .seconds(3600) ? Int($0.components.seconds) : nil }
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

extension StatusReport.SystemInView {
    fileprivate static func all(of sky: Sky) -> [Self] {
        SatelliteSystem.allCases.compactMap { system in
            let satellites = sky.satellites.filter { $0.id.system == system }
            guard !satellites.isEmpty else { return nil }
            return Self(
                system: system.rawValue,
                satellites: satellites.map {
                    SatelliteInView(
                        number: $0.id.number, elevationDegrees: $0.elevationDegrees,
                        azimuthDegrees: $0.azimuthDegrees, signalDecibelHertz: $0.signalDecibelHertz, used: $0.isUsed)
                })
        }
    }
}

extension StatusReport.Token {
    fileprivate init(_ provider: String, _ snapshot: AgentMonitor.Snapshot, present: UTCTime?, at now: Duration) {
        let left = snapshot.tokenUntil.flatMap { $0 > now ? $0 - now : nil }
        self.init(
            provider: provider, expiresAt: left.flatMap { present?.advanced(by: $0).description },
            secondsLeft: left.map { Int($0.components.seconds) },
            lastRejection: snapshot.lastTokenRejection?.reason.description,
            lastRejectionSecondsAgo: seconds(from: snapshot.lastTokenRejection?.at, to: now))
    }
}

extension StatusReport.Outbox {
    fileprivate init(_ extent: StoreExtent, at path: String?, present: UTCTime?) {
        self.init(
            path: path, bytes: extent.bytes, maximumBytes: extent.maximumBytes,
            oldestPendingSeconds: extent.oldestPending.flatMap { oldest in
                present.map { max(0, Int(oldest.duration(to: $0).components.seconds)) }
            })
    }
}

/// To one decimal, as people read it.
private func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }

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
