import Conditions
import FleetEngine
import FoundationEssentials
import GNSS
import HTTPMessages
import HTTPService
import LinuxPlatform
import ReportedText
import Reporting
import SQLiteOutbox
import StrictJSON
import Testing
import TimeAndRandomness
import VehicleAuthorization
@testable import Operations
import WaypostTestSupport

@Suite struct Status {
    let clock = ManualClock()

    let uptime: MonotonicClock

    init() { uptime = MonotonicClock(clock) }

    func monitor(systemTime: (@Sendable () -> UTCTime)? = nil) -> AgentMonitor {
        AgentMonitor(clock: uptime, systemTime: systemTime)
    }

    private let van = AuthorizationContext(vehicleID: "v")

    static let stored = StoredUpdate(
        sequence: 1,
        update: LocationUpdate(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 50, longitude: 10))
    static let batch = UploadBatch(last: stored, lastIsPending: true, past: [])

    func report(
        _ monitor: AgentMonitor, _ outbox: StoreSummary = StoreSummary(Ledger()),
        durability: OutboxDurability = .full, context: StatusReport.HostContext = StatusReport.HostContext()
    ) -> StatusReport {
        StatusReport(
            vehicle: "providers/p/vehicles/v", snapshot: monitor.snapshot, outbox: outbox, durability: durability,
            context: context, at: uptime.now)
    }

    /// The receiver is three days behind according to Fleet Engine's clock or a synchronised host clock. An
    /// unsynchronised clock and a recording don't show this.
    @Test(
        arguments: [
            (isLive: true, isSynchronized: true, server: false, lag: 259_200, isReported: true),
            (true, false, true, 259_200, true), (true, false, false, 259_200, false), (true, true, false, 3600, false),
            (true, true, false, -7200, true), (false, true, true, 259_200, false),
        ] as [(isLive: Bool, isSynchronized: Bool, server: Bool, lag: Int, isReported: Bool)])
    func reportsTheLagOfTheReceiver(
        row: (isLive: Bool, isSynchronized: Bool, server: Bool, lag: Int, isReported: Bool)
    ) {
        let present = UTCTime(year: 2026, month: 11, day: 23)
        let host: (@Sendable () -> UTCTime)? = row.isLive ? { @Sendable in present } : nil
        let monitor = AgentMonitor(
            clock: uptime, systemTime: host, synchronizedTime: { row.isSynchronized ? present : nil })
        if row.server { monitor.observe(.serverTime(present)) }
        monitor.observe(
            .fix(Fix(timeOfFix: present.advanced(by: .seconds(-row.lag)), latitude: 1, longitude: 1)))
        let report = report(monitor)
        let codes = report.conditions.map(\.code)
        #expect(codes.contains(ConditionCode.receiverTimeWrong.rawValue) == row.isReported)
        // An unsynchronised host clock is the one to correct.
        #expect(
            codes.contains(ConditionCode.hostClockWrong.rawValue) == (row.isLive && !row.isSynchronized && !row.server))
        #expect((OnlineCheck.receiverLine(of: report).verdict == .fail) == row.isReported || !row.isReported)
    }

    /// This reason is reported if standard input ends before a fix was accepted.
    @Test func reportsWhyNoFixWasAccepted() {
        let monitor = monitor()
        #expect(monitor.snapshot.reasonForNoFix == nil)
        monitor.observe(.receiverWarning(.antennaOpen))
        #expect(monitor.snapshot.reasonForNoFix == nil)
        monitor.observe(.receiverWarning(.dateTooEarly))
        #expect(monitor.snapshot.reasonForNoFix == Condition(.dateTooEarly).line.description)
        let fix = Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 1, longitude: 1)
        monitor.observe(.rejected(fix, .notAdvancing))
        #expect(
            monitor.snapshot.reasonForNoFix
                == "1 fix rejected; the last one because the time isn't later than the last fix's")
        monitor.observe(.fix(fix))
        #expect(monitor.snapshot.reasonForNoFix == nil)
    }

    @Test func countsUpdatesRequestsAndRetries() {
        let monitor = monitor()
        let traffic = Traffic(bytesSent: 10, bytesReceived: 20)
        monitor.observe(.accepted(Self.stored))
        monitor.observe(.uploading(Self.batch))
        monitor.observe(.failed(.retry(.sample("503"), after: nil), traffic: traffic))
        monitor.observe(.uploading(Self.batch))
        monitor.observe(.delivered(Self.batch, traffic: traffic, took: .seconds(1)))
        let counts = monitor.snapshot.counts
        #expect(counts.accepted == 1 && counts.delivered == 1 && counts.requests == 2 && counts.retries == 1)
        #expect(counts.traffic == Traffic(bytesSent: 20, bytesReceived: 40))
    }

    /// The cause that holds delivery is in the status, and isn't a failed attempt.
    @Test(arguments: [DeliveryOutcome.prepareAgain(.sample("401 UNAUTHENTICATED")), .held(.sample("404 NOT_FOUND"))])
    func countsNoHoldAsARetry(outcome: DeliveryOutcome) {
        let monitor = monitor()
        monitor.observe(.uploading(Self.batch))
        monitor.observe(.failed(outcome, traffic: Traffic(bytesSent: 10)))
        monitor.observe(.notPrepared(.noPermit(MissingPermit(.unavailable, "issuer down"))))
        let counts = monitor.snapshot.counts
        #expect(counts.requests == 1 && counts.retries == 0 && counts.traffic.bytesSent == 10)
    }

    @Test func reportsTheStateOfTheReceiver() {
        let monitor = monitor()
        #expect(report(monitor).receiver.kind == "starting")
        monitor.observe(.fix(Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 1, longitude: 1)))
        monitor.observe(.receiver(.receiving(source: "/dev/x")))
        #expect(report(monitor).headline.hasPrefix("last fix 0 s ago; "))
        monitor.observe(.receiver(.waiting(source: "/dev/x", .deviceMissing)))
        #expect(report(monitor).receiver.kind == "waiting")
        let headline = report(monitor).headline
        #expect(
            headline
                == "last fix 0 s ago; nothing delivered yet; 0 pending; receiver unavailable: /dev/x: no such device")
        let sample = #"waypost_condition{code="receiver_unavailable",severity="error",stage="receiver"} 1"#
        #expect(report(monitor).metrics().split(separator: "\n").contains(Substring(sample)))
    }

    /// Satellites and accuracy are reported only while they are recent.
    @Test func reportsTheSkyAndTheQualityOfThePosition() throws {
        let monitor = monitor()
        #expect(report(monitor).receiver.sky == nil && report(monitor).receiver.satellitesInView == nil)
        let galileo = Satellite(.galileo, 7, elevation: 40, azimuth: 250, signal: 41, isUsed: true)
        monitor.observe(.sky(Sky([Satellite(.gps, 5, elevation: 9, azimuth: 10), galileo])))
        #expect(report(monitor).receiver.satellitesUsed == 1, "before a fix states the number")
        var fix = Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 1, longitude: 1)
        (fix.hdop, fix.horizontalAccuracyMeters, fix.satellitesUsed) = (0.94, 4.256, 12)
        monitor.observe(.fix(fix))
        let json = try JSONValue(encoding: report(monitor))
        let receiver = try #require(json["receiver"])
        #expect(receiver["hdop"]?.doubleValue == 0.9 && receiver["accuracyMeters"]?.doubleValue == 4.3)
        #expect(receiver["satellitesUsed"]?.integerValue == 12 && receiver["satellitesInView"]?.integerValue == 2)
        let sky = try #require(receiver["sky"]?.arrayValue)
        #expect(sky.map { $0["system"]?.stringValue } == ["GPS", "Galileo"])
        #expect(
            sky.last?["satellites"]?.arrayValue
                == [
                    .object([
                        "number": .integer(7), "elevationDegrees": .integer(40), "azimuthDegrees": .integer(250),
                        "signalDecibelHertz": .integer(41), "used": .bool(true),
                    ])
                ])
        #expect(sky.first?["satellites"]?.arrayValue?.first?["signalDecibelHertz"] == nil)
        #expect(try json.decoded(as: StatusReport.self) == report(monitor))
        clock.advance(by: .seconds(30))
        let later = report(monitor).receiver
        #expect(later.sky == nil && later.hdop == nil && later.accuracyMeters == nil && later.satellitesUsed == nil)
    }

    @Test func reportsTheProviderAndLifetimeOfTheToken() {
        let monitor = monitor()
        let present = UTCTime(year: 2026, month: 1, day: 5)
        func token() -> StatusReport.Token? {
            report(
                monitor,
                context: StatusReport.HostContext(tokenProvider: "https://tokens.example", systemTime: present)
            ).token
        }
        #expect(token()?.provider == "https://tokens.example" && token()?.expiresAt == nil)
        monitor.note(.renewal(.working(remaining: .seconds(1800)), AuthorizationContext(vehicleID: "van-7")))
        #expect(token()?.expiresAt == "2026-01-05T00:30:00.000Z" && token()?.secondsLeft == 1800)
        #expect(token()?.lastRejection == nil)
        monitor.observe(.failed(.prepareAgain(.answered(.sample(401))), traffic: Traffic()))
        monitor.note(.renewal(.lapsed, AuthorizationContext(vehicleID: "van-7")))
        clock.advance(by: .seconds(5))
        #expect(token()?.expiresAt == nil && token()?.secondsLeft == nil)
        #expect(token()?.lastRejection == "token_rejected")
        #expect(token()?.lastRejectionSecondsAgo == 5)
        monitor.observe(.notPrepared(.noPermit(MissingPermit(.unavailable, "no answer"))))
        #expect(token()?.lastRejectionSecondsAgo == 5, "no token has been rejected")
        monitor.note(
            .renewal(
                .failing(AuthorizationError(.refused, "answered 403"), remaining: .seconds(60)),
                AuthorizationContext(vehicleID: "van-7")))
        #expect(token()?.lastRejection == "token_request_rejected" && token()?.secondsLeft == 60)
        clock.advance(by: .seconds(61))
        #expect(token()?.expiresAt == nil && token()?.lastRejectionSecondsAgo == 61)
    }

    /// Fleet Engine's clock is trusted. The receiver's time is used if Fleet Engine's hasn't been received for ten
    /// minutes.
    @Test func reportsTheOffsetOfTheHostClock() {
        let present = UTCTime(year: 2026, month: 1, day: 5)
        let monitor = monitor { present }
        func fix(_ offset: Int) -> ReportingEvent {
            .fix(Fix(timeOfFix: present.advanced(by: .seconds(offset)), latitude: 1, longitude: 1))
        }
        #expect(report(monitor).host.clockOffsetSeconds == nil)
        monitor.observe(fix(100))
        #expect(report(monitor).host.clockOffsetSeconds == -100)
        monitor.observe(.serverTime(present.advanced(by: .milliseconds(-2600))))
        monitor.observe(fix(100))
        #expect(report(monitor).host.clockOffsetSeconds == 2)
        clock.advance(by: .seconds(600))
        monitor.observe(fix(-7))
        #expect(report(monitor).host.clockOffsetSeconds == 7)
        #expect(report(self.monitor()).host.clockOffsetSeconds == nil, "the offset is unknown for a recorded log")
    }

    /// The age of pending updates is counted by the receiver's time, whatever the host's clock shows.
    @Test func reportsTheSizeAndOldestUpdateOfTheOutbox() {
        let monitor = monitor()
        let time = UTCTime(year: 2026, month: 1, day: 5)
        let extent = StoreExtent(
            bytes: 70_000, usedBytes: 60_000, maximumBytes: 1 << 20, freeDiskBytes: 5000, oldestPending: time)
        let context = StatusReport.HostContext(
            outboxPath: "/o.sqlite", extent: extent, residentBytes: 18_000_000,
            systemTime: UTCTime(year: 1970, month: 1, day: 1))
        func outbox() -> StatusReport.Outbox? { report(monitor, context: context).outbox }
        #expect(outbox()?.path == "/o.sqlite")
        #expect(outbox()?.bytes == 70_000 && outbox()?.usedBytes == 60_000 && outbox()?.maximumBytes == 1 << 20)
        #expect(outbox()?.oldestPendingSeconds == 0)
        monitor.observe(.fix(Fix(timeOfFix: time.advanced(by: .seconds(3600)), latitude: 1, longitude: 1)))
        clock.advance(by: .seconds(9))
        #expect(outbox()?.oldestPendingSeconds == 3609)
        let host = report(monitor, context: context).host
        #expect(host.freeDiskBytes == 5000 && host.residentBytes == 18_000_000)
    }

    /// The condition begins when 80 % of the outbox is used, and ends when less than 75 % is used.
    @Test func reportsThatTheOutboxIsNearlyFull() {
        let monitor = monitor()
        for (used, isReported) in [(79, false), (80, true), (76, true), (74, false), (79, false)] as [(Int64, Bool)] {
            monitor.note(
                StoreExtent(
                    bytes: 0, usedBytes: used, maximumBytes: 100, freeDiskBytes: nil, oldestPending: nil))
            #expect(report(monitor).conditions.isEmpty != isReported, "\(used)")
        }
    }

    @Test func countsTheDelaysOfDeliveries() {
        let monitor = monitor()
        func deliver(_ age: Int, isPending: Bool = true) {
            let time = UTCTime(year: 2026, month: 1, day: 5).advanced(by: .zero - .seconds(age))
            let stored = StoredUpdate(
                sequence: 1, update: LocationUpdate(timeOfFix: time, latitude: 1, longitude: 1))
            let batch = UploadBatch(last: stored, lastIsPending: isPending, past: [Self.stored])
            monitor.observe(.delivered(batch, traffic: Traffic(), took: .zero))
        }
        deliver(3)
        #expect(monitor.snapshot.delivery.delays == DeliveryDelays(), "no fix states the current time yet")
        monitor.observe(.fix(Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 1, longitude: 1)))
        for age in [0, 1, 2, 60, 61, 86_400, 86_401, -5] { deliver(age) }
        deliver(7, isPending: false)
        #expect(monitor.snapshot.delivery.delays.counts == [3, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1])
        let lines = report(monitor).metrics().split(separator: "\n")
        for line in [
            "waypost_delivery_delay_seconds_bucket{le=\"1\"} 3", "waypost_delivery_delay_seconds_bucket{le=\"60\"} 5",
            "waypost_delivery_delay_seconds_bucket{le=\"+Inf\"} 8", "waypost_delivery_delay_seconds_count 8",
            "waypost_delivery_delay_seconds_sum 172925.0",
        ] {
            #expect(lines.contains(Substring(line)), "\(line)")
        }
    }

    @Test func reportsEvictionsAndThePossibleLossInACrash() throws {
        var summary = StoreSummary(Ledger(accepted: 3, evicted: 2, quarantined: 1))
        let time = UTCTime(year: 2026, month: 1, day: 5)
        summary.evictions[.age] = UpdateTally(count: 2, timesOfFix: time...time.advanced(by: .seconds(9)))
        let data = try JSONEncoder().encode(report(monitor(), summary, durability: .economy))
        let json = try JSONValue(parsing: Array(data))
        #expect(json["outbox"]?["evictions"]?["age"]?["count"]?.integerValue == 2)
        #expect(json["outbox"]?["evictions"]?["age"]?["lastTimeOfFix"]?.stringValue == "2026-01-05T00:00:09.000Z")
        #expect(json["outbox"]?["evictions"]?["oldest"]?["count"]?.integerValue == 0)
        #expect(json["outbox"]?["quarantine"]?["count"]?.integerValue == 1)
        #expect(json["outbox"]?["durability"]?["mode"]?.stringValue == "economy")
        #expect(json["outbox"]?["durability"]?["secondsAtRisk"]?.integerValue == 60)
        #expect(json["outbox"]?["durability"]?["updatesAtRisk"]?.integerValue == 30)
    }

    /// After a restart, the newest delivered fix and the time of the last delivery are read from the outbox.
    @Test func keepsTheLastDeliveryAfterARestart() async throws {
        let directory = try TemporaryDirectory()
        var configuration = OutboxConfiguration(path: directory.path("outbox.sqlite"), maximumBytes: 1 << 20)
        let now = UTCTime(year: 2026, month: 1, day: 6)
        configuration.now = { now }
        let outbox = try await SQLiteOutbox.open(configuration)
        try await outbox.append(Self.stored.update)
        let fresh = report(monitor(), try await outbox.summary())
        #expect(fresh.delivery.timeOfFix == nil && fresh.headline.contains("nothing delivered yet"))
        try await outbox.acknowledge(try #require(try await outbox.nextBatch(maximumPastLocations: 1)))
        try await outbox.close()
        let reopened = try await SQLiteOutbox.open(configuration)
        let summary = try await reopened.summary()
        let restarted = report(monitor(), summary, context: StatusReport.HostContext(systemTime: now))
        try await reopened.close()
        #expect(fresh.delivery.deliveredAt == nil && restarted.delivery.deliveredAt == now.description)
        // According to this clock, the delivery is in the future.
        let early = StatusReport.HostContext(systemTime: now.advanced(by: .seconds(-1)))
        #expect(report(monitor(), summary, context: early).delivery.deliveredAt == nil)
        let time = Self.stored.update.timeOfFix.description
        #expect(restarted.delivery.timeOfFix == time && restarted.delivery.secondsSinceDelivery == nil)
        #expect(restarted.headline.contains("last delivered fix: \(time)"), "\(restarted.headline)")
    }

    /// The line for `systemctl status` is updated within a second of the first delivery.
    @Test func updatesTheHeadlineEverySecondUntilTheFirstDelivery() {
        let monitor = monitor()
        #expect(report(monitor).headlineInterval == .seconds(1))
        monitor.observe(.delivered(Self.batch, traffic: Traffic(), took: .zero))
        #expect(report(monitor).headlineInterval == .seconds(10))
    }

    /// The condition began when the silence was noticed, after 5 s.
    @Test func countsTheSecondsOfASilence() throws {
        let monitor = monitor()
        let silent = ReceiverFault.silent(.serial(baudRate: 9600, wasFound: false), .seconds(5), alsoOpenIn: nil)
        monitor.observe(.receiver(.waiting(source: "/dev/gnss", silent)))
        clock.advance(by: .seconds(73))
        let report = report(monitor)
        let condition = try #require(report.conditions.first { $0.code == "receiver_unavailable" })
        #expect(condition.cause.contains("78 s"), "\(condition.cause)")
        #expect(report.receiver.state.contains("78 s"), "\(report.receiver.state)")
    }

    @Test func reportsNewEvictions() {
        var evictions = Evictions()
        evictions[.oldest].count = 500
        var watch = EvictionWatch(since: evictions)
        #expect(watch.newConditions(for: evictions).isEmpty, "earlier evictions don't count")
        evictions[.discarded].count = 3
        #expect(watch.newConditions(for: evictions).isEmpty, "the user who discarded the updates knows")
        evictions[.thinned].count = 120
        #expect(watch.newConditions(for: evictions).map(\.code) == [.updatesThinned])
        evictions[.oldest].count = 756
        evictions[.age].count = 1
        let lost = watch.newConditions(for: evictions)
        #expect(lost.map(\.code) == [.updatesLost])
        #expect(
            lost[0].causes.map(\.sentence.description) == [
                "256 updates evicted since the start, the oldest first, because the outbox was full; find out why nothing "
                    + "is delivered, or raise outbox.maximumMegabytes",
                "1 update evicted since the start, because of age; find out why nothing is delivered, or "
                    + "raise outbox.maximumAgeDays",
            ])
        #expect(watch.newConditions(for: evictions).isEmpty)
    }

    @Test func metricsUseTheFiveTermsOfTheLedger() {
        let ledger = Ledger(accepted: 10, delivered: 5, pending: 2, evicted: 2, quarantined: 1)
        var evictions = Evictions()
        evictions[.thinned].count = 2
        let lines = report(monitor(), StoreSummary(ledger, evictions: evictions)).metrics().split(separator: "\n")
        for reason in ["thinned", "oldest", "age", "damage", "discarded"] {
            #expect(
                lines.contains("waypost_updates_evicted_total{reason=\"\(reason)\"} \(reason == "thinned" ? 2 : 0)"))
        }
        for line in [
            "waypost_updates_accepted_total 10", "waypost_updates_delivered_total 5",
            "waypost_updates{state=\"pending\"} 2", "waypost_updates{state=\"quarantined\"} 1",
        ] {
            #expect(lines.contains(Substring(line)))
        }
    }

    @Test func metricsIncludeReleaseAndVehicle() {
        let lines = report(monitor()).metrics().split(separator: "\n")
        #expect(lines.contains("waypost_build_info{version=\"\(Release.version)\",vehicle=\"v\",configuration=\"\"} 1"))
    }

    /// The fleet profile is limited in any state, and the full profile includes all of its series.
    @Test func theFleetProfileHasAtMostTwelveSeries() throws {
        let monitor = monitor { UTCTime(year: 2026, month: 1, day: 5) }
        monitor.note(loadedAt: .system)
        monitor.observe(.fix(Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 1, longitude: 1)))
        monitor.observe(.delivered(Self.batch, traffic: Traffic(), took: .zero))
        monitor.observe(.failed(.prepareAgain(.answered(.sample(401))), traffic: Traffic()))
        let extent = StoreExtent(bytes: 1, usedBytes: 1, maximumBytes: 2, freeDiskBytes: 3, oldestPending: nil)
        let context = StatusReport.HostContext(
            configurationHash: "0123456789abcdef", extent: extent, residentBytes: 4, systemTime: .system)
        let report = report(monitor, context: context)
        func series(_ text: String) -> [Substring] { text.split(separator: "\n").filter { !$0.hasPrefix("#") } }
        let fleet = series(report.metrics(.fleet))
        #expect(fleet.count == 10 && Set(fleet).isSubset(of: series(report.metrics())))
        #expect(fleet.contains { $0.hasSuffix(#"configuration="0123456789abcdef"} 1"#) })
        let rejected = Substring(#"waypost_condition{code="token_rejected",severity="error",stage="token"} 1"#)
        #expect(fleet.contains(rejected))
        // However many conditions are active, the errors are among the series.
        for warning in [ReceiverWarning.antennaOpen, .foreignDatum, .dateTooEarly] {
            monitor.observe(.receiverWarning(warning))
        }
        // Two conditions with the same code are one series.
        monitor.hold(Condition(privateSwitch: .isDirectory, at: "/p"), on: .privateSwitch)
        monitor.hold(Condition(distantZones: [0]), on: .code(.privateModeMisconfigured))
        let full = self.report(monitor, context: context)
        #expect(series(full.metrics()).count { $0.contains("private_mode_misconfigured") } == 1)
        #expect(series(full.metrics()).count { $0.hasPrefix("waypost_condition{") } > 3)
        #expect(series(full.metrics(.fleet)).count == 12 && series(full.metrics(.fleet)).contains(rejected))
    }

    /// The rules of `promtool check metrics`. In addition, no gauge may have the name of a counter without `_total`.
    @Test func metricsFollowTheRulesOfPrometheus() {
        var kinds: [Substring: Substring] = [:]
        var family: Substring = ""
        let monitor = monitor { UTCTime(year: 2026, month: 1, day: 5) }
        var fix = Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 1, longitude: 1)
        (fix.hdop, fix.horizontalAccuracyMeters) = (0.9, 4)
        monitor.observe(.fix(fix))
        monitor.observe(.sky(Sky([Satellite(.gps, 1, isUsed: true)])))
        monitor.observe(.failed(.prepareAgain(.sample("401")), traffic: Traffic()))
        let extent = StoreExtent(bytes: 1, usedBytes: 1, maximumBytes: 2, freeDiskBytes: 3, oldestPending: nil)
        let context = StatusReport.HostContext(extent: extent, residentBytes: 4, systemTime: .system)
        for line in report(monitor, context: context).metrics().split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3)
            switch (line.first, words.dropFirst().first) {
            case ("#", "HELP"?):
                family = words[2]
                #expect(kinds[family] == nil && words[3].hasSuffix("."), "\(line)")
            case ("#", "TYPE"?):
                #expect(words[2] == family, "\(line)")
                kinds[family] = words[3]
                #expect(["counter", "gauge", "histogram"].contains(words[3]))
                #expect((words[3] == "counter") == family.hasSuffix("_total"))
            default:
                let name = line.prefix { $0 != "{" && $0 != " " }
                let ofHistogram = ["_bucket", "_sum", "_count"].map { family + $0 }.contains { $0 == name }
                #expect(kinds[family] == "histogram" ? ofHistogram : name == family, "\(line)")
                #expect(Double(words.last ?? "") != nil, "\(line)")
            }
        }
        #expect(kinds.count == 34)
        for (name, _) in kinds {
            #expect(name.hasPrefix("waypost_") && name.wholeMatch(of: /[a-z_]+/) != nil)
            #expect(kinds["\(name)_total"] == nil, "\(name) is two families for OpenMetrics")
        }
    }
}

@Suite struct EventLogging {
    final class Lines: Sendable {
        private let bytes = Locked([UInt8]())
        func append(_ newBytes: [UInt8]) { bytes.withLock { $0 += newBytes } }
        var all: [String] {
            bytes.withLock { String(decoding: $0, as: UTF8.self) }.split(separator: "\n").map(String.init)
        }
    }

    let clock = ManualClock()
    let lines = Lines()

    func makeWriter(_ level: LogLevel = .info, format: LogFormat = .text) -> LogWriter {
        let lines = lines
        return LogWriter(level: level, format: format, isReadByJournal: format == .text) { lines.append($0) }
    }

    func log(_ level: LogLevel = .info, logsFirstDelivery: Bool = false) -> EventLog {
        EventLog(log: makeWriter(level), clock: MonotonicClock(clock), logsFirstDelivery: logsFirstDelivery)
    }

    func monitor(_ level: LogLevel = .info) -> AgentMonitor {
        AgentMonitor(clock: MonotonicClock(clock), log: makeWriter(level))
    }

    /// The page shows everything that an operator should know, even if the log's level is high.
    @Test func reachesThePageRegardlessOfTheLogLevel() {
        let (lines, heard) = (lines, Lines())
        let log = LogWriter(
            level: .error, format: .text, isReadByJournal: true, output: { lines.append($0) },
            listener: { level, text, _ in heard.append(Array("\(level.rawValue) \(text)\n".utf8)) })
        for level in LogLevel.allCases { log.write(level, "logged as \(level.rawValue)\u{1B}") }
        #expect(lines.all == ["<3>logged as error\u{FFFD}"])
        #expect(heard.all == ["error", "warning", "info"].map { "\($0) logged as \($0)\u{FFFD}" })
    }

    /// The start, a change, a reminder and the end are logged. Alternating states are logged once.
    @Test func logsAProblemOnceAndThenPeriodically() {
        let monitor = monitor()
        let busy = ReportingEvent.failed(.retry(.answered(.sample(503)), after: nil), traffic: Traffic())
        for _ in 0..<61 {
            monitor.observe(busy)
            monitor.observe(Why.noToken)
            clock.advance(by: .seconds(10))
        }
        monitor.observe(.delivered(Status.batch, traffic: Traffic(), took: .zero))
        #expect(
            lines.all == [
                "<4>Fleet Engine busy: 503 message; wait; Waypost retries by itself",
                "<3>token request rejected by the issuer: the issuer answered 403; run waypost token, and correct the "
                    + "configuration's authorization section or enrol the vehicle in the backend",
                "<4>Fleet Engine busy: 503 message; wait; Waypost retries by itself (59 more times since last logged)",
                "<3>token request rejected by the issuer: the issuer answered 403; run waypost token, and correct the "
                    + "configuration's authorization section or enrol the vehicle in the backend "
                    + "(59 more times since last logged)",
                "<6>delivery works again; 1 update delivered at once",
            ])
    }

    @Test func countsNoUpdateForAHeartbeat() {
        let monitor = monitor()
        monitor.observe(Why.unreachable)
        let heartbeat = UploadBatch(last: Status.stored, lastIsPending: false, past: [])
        monitor.observe(.delivered(heartbeat, traffic: Traffic(), took: .zero))
        #expect(lines.all.last == "<6>delivery works again")
    }

    @Test func writesTheCodeInJSON() throws {
        let monitor = AgentMonitor(clock: MonotonicClock(clock), log: makeWriter(format: .json))
        monitor.observe(Why.noToken)
        let entry = try JSONValue(parsing: Array(try #require(lines.all.first).utf8))
        #expect(entry["code"]?.stringValue == "token_request_rejected" && entry["level"]?.stringValue == "error")
    }

    /// Each flaw of a token is logged with its code. Its condition ends with the first flawless token.
    @Test func reportsFlawsOfTokens() throws {
        let monitor = AgentMonitor(clock: MonotonicClock(clock), log: makeWriter(format: .json))
        let van = AuthorizationContext(vehicleID: "v")
        func codes() -> [ConditionCode] {
            monitor.snapshot.conditions.visible(at: monitor.uptime).map(\.code)
        }
        func renew(_ warnings: [AuthorizationWarning]) {
            if !warnings.isEmpty { monitor.note(.warnings(warnings)) }
            monitor.note(.renewal(.working(remaining: .seconds(3600)), van))
        }
        let flaws: [AuthorizationWarning] = [
            .rejectedTokenReissued(van), .unknownLifetime(van, assumed: .seconds(300)),
        ]
        renew(flaws)
        clock.advance(by: .seconds(599))
        renew([])  // the cache repeats a warning only after ten minutes
        #expect(codes() == [.tokenSupplyAtRisk])
        let shown = monitor.snapshot.conditions.visible(at: monitor.uptime)
        #expect(shown.first?.condition.causes.map(\.sentence.description) == flaws.map(\.description), "each flaw")
        let entries = try lines.all.map { try JSONValue(parsing: Array($0.utf8)) }
        #expect(entries.map { $0["code"]?.stringValue } == ["token_supply_at_risk", "token_supply_at_risk"])
        #expect(entries.allSatisfy { $0["level"]?.stringValue == "warning" })
        clock.advance(by: .seconds(1))
        renew([])
        #expect(codes() == [])
        #expect(lines.all.count == 3)
        monitor.note(.warnings([.rejectedTokenReissued(van)]))
        #expect(codes() == [.tokenSupplyAtRisk])
        monitor.note(.warnings([]))
        #expect(codes() == [])
    }

    @Test func logsTheFirstDeliveryOfARunWithItsDelay() {
        let log = log(logsFirstDelivery: true)
        for second in 0..<2 {
            let fix = Fix(timeOfFix: Status.stored.update.timeOfFix, latitude: 50, longitude: 10)
            log.observe(.fix(fix))
            log.observe(.accepted(Status.stored))
            clock.advance(by: .milliseconds(150))
            log.observe(.uploading(Status.batch))
            clock.advance(by: .milliseconds(250 + second))
            log.observe(.delivered(Status.batch, traffic: Traffic(), took: .zero))
        }
        #expect(lines.all == ["<6>first position of this run delivered, 400 ms after its fix"])
    }

    @Test func logsAFirstDeliveryFromThePreviousRun() {
        let log = log(logsFirstDelivery: true)
        log.observe(.uploading(Status.batch))
        log.observe(.delivered(Status.batch, traffic: Traffic(), took: .zero))
        #expect(lines.all == ["<6>first position of this run delivered, from the previous run"])
    }

    /// The next update was accepted between the reading of the batch and its upload.
    @Test func logsAFirstDeliveryThatWasOvertakenByANewerUpdate() {
        let log = log(logsFirstDelivery: true)
        let first = Status.stored.update.timeOfFix
        for time in [first, first.advanced(by: .seconds(5))] {
            log.observe(.fix(Fix(timeOfFix: time, latitude: 50, longitude: 10)))
            log.observe(.accepted(Status.stored))
        }
        log.observe(.uploading(Status.batch))
        log.observe(.delivered(Status.batch, traffic: Traffic(), took: .zero))
        #expect(lines.all == ["<6>first position of this run delivered"])
    }

    /// A start isn't a problem, but a receiver that comes and goes is a condition.
    @Test func logsEachNewReceiverState() {
        let log = log()
        let states: [ReceiverState] = [
            .starting(source: "/dev/x", .openedAt(baudRate: 9600)),
            .waiting(source: "/dev/x", .silent(.standardInput, .seconds(5), alsoOpenIn: nil)),
            .receiving(source: "/dev/x"), .noPosition(source: "/dev/x", hadOne: true), .receiving(source: "/dev/x"),
        ]
        for state in states + states + states { log.observe(.receiver(state)) }
        let round = [
            "<6>/dev/x: open at 9600 baud, waiting for the first sentence", "<6>/dev/x: receiving",
            "<6>/dev/x: receiving",
        ]
        #expect(lines.all == round + round, "no other line follows within ten minutes")
    }

    /// The zone would be 200 km away if its coordinates were swapped.
    @Test func warnsOfAPrivateZoneWithSwappedCoordinatesUntilAFixIsNear() {
        let zones = [(48.1, 11.5), (11.5, 48.1)].map {
            PrivateZone(latitude: $0.0, longitude: $0.1, radiusMeters: 100)
        }
        let monitor = monitor(.info)
        let distant = DistantZones(zones, monitor: monitor)
        var fix = Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 50, longitude: 11.5)
        for _ in 0..<2 { distant.observe(.fix(fix)) }
        let topic = ActiveConditions.Topic.code(.privateModeMisconfigured)
        #expect(monitor.snapshot.conditions.active(on: topic)?.condition == Condition(distantZones: [1]))
        #expect(lines.all.count == 1)
        #expect(lines.all.first?.contains("reporting.privateZones[1]") == true, "\(lines.all)")
        #expect(lines.all.first?.contains("check that latitude and longitude are not swapped") == true, "\(lines.all)")
        fix.latitude = 12
        fix.longitude = 48
        distant.observe(.fix(fix))
        #expect(monitor.snapshot.conditions.active(on: topic) == nil)
    }

    @Test func keepsCoordinatesOutOfEveryLevel() {
        let log = ReportingObservers([monitor(.debug), log(.debug)])
        var fix = Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 50.123456, longitude: 10.654321)
        fix.speedMetersPerSecond = 3
        log.observe(.fix(fix))
        log.observe(.rejected(fix, .jump(meters: 5)))
        log.observe(.accepted(Status.stored))
        log.observe(.uploading(Status.batch))
        log.observe(.delivered(Status.batch, traffic: Traffic(), took: .zero))
        #expect(!lines.all.isEmpty)
        #expect(lines.all.allSatisfy { !$0.contains("123456") && !$0.contains("654321") })
    }

    @Test func writesJSONWithOneLinePerEntry() throws {
        let lines = lines
        let writer = LogWriter(level: .info, format: .json, isReadByJournal: false) { lines.append($0) }
        writer.write(.error, "first\nsecond \"quoted\"\u{1B}[2J")
        writer.write(.debug, "not wanted")
        let entry = try JSONValue(parsing: Array(try #require(lines.all.first).utf8))
        #expect(lines.all.count == 1)
        #expect(entry["message"]?.stringValue == "first second \"quoted\"\u{FFFD}[2J")
        #expect(entry["level"]?.stringValue == "error")
    }

    @Test(arguments: [(LogFormat.text, "<4>3 log lines"), (.json, "\"level\":\"warning\",\"message\":\"3 log lines")])
    func logsTheNumberOfDroppedLines(format: LogFormat, start: String) {
        let writer = LogWriter(level: .info, format: format, isReadByJournal: true)
        let notice = String(decoding: writer.notice(ofDropped: 3), as: UTF8.self)
        #expect(notice.contains("\(start) dropped: standard error was not read"))
        #expect(notice.hasSuffix("\n"))
    }
}
