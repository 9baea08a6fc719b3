package import Conditions
import GNSS
import ReportedText
package import Reporting
package import SQLiteOutbox
package import TimeAndRandomness

/// The status of the running service, which `GET /status` returns. The responses to `/healthz` and `/metrics` are
/// derived from it.
///
/// Members whose value isn't known are absent.
package struct StatusReport: Sendable, Hashable, Codable {
    package var version: String
    package var vehicle: String
    /// The source of the current configuration; absent if the configuration can't be reloaded, such as in a replay.
    package var configuration: LoadedConfiguration?
    /// A description of when the service makes updates, such as at a fixed interval.
    package var reporting: String?
    package var uptimeSeconds: Int
    /// The active conditions. A condition that may have caused another one comes before it.
    package var conditions: [ReportedCondition]
    /// The time since private mode began, in seconds; absent while private mode is off.
    package var privateSeconds: Int?
    package var receiver: Receiver
    package var token: Token?
    package var delivery: Delivery
    package var ledger: Ledger
    package var outbox: Outbox
    package var counts: Counts
    package var host: Host

    /// Facts about the service that aren't in the monitor's snapshot.
    package struct HostContext: Sendable {
        package var tokenProvider = ""
        package var reporting: String?
        package var configurationHash: String?
        package var outboxPath: String?
        /// The last known extent of the outbox's files; `nil` if it isn't known.
        package var extent: StoreExtent?
        package var residentBytes: Int64?
        package var systemTime: UTCTime?

        package init(
            tokenProvider: String = "", reporting: String? = nil, configurationHash: String? = nil,
            outboxPath: String? = nil, extent: StoreExtent? = nil, residentBytes: Int64? = nil,
            systemTime: UTCTime? = nil
        ) {
            self.tokenProvider = tokenProvider
            self.reporting = reporting
            self.configurationHash = configurationHash
            self.outboxPath = outboxPath
            self.extent = extent
            self.residentBytes = residentBytes
            self.systemTime = systemTime
        }
    }

    package init(
        vehicle: String, snapshot: AgentMonitor.Snapshot, outbox: StoreSummary, durability: OutboxDurability,
        context: HostContext = HostContext(), at now: Duration
    ) {
        let offset = snapshot.clocks.offset?.offset
        let present = context.systemTime.map { $0.advanced(by: .zero - (offset ?? .zero)) }
        version = Release.version
        self.vehicle = vehicle
        configuration = snapshot.configuration.loadedAt.map { time in
            LoadedConfiguration(
                loadedAt: time.description, file: snapshot.configuration.file, hash: context.configurationHash)
        }
        reporting = context.reporting
        uptimeSeconds = Int(now / .seconds(1))
        let active = snapshot.conditions.visible(at: now)
        // Other conditions of the outbox, such as a repaired damage, don't keep it from working.
        let topics: [ActiveConditions.Topic] = [.storing, .reading]
        let failures = topics.compactMap { snapshot.conditions.active(on: $0)?.code }
        conditions = active.map { active in
            var condition = ReportedCondition(active, as: snapshot.receiver.condition(at: now), at: now)
            condition.safe =
                failures.contains(active.code)
                ? "the last positions are kept in memory"
                : Self.safetyClause(while: active.code, pending: failures.isEmpty ? outbox.ledger.pending : 0)
            return condition
        }
        privateSeconds = seconds(from: snapshot.privateSince, to: now)
        receiver = Receiver(snapshot.receiver, at: now)
        token = Token(context.tokenProvider, snapshot.token, present: present, at: now)
        delivery = Delivery(snapshot.delivery, outbox, systemTime: context.systemTime, at: now)
        ledger = outbox.ledger
        self.outbox = Outbox(
            outbox, durability, context, present: snapshot.receiver.present(at: now) ?? present)
        counts = Counts(snapshot)
        host = Host(
            residentBytes: context.residentBytes, freeDiskBytes: context.extent?.freeDiskBytes,
            clockOffsetSeconds: offset.map { Int($0.components.seconds) })
    }

    /// Returns a clause that says which updates are safe although a condition with `code` is active; `nil` if there is
    /// nothing to say.
    private static func safetyClause(while code: ConditionCode, pending: Int64) -> String? {
        switch (code.stage, code.severity) {
        case (.token, .error), (.delivery, .error), (.delivery, .warning):
            pending > 0 ? "\(Self.subjectAndVerb(for: pending)) safe in the outbox" : nil
        default: nil
        }
    }

    /// Whether a fix has arrived in the last five minutes, and no error or delivery warning has lasted that long.
    package var isHealthy: Bool {
        let isBlocked = conditions.contains { condition in
            let blocks =
                condition.severity == .error || condition.stage == .delivery && condition.severity == .warning
            return blocks && condition.seconds >= 300
        }
        return !isBlocked && (receiver.secondsSinceFix ?? uptimeSeconds) < 300
    }

    private var isFixExpected: Bool {
        receiver.kind == ReceiverState.Kind.receiving.rawValue && receiver.secondsSinceFix != nil
            || conditions.contains { $0.stage == .receiver && $0.severity != .info }
    }

    /// The interval at which to update the status line in `systemctl status`. It is shorter until the first delivery,
    /// because an operator may be waiting for it.
    package var headlineInterval: Duration { delivery.secondsSinceDelivery == nil ? .seconds(1) : .seconds(10) }

    /// The status line in `systemctl status`.
    package var headline: String {
        let fix = receiver.secondsSinceFix.map { "last fix \($0) s ago" } ?? "no fix yet"
        let why = isFixExpected ? "" : " (\(receiver.state))"
        let earlier = delivery.timeOfFix.map { "last delivered fix: \($0)" } ?? "nothing delivered yet"
        let sent = delivery.secondsSinceDelivery.map { "last delivery \($0) s ago" } ?? earlier
        let found = conditions.map { "; \($0.title): " + $0.causes.map(\.cause).joined(separator: "; ") }.joined()
        return "\(fix)\(why); \(sent); \(ledger.pending) pending\(found)"
    }
}

extension StatusReport {
    package struct Receiver: Sendable, Hashable, Codable {
        package var state: String
        /// The kind of `state`: `starting`, `receiving`, `no_position`, `waiting` or `ended`.
        package var kind: String
        /// The time since the last accepted fix, in seconds; absent before the first one.
        package var secondsSinceFix: Int?
        package var timeOfFix: String?
        /// The quality of the last fix. `estimated` means dead reckoning.
        package var quality: String?
        /// The accuracy of the last fix in metres. This member and those below it are absent if they are older than 30
        /// s.
        package var accuracyMeters: Double?
        package var hdop: Double?
        package var satellitesUsed: Int?
        /// The number of satellites in `sky`.
        package var satellitesInView: Int?
        /// The satellites that the receiver sees, grouped by satellite system.
        package var sky: [SystemInView]?
    }

    package struct SystemInView: Sendable, Hashable, Codable {
        package struct SatelliteInView: Sendable, Hashable, Codable {
            package let number: Int
            package let elevationDegrees: Int?
            package let azimuthDegrees: Int?
            /// The signal strength (C/N0) in dB-Hz; absent while the receiver isn't tracking the satellite.
            package let signalDecibelHertz: Int?
            package let used: Bool
        }

        /// The name of the satellite system: `GPS`, `GLONASS`, `Galileo`, `BeiDou`, `QZSS`, `NavIC` or `SBAS`.
        package let system: String
        package let satellites: [SatelliteInView]
    }

    /// Facts about the current token, but never the token itself.
    package struct Token: Sendable, Hashable, Codable {
        /// A description of the token provider that contains no secrets.
        package var provider: String
        /// The time at which Waypost stops using the current token, shortly before the token expires; absent if
        /// there is no token.
        package var expiresAt: String?
        package var secondsLeft: Int?
        /// The code of the last condition that explains why a token was missing or rejected.
        package var lastRejection: String?
        package var lastRejectionSecondsAgo: Int?
    }

    package struct Delivery: Sendable, Hashable, Codable {
        /// The time since the last delivery of this run, in seconds; absent before the first one.
        package var secondsSinceDelivery: Int?
        /// The time of the last delivery, according to the host's clock. If this run has delivered nothing, it is from
        /// an earlier run.
        package var deliveredAt: String?
        /// The time of the fix of the last delivered position. If this run has delivered none, it is from an earlier
        /// run.
        package var timeOfFix: String?
        /// The time until the next attempt, in seconds; absent if none is scheduled.
        package var nextAttemptSeconds: Int?
    }

    package struct ReportedCondition: Sendable, Hashable, Codable {
        /// The condition's code, which is the raw value of a `ConditionCode`.
        package let code: String
        package let severity: ConditionCode.Severity
        package let stage: ConditionCode.Stage
        package let title: String
        /// The first cause of the condition. `remedy` is its remedy.
        package let cause: String
        package let remedy: String
        /// Further causes with their remedies; absent if there is only one cause.
        package let others: [Cause]?
        /// The time since the condition began, in seconds.
        package let seconds: Int
        /// A clause that says which updates are safe; absent if there is nothing to say.
        package var safe: String?

        /// A cause of a condition, with its remedy.
        package struct Cause: Sendable, Hashable, Codable {
            package let cause: String
            package let remedy: String
        }

        /// All causes of the condition, with their remedies.
        package var causes: [Cause] { [Cause(cause: cause, remedy: remedy)] + (others ?? []) }

        /// The title, the first cause and its remedy, in one line.
        package var line: String { "\(title): \(cause); \(remedy)" }

        /// Creates the report of `active`. If `current` has the same code and facts, its causes are reported: they
        /// contain the present duration of a silence.
        init(_ active: ActiveCondition, as current: Condition? = nil, at now: Duration) {
            let code = active.code
            let isSame = current?.code == code && current?.facts == active.condition.facts
            let condition = isSame ? current ?? active.condition : active.condition
            self.code = code.rawValue
            severity = code.severity
            stage = code.stage
            title = code.title
            let causes = condition.causes.map {
                Cause(cause: $0.cause.description, remedy: $0.remedy.description)
            }
            cause = causes[0].cause
            remedy = causes[0].remedy
            others = causes.count > 1 ? Array(causes.dropFirst()) : nil
            seconds = Int((now - active.since) / .seconds(1))
        }
    }

    /// The outbox and its files.
    package struct Outbox: Sendable, Hashable, Codable {
        package var path: String?
        /// The total size of the outbox's files in bytes.
        package var bytes: Int64?
        /// The number of bytes of the database that are in use. `maximumBytes` is the limit for them.
        package var usedBytes: Int64?
        package var maximumBytes: Int64?
        /// The age in seconds of the pending update that was accepted first, measured from the time of its fix; absent
        /// if none is pending.
        package var oldestPendingSeconds: Int?
        /// The number of evicted updates for each reason, with the times of their fixes.
        package var evictions: [String: TallyReport]
        package var quarantine: TallyReport
        package var durability: Durability
    }

    /// The maximum loss that a power failure or a crash can cause.
    package struct Durability: Sendable, Hashable, Codable {
        /// The name of the durability mode: `full` or `economy`.
        package var mode: String
        /// The maximum number of updates that a crash can lose; 0 if the mode is `full`.
        package var updatesAtRisk: Int
        /// The time in seconds after which an accepted update can no longer be lost in a crash.
        package var secondsAtRisk: Int
    }

    /// The numbers of events since the service started.
    package struct Counts: Sendable, Hashable, Codable {
        package var fixes: Int
        /// The number of rejected fixes for each reason.
        package var rejectedFixes: [String: Int]
        package var receiverWarnings: [String: Int]
        package var notStored: Int
        package var dropped: Int
        package var tokenFetches: Int
        package var requests: Int
        package var retries: Int
        package var bytesSent: Int
        package var bytesReceived: Int
        /// The number of times that each stage was bypassed because it had stalled, by the stage's name.
        package var stageBypasses: [String: Int]
        package var deliveryDelays: DeliveryDelays
    }

    package struct Host: Sendable, Hashable, Codable {
        /// The service's resident memory in bytes.
        package var residentBytes: Int64?
        /// The number of free bytes on the outbox's disk.
        package var freeDiskBytes: Int64?
        /// The offset of the host's clock in seconds. It is positive if the clock is ahead, and absent if no other
        /// clock is known.
        package var clockOffsetSeconds: Int?
    }

    /// The source of the current configuration, and a hash of its settings.
    package struct LoadedConfiguration: Sendable, Hashable, Codable {
        /// The time at which the configuration was read, according to the host's clock.
        package var loadedAt: String
        /// The file that the configuration was read from.
        package var file: String?
        /// A hash of the current settings without secrets. It shows which vehicles of a fleet run with another
        /// configuration.
        package var hash: String?
    }
}

extension StatusReport.Receiver {
    /// The age at which a momentary value, such as the accuracy, is no longer reported.
    private static let maximumViewAge = Duration.seconds(30)

    fileprivate init(_ receiver: AgentMonitor.Receiver, at now: Duration) {
        let fix = receiver.lastFix.flatMap { now - $0.at < Self.maximumViewAge ? $0.fix : nil }
        let sky = receiver.sky.flatMap { now - $0.at < Self.maximumViewAge ? $0.sky : nil }
        self.init(
            state: receiver.state?.sentence(after: now - receiver.stateAt).description ?? "starting",
            kind: (receiver.state?.kind ?? .starting).rawValue,
            secondsSinceFix: seconds(from: receiver.lastFixAt, to: now),
            timeOfFix: receiver.lastFix?.fix.timeOfFix.description, quality: receiver.lastFix?.fix.quality.rawValue,
            accuracyMeters: fix?.horizontalAccuracyMeters.map(roundedToTenths), hdop: fix?.hdop.map(roundedToTenths),
            satellitesUsed: fix?.satellitesUsed ?? sky?.satellites.count(where: \.isUsed),
            satellitesInView: sky?.satellites.count, sky: sky.map(StatusReport.SystemInView.systems))
    }
}

extension StatusReport.Delivery {
    /// Creates the report. After a restart, the last delivery is the one in `outbox`. Its time is left out if it is
    /// later than `systemTime`, because the host's clock was wrong then or is wrong now.
    fileprivate init(
        _ delivery: AgentMonitor.Delivery, _ outbox: StoreSummary, systemTime: UTCTime?, at now: Duration
    ) {
        let newest = outbox.newestDelivered?.update.timeOfFix
        let deliveredAt =
            if let last = delivery.lastDelivered { systemTime?.advanced(by: last.at - now) } else {
                outbox.lastDelivery.flatMap { time in systemTime.flatMap { time <= $0 ? time : nil } }
            }
        self.init(
            secondsSinceDelivery: seconds(from: delivery.lastDelivered?.at, to: now),
            deliveredAt: deliveredAt?.description,
            timeOfFix: (delivery.lastDelivered?.timeOfFix ?? newest)?.description,
            nextAttemptSeconds: delivery.nextAttempt.flatMap { $0 > now ? seconds(from: now, to: $0) : nil })
    }
}

extension StatusReport.SystemInView {
    fileprivate static func systems(in sky: Sky) -> [Self] {
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
    fileprivate init(
        _ summary: StoreSummary, _ durability: OutboxDurability, _ context: StatusReport.HostContext,
        present: UTCTime?
    ) {
        let extent = context.extent
        self.init(
            path: context.outboxPath, bytes: extent?.bytes, usedBytes: extent?.usedBytes,
            maximumBytes: extent?.maximumBytes,
            oldestPendingSeconds: extent?.oldestPending.flatMap { oldest in
                present.map { max(0, Int(oldest.duration(to: $0).components.seconds)) }
            },
            evictions: TallyReport.byReason(summary.evictions), quarantine: TallyReport(summary.quarantined),
            durability: StatusReport.Durability(durability))
    }
}

extension StatusReport.Counts {
    fileprivate init(_ snapshot: AgentMonitor.Snapshot) {
        let counts = snapshot.counts
        self.init(
            fixes: counts.fixes, rejectedFixes: counts.rejectedFixes, receiverWarnings: counts.receiverWarnings,
            notStored: counts.notStored, dropped: counts.dropped, tokenFetches: counts.tokenFetches,
            requests: counts.requests, retries: counts.retries, bytesSent: counts.traffic.bytesSent,
            bytesReceived: counts.traffic.bytesReceived,
            stageBypasses: snapshot.storeBypasses > 0 ? [Stage.store.rawValue: snapshot.storeBypasses] : [:],
            deliveryDelays: snapshot.delivery.delays)
    }
}

/// Returns `value` rounded to one decimal, which is precise enough for people.
private func roundedToTenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }

/// Returns the number of whole seconds from `moment` to `later`; `nil` if `moment` is `nil`.
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

/// A number of updates and the times of their fixes, in the form that the status and listings use.
package struct TallyReport: Sendable, Hashable, Codable {
    package let count: Int64
    /// The time of the earliest fix; absent if it isn't known.
    package let firstTimeOfFix: String?
    package let lastTimeOfFix: String?

    package init(_ tally: UpdateTally) {
        count = tally.count
        firstTimeOfFix = tally.timesOfFix?.lowerBound.description
        lastTimeOfFix = tally.timesOfFix?.upperBound.description
    }

    /// Returns a tally for each reason, including reasons for which no update was evicted.
    package static func byReason(_ evictions: Evictions) -> [String: Self] {
        Dictionary(uniqueKeysWithValues: EvictionReason.allCases.map { ($0.rawValue, Self(evictions[$0])) })
    }
}
