package import Conditions
import GNSS
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
        package var timeOfFix: String?
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
        /// The condition for which none came, or the last one was not accepted.
        package var lastRejection: String?
        package var lastRejectionSecondsAgo: Int?
    }

    /// The outbox's files.
    package struct Outbox: Sendable, Hashable, Codable {
        /// Of the service; absent in the answer of an older release.
        package var path: String?
        package var bytes: Int64
        /// The part of the database in use, which `maximumBytes` limits.
        package var usedBytes: Int64
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
        /// Seconds until the next attempt, while one is waited for.
        package var nextAttemptSeconds: Int?
    }

    /// A condition that is active.
    package struct ReportedCondition: Sendable, Hashable, Codable {
        /// A `ConditionCode`.
        package let code: String
        package let severity: ConditionCode.Severity
        package let stage: ConditionCode.Stage
        package let title: String
        package let cause: String
        package let remedy: String
        /// Since it began.
        package let seconds: Int
        /// What isn't lost; absent if nothing is at risk.
        package var safe: String?

        /// The condition in one line.
        package var line: String { "\(title): \(cause); \(remedy)" }

        init(_ active: ActiveCondition, at now: Duration) {
            let code = active.code
            self.code = code.rawValue
            severity = code.severity
            stage = code.stage
            title = code.title
            cause = active.condition.cause.description
            remedy = active.condition.remedy.description
            seconds = Int((now - active.since) / .seconds(1))
        }
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
    }

    package var version: String
    package var vehicle: String
    /// Absent where none can be reloaded, as in a replay.
    package var configuration: Loaded?
    package var uptimeSeconds: Int
    /// What an operator should know, the cause of the others first.
    package var conditions: [ReportedCondition]
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
        configuration = snapshot.configuration.loadedAt.map { time in
            Loaded(
                loadedAt: time.description, file: snapshot.configuration.file, hash: surroundings.configurationHash)
        }
        uptimeSeconds = Int(now / .seconds(1))
        privateSeconds = seconds(from: snapshot.privateSince, to: now)
        receiver = Receiver(snapshot.receiver, at: now)
        delivery = Delivery(snapshot.delivery, at: now)
        let pending = outbox.ledger.pending
        conditions = snapshot.conditions.visible(at: now).map { active in
            var condition = ReportedCondition(active, at: now)
            condition.safe = Self.safety(while: active.code, pending: pending)
            return condition
        }
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
        let offset = snapshot.clocks.offset?.offset
        clockOffsetSeconds = offset.map { Int($0.components.seconds) }
        let present = surroundings.systemTime.map { $0.advanced(by: .zero - (offset ?? .zero)) }
        token = Token(surroundings.tokenProvider, snapshot.token, present: present, at: now)
        self.outbox = surroundings.extent.map {
            Outbox($0, at: surroundings.outboxPath, present: snapshot.receiver.present(at: now) ?? present)
        }
        reporting = surroundings.reporting
        host = Host(residentBytes: surroundings.residentBytes, freeDiskBytes: surroundings.extent?.freeDiskBytes)
        deliveryDelays = snapshot.delivery.delays
    }

    /// What isn't lost while a condition is active.
    private static func safety(while code: ConditionCode, pending: Int64) -> String? {
        switch (code.stage, code.severity) {
        case (.outbox, .error) where code != .updatesLost: "the last positions are kept in memory"
        case (.token, .error), (.delivery, .error), (.delivery, .warning):
            pending > 0 ? "\(Self.subject(pending)) safe in the outbox" : nil
        default: nil
        }
    }

    /// Whether nothing keeps positions from arriving or from being stored for minutes.
    package var isHealthy: Bool {
        let isBlocked = conditions.contains { condition in
            let blocks =
                condition.severity == .error || condition.stage == .delivery && condition.severity == .warning
            return blocks && condition.seconds >= 300
        }
        return !isBlocked && (receiver.secondsSinceFix ?? uptimeSeconds) < 300
    }

    private var fixIsExpected: Bool {
        receiver.kind == ReceiverState.Kind.receiving.rawValue && receiver.secondsSinceFix != nil
            || conditions.contains { $0.stage == .receiver && $0.severity != .info }
    }

    /// One line for `systemctl status`.
    package var headline: String {
        let fix = receiver.secondsSinceFix.map { "last fix \($0) s ago" } ?? "no fix yet"
        let why = fixIsExpected ? "" : " (\(receiver.state))"
        let sent = delivery.secondsSinceDelivery.map { "last delivery \($0) s ago" } ?? "nothing delivered yet"
        let found = conditions.map { "; \($0.title): \($0.cause)" }.joined()
        return "\(fix)\(why); \(sent); \(ledger.pending) pending\(found)"
    }
}

extension StatusReport.Receiver {
    /// What is true for a moment only isn't shown when it came longer ago than this.
    private static let newestView = Duration.seconds(30)

    fileprivate init(_ receiver: AgentMonitor.Receiver, at now: Duration) {
        let fix = receiver.lastFix.flatMap { now - $0.at < Self.newestView ? $0.fix : nil }
        let sky = receiver.sky.flatMap { now - $0.at < Self.newestView ? $0.sky : nil }
        self.init(
            state: receiver.state?.sentence(after: now - receiver.stateAt).description ?? "starting",
            kind: (receiver.state?.kind ?? .starting).rawValue,
            secondsSinceFix: seconds(from: receiver.lastFixAt, to: now),
            timeOfFix: receiver.lastFix?.fix.timeOfFix.description, quality: receiver.lastFix?.fix.quality.rawValue,
            accuracyMeters: fix?.horizontalAccuracyMeters.map(tenths), hdop: fix?.hdop.map(tenths),
            satellitesUsed: fix?.satellitesUsed ?? sky?.satellites.count(where: \.isUsed),
            satellitesInView: sky?.satellites.count, sky: sky.map(StatusReport.SystemInView.all))
    }
}

extension StatusReport.Delivery {
    fileprivate init(_ delivery: AgentMonitor.Delivery, at now: Duration) {
        self.init(
            secondsSinceDelivery: seconds(from: delivery.last?.at, to: now),
            timeOfFix: delivery.last?.timeOfFix.description,
            nextAttemptSeconds: delivery.waitsUntil.flatMap { $0 > now ? seconds(from: now, to: $0) : nil })
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
    fileprivate init(_ provider: String, _ token: AgentMonitor.Token, present: UTCTime?, at now: Duration) {
        let left = token.usedUntil.flatMap { $0 > now ? $0 - now : nil }
        self.init(
            provider: provider, expiresAt: left.flatMap { present?.advanced(by: $0).description },
            secondsLeft: left.map { Int($0.components.seconds) },
            lastRejection: token.lastRejection?.code.rawValue,
            lastRejectionSecondsAgo: seconds(from: token.lastRejection?.at, to: now))
    }
}

extension StatusReport.Outbox {
    fileprivate init(_ extent: StoreExtent, at path: String?, present: UTCTime?) {
        self.init(
            path: path, bytes: extent.bytes, usedBytes: extent.usedBytes, maximumBytes: extent.maximumBytes,
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
