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
import TimeAndChance
import VehicleAuthorization
@testable import Waypost
import WaypostTestSupport

@Suite struct Status {
    let clock = ManualClock()

    let uptime: MonotonicClock

    init() { uptime = MonotonicClock(clock) }

    func monitor(systemTime: (@Sendable () -> UTCTime)? = nil) -> AgentMonitor {
        AgentMonitor(clock: uptime, systemTime: systemTime)
    }

    static let stored = StoredUpdate(
        sequence: 1,
        update: LocationUpdate(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 50, longitude: 10))
    static let batch = UploadBatch(last: stored, lastIsPending: true, past: [])

    func report(
        _ monitor: AgentMonitor, _ outbox: StoreSummary = StoreSummary(Ledger()),
        durability: OutboxDurability = .full, surroundings: StatusReport.Surroundings = StatusReport.Surroundings()
    ) -> StatusReport {
        StatusReport(
            vehicle: "providers/p/vehicles/v", snapshot: monitor.snapshot, outbox: outbox, durability: durability,
            surroundings: surroundings, at: uptime.now)
    }

    /// Three days behind: by Fleet Engine's clock, by a host's that is kept right; never by one that nothing keeps
    /// right, and never in a recording.
    @Test(
        arguments: [
            (isLive: true, isSynchronized: true, server: false, lag: 259_200, told: 259_200),
            (true, false, true, 259_200, 259_200), (true, false, false, 259_200, nil), (true, true, false, 3600, nil),
            (true, true, false, -7200, nil), (false, true, true, 259_200, nil),
        ] as [(isLive: Bool, isSynchronized: Bool, server: Bool, lag: Int, told: Int?)])
    func tellsHowFarTheReceiverIsBehind(
        row: (isLive: Bool, isSynchronized: Bool, server: Bool, lag: Int, told: Int?)
    ) {
        let present = UTCTime(year: 2026, month: 11, day: 23)
        let host: (@Sendable () -> UTCTime)? = row.isLive ? { @Sendable in present } : nil
        let monitor = AgentMonitor(
            clock: uptime, systemTime: host, synchronizedTime: { row.isSynchronized ? present : nil })
        if row.server { monitor.observe(.serverTime(present)) }
        monitor.observe(
            .fix(Fix(timeOfFix: present.advanced(by: .seconds(-row.lag)), latitude: 1, longitude: 1)))
        let report = report(monitor)
        #expect(report.receiver.secondsBehind == row.told)
        let why = report.why(at: present)
        #expect(why.isWell == (row.told == nil) || row.lag < 0, "\(why.text)")
        let words = "time is 3 days behind the present"
        #expect(why.text.contains("The receiver's \(words), and") == (row.told != nil), "\(why.text)")
        #expect(OnlineCheck.receiver(of: report).text.contains(words) == (row.told != nil))
    }

    /// Standard input that has ended is worth a word when something came that could not be taken.
    @Test func tellsWhyNoFixWasTaken() {
        let monitor = monitor()
        #expect(monitor.snapshot.reasonForNoFix == nil)
        monitor.observe(.receiverWarning(.antennaOpen))
        #expect(monitor.snapshot.reasonForNoFix == nil)
        monitor.observe(.receiverWarning(.dateTooEarly))
        #expect(monitor.snapshot.reasonForNoFix == ReceiverWarning.dateTooEarly.description)
        let fix = Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 1, longitude: 1)
        monitor.observe(.rejected(fix, .notAdvancing))
        #expect(
            monitor.snapshot.reasonForNoFix
                == "1 fix rejected; of the last one its time is not after that of the last fix")
        monitor.observe(.fix(fix))
        #expect(monitor.snapshot.reasonForNoFix == nil)
    }

    @Test func countsWhatHappens() {
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

    /// What holds delivery stands in the status and is no failed attempt.
    @Test(arguments: [DeliveryOutcome.prepareAgain(.sample("401 UNAUTHENTICATED")), .held(.sample("404 NOT_FOUND"))])
    func doesNotCountAHoldAsARetry(outcome: DeliveryOutcome) {
        let monitor = monitor()
        monitor.observe(.uploading(Self.batch))
        monitor.observe(.failed(outcome, traffic: Traffic(bytesSent: 10)))
        monitor.observe(.notPrepared(.noPermit(MissingPermit(.unavailable, "issuer down"))))
        let counts = monitor.snapshot.counts
        #expect(counts.requests == 1 && counts.retries == 0 && counts.traffic.bytesSent == 10)
        #expect(report(monitor).delivery.trouble == "there is no token: issuer down")
        #expect(report(monitor).delivery.troubleKind == "token")
    }

    @Test func tellsTroubleUntilADelivery() {
        let monitor = monitor()
        monitor.observe(.failed(.held(.sample("404 NOT_FOUND")), traffic: Traffic()))
        clock.advance(by: .seconds(100))
        #expect(report(monitor).delivery.trouble == "Fleet Engine takes no updates of this vehicle: 404 NOT_FOUND")
        #expect(report(monitor).delivery.troubleSeconds == 100)
        #expect(report(monitor).headline.contains("404 NOT_FOUND"))
        monitor.observe(.delivered(Self.batch, traffic: Traffic(), took: .zero))
        #expect(report(monitor).delivery.trouble == nil)
    }

    @Test func tellsThatPositionsAreSentFromMemoryOnlyUntilOneIsAccepted() {
        let monitor = monitor()
        monitor.observe(
            .notStored(LocationUpdate(.sample(0)), OutboxError(.unusable, "/o: the file system is read-only")))
        monitor.observe(.delivered(Self.batch, traffic: Traffic(), took: .zero))
        monitor.observe(.fix(Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 1, longitude: 1)))
        #expect(report(monitor).delivery.memoryOnly == "/o: the file system is read-only")
        let words = "positions are sent from memory only: /o: the file system is read-only"
        #expect(report(monitor).headline.hasSuffix(words))
        #expect(report(monitor).isHealthy)
        clock.advance(by: .seconds(300))
        monitor.observe(.fix(Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 1, longitude: 1)))
        #expect(!report(monitor).isHealthy)
        monitor.observe(.accepted(Self.stored))
        #expect(report(monitor).delivery.memoryOnly == nil)
        #expect(report(monitor).isHealthy)
    }

    /// Where positions go out from memory nothing waits for the outbox, whatever else fails of it.
    @Test func tellsOneTroubleOfTheOutboxOnce() {
        let monitor = monitor()
        let error = OutboxError(.unusable, "/o: disk I/O error")
        monitor.observe(.outboxFailed(error))
        #expect(report(monitor).delivery.troubleKind == "outbox")
        monitor.observe(.notStored(LocationUpdate(.sample(0)), error))
        #expect(report(monitor).delivery.trouble == nil)
        monitor.observe(.outboxFailed(error))
        #expect(report(monitor).delivery.trouble == nil && report(monitor).delivery.memoryOnly != nil)
    }

    @Test func isUnhealthyWithoutAFixForMinutes() {
        let monitor = monitor()
        monitor.observe(.fix(Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 1, longitude: 1)))
        #expect(report(monitor).isHealthy)
        clock.advance(by: .seconds(301))
        #expect(!report(monitor).isHealthy)
    }

    @Test func tellsTheReceiversState() {
        let monitor = monitor()
        #expect(report(monitor).receiver.kind == "starting")
        monitor.observe(.fix(Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 1, longitude: 1)))
        monitor.observe(.receiver(.receiving(source: "/dev/x")))
        #expect(report(monitor).headline.hasPrefix("last fix 0 s ago; "))
        monitor.observe(.receiver(.noPosition(source: "/dev/x", hadOne: true)))
        #expect(report(monitor).receiver.kind == "no_position")
        #expect(report(monitor).headline.hasPrefix("last fix 0 s ago (/dev/x: receiving, no position any more"))
        let lines = report(monitor).metrics().split(separator: "\n")
        #expect(lines.contains("waypost_receiver_state{state=\"no_position\"} 1"))
        #expect(lines.contains("waypost_receiver_state{state=\"receiving\"} 0"))
    }

    /// What is true for a moment is told for a moment.
    @Test func tellsTheSkyAndHowGoodThePositionIs() throws {
        let monitor = monitor()
        #expect(report(monitor).receiver.sky == nil && report(monitor).receiver.satellitesInView == nil)
        let galileo = Satellite(.galileo, 7, elevation: 40, azimuth: 250, signal: 41, isUsed: true)
        monitor.observe(.sky(Sky([Satellite(.gps, 5, elevation: 9, azimuth: 10), galileo])))
        #expect(report(monitor).receiver.satellitesUsed == 1, "before a fix says it")
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

    @Test func tellsFromWhomTheTokenIsAndForHowLong() {
        let monitor = monitor()
        let present = UTCTime(year: 2026, month: 1, day: 5)
        func token() -> StatusReport.Token? {
            report(
                monitor,
                surroundings: StatusReport.Surroundings(tokenProvider: "https://tokens.example", systemTime: present)
            ).token
        }
        #expect(token()?.provider == "https://tokens.example" && token()?.expiresAt == nil)
        monitor.note(.renewal(.works(remaining: .seconds(1800)), AuthorizationContext(vehicleID: "van-7")))
        #expect(token()?.expiresAt == "2026-01-05T00:30:00.000Z" && token()?.secondsLeft == 1800)
        #expect(token()?.lastRejection == nil)
        monitor.observe(.failed(.prepareAgain(.sample("401 UNAUTHENTICATED")), traffic: Traffic()))
        monitor.note(.renewal(.lapsed, AuthorizationContext(vehicleID: "van-7")))
        clock.advance(by: .seconds(5))
        #expect(token()?.expiresAt == nil && token()?.secondsLeft == nil)
        #expect(token()?.lastRejection == "Fleet Engine rejected it: 401 UNAUTHENTICATED")
        #expect(token()?.lastRejectionSecondsAgo == 5)
        monitor.observe(.notPrepared(.noPermit(MissingPermit(.unavailable, "no answer"))))
        #expect(token()?.lastRejectionSecondsAgo == 5, "nobody has rejected anything")
        monitor.note(
            .renewal(
                .fails(AuthorizationError(.refused, "answered 403"), remaining: .seconds(60)),
                AuthorizationContext(vehicleID: "van-7")))
        #expect(token()?.lastRejection == "answered 403" && token()?.secondsLeft == 60)
        clock.advance(by: .seconds(61))
        #expect(token()?.expiresAt == nil && token()?.lastRejectionSecondsAgo == 61)
    }

    /// Fleet Engine's clock is right; the receiver's is heard while Fleet Engine's has not been for ten minutes.
    @Test func tellsByHowMuchTheHostsClockIsAhead() {
        let present = UTCTime(year: 2026, month: 1, day: 5)
        let monitor = monitor { present }
        func fix(_ offset: Int) -> ReportingEvent {
            .fix(Fix(timeOfFix: present.advanced(by: .seconds(offset)), latitude: 1, longitude: 1))
        }
        #expect(report(monitor).clockOffsetSeconds == nil)
        monitor.observe(fix(100))
        #expect(report(monitor).clockOffsetSeconds == -100)
        monitor.observe(.serverTime(present.advanced(by: .milliseconds(-2600))))
        monitor.observe(fix(100))
        #expect(report(monitor).clockOffsetSeconds == 2)
        clock.advance(by: .seconds(600))
        monitor.observe(fix(-7))
        #expect(report(monitor).clockOffsetSeconds == 7)
        #expect(report(self.monitor()).clockOffsetSeconds == nil, "of a log")
    }

    /// The age of what waits is told on the receiver's scale, whatever the host's clock says.
    @Test func tellsWhatTheOutboxTakesAndHowOldItsOldestIs() {
        let monitor = monitor()
        let time = UTCTime(year: 2026, month: 1, day: 5)
        let extent = StoreExtent(bytes: 70_000, maximumBytes: 1 << 20, freeDiskBytes: 5000, oldestPending: time)
        let surroundings = StatusReport.Surroundings(
            outboxPath: "/o.sqlite", extent: extent, residentBytes: 18_000_000,
            systemTime: UTCTime(year: 1970, month: 1, day: 1))
        func outbox() -> StatusReport.Outbox? { report(monitor, surroundings: surroundings).outbox }
        #expect(outbox()?.path == "/o.sqlite")
        #expect(outbox()?.bytes == 70_000 && outbox()?.maximumBytes == 1 << 20)
        #expect(outbox()?.oldestPendingSeconds == 0)
        monitor.observe(.fix(Fix(timeOfFix: time.advanced(by: .seconds(3600)), latitude: 1, longitude: 1)))
        clock.advance(by: .seconds(9))
        #expect(outbox()?.oldestPendingSeconds == 3609)
        let host = report(monitor, surroundings: surroundings).host
        #expect(host?.freeDiskBytes == 5000 && host?.residentBytes == 18_000_000)
    }

    @Test func countsHowLongDeliveriesTook() {
        let monitor = monitor()
        func deliver(_ age: Int, isPending: Bool = true) {
            let time = UTCTime(year: 2026, month: 1, day: 5).advanced(by: .zero - .seconds(age))
            let stored = StoredUpdate(
                sequence: 1, update: LocationUpdate(timeOfFix: time, latitude: 1, longitude: 1))
            let batch = UploadBatch(last: stored, lastIsPending: isPending, past: [Self.stored])
            monitor.observe(.delivered(batch, traffic: Traffic(), took: .zero))
        }
        deliver(3)
        #expect(monitor.snapshot.delays == DeliveryDelays(), "no fix tells the present yet")
        monitor.observe(.fix(Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 1, longitude: 1)))
        for age in [0, 1, 2, 60, 61, 86_400, 86_401, -5] { deliver(age) }
        deliver(7, isPending: false)
        #expect(monitor.snapshot.delays.counts == [3, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1])
        let lines = report(monitor).metrics().split(separator: "\n")
        for line in [
            "waypost_delivery_delay_seconds_bucket{le=\"1\"} 3", "waypost_delivery_delay_seconds_bucket{le=\"60\"} 5",
            "waypost_delivery_delay_seconds_bucket{le=\"+Inf\"} 8", "waypost_delivery_delay_seconds_count 8",
            "waypost_delivery_delay_seconds_sum 172925.0",
        ] {
            #expect(lines.contains(Substring(line)), "\(line)")
        }
    }

    @Test func tellsReasonsAndTimesAndWhatACrashMayTake() throws {
        var summary = StoreSummary(Ledger(accepted: 3, evicted: 2, quarantined: 1))
        let time = UTCTime(year: 2026, month: 1, day: 5)
        summary.evictions[.age] = UpdateTally(count: 2, timesOfFix: time...time.advanced(by: .seconds(9)))
        let data = try JSONEncoder().encode(report(monitor(), summary, durability: .economy))
        let json = try JSONValue(parsing: Array(data))
        #expect(json["evictions"]?["age"]?["count"]?.integerValue == 2)
        #expect(json["evictions"]?["age"]?["lastTimeOfFix"]?.stringValue == "2026-01-05T00:00:09.000Z")
        #expect(json["evictions"]?["oldest"]?["count"]?.integerValue == 0)
        #expect(json["quarantine"]?["count"]?.integerValue == 1)
        #expect(json["durability"]?["mode"]?.stringValue == "economy")
        #expect(json["durability"]?["secondsAtRisk"]?.integerValue == 60)
        #expect(json["durability"]?["updatesAtRisk"]?.integerValue == 30)
    }

    @Test func tellsNowAndThenWhatTheOutboxGivesUp() {
        var evictions = Evictions()
        evictions[.oldest].count = 500
        var news = EvictionNotice(since: evictions)
        #expect(news.line(evictions, at: .zero) == nil, "what was before")
        evictions[.discarded].count = 3
        #expect(news.line(evictions, at: .zero) == nil, "who discarded them knows")
        evictions[.thinned].count = 120
        #expect(
            news.line(evictions, at: .seconds(1))
                == "pending updates evicted: 120 thinned, the others keep the track. "
                + "Find out why nothing is delivered")
        evictions[.oldest].count = 756
        evictions[.age].count = 1
        #expect(news.line(evictions, at: .seconds(600)) == nil)
        #expect(
            news.line(evictions, at: .seconds(601))
                == "pending updates evicted: 256 of the oldest; 1 too old. "
                + "Find out why nothing is delivered")
        #expect(news.line(evictions, at: .seconds(2000)) == nil)
    }

    @Test func metricsHaveTheFiveWordsOfTheLedger() {
        let ledger = Ledger(accepted: 10, delivered: 5, pending: 2, evicted: 2, quarantined: 1)
        var evictions = Evictions()
        evictions[.thinned].count = 2
        let lines = report(monitor(), StoreSummary(ledger, evictions: evictions)).metrics().split(separator: "\n")
        // Every reason has its label from the first day on.
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

    @Test func metricsNameReleaseAndVehicle() {
        let lines = report(monitor()).metrics().split(separator: "\n")
        #expect(lines.contains("waypost_build_info{version=\"\(Release.version)\",vehicle=\"v\",configuration=\"\"} 1"))
    }

    /// Whatever is wrong; the full set has everything that the short one has.
    @Test func theFleetProfileHasAtMostTwelveSeries() throws {
        let monitor = monitor { UTCTime(year: 2026, month: 1, day: 5) }
        monitor.note(loadedAt: .system)
        monitor.observe(.fix(Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 1, longitude: 1)))
        monitor.observe(.delivered(Self.batch, traffic: Traffic(), took: .zero))
        monitor.observe(.failed(.prepareAgain(.sample("401")), traffic: Traffic()))
        let extent = StoreExtent(bytes: 1, maximumBytes: 2, freeDiskBytes: 3, oldestPending: nil)
        let report = report(
            monitor,
            surroundings: StatusReport.Surroundings(
                configurationHash: "0123456789abcdef", extent: extent, residentBytes: 4, systemTime: .system))
        func series(_ text: String) -> [Substring] { text.split(separator: "\n").filter { !$0.hasPrefix("#") } }
        let fleet = series(report.metrics(.fleet))
        #expect(fleet.count == 10 && Set(fleet).isSubset(of: series(report.metrics())))
        #expect(fleet.contains { $0.hasSuffix(#"configuration="0123456789abcdef"} 1"#) })
        #expect(fleet.contains(#"waypost_delivery_trouble{kind="token_rejected"} 1"#))
    }

    /// What `promtool check metrics` asks for, and that no name is a gauge's and, with `_total` behind it, a counter's.
    @Test func metricsKeepTheRulesOfPrometheus() {
        var kinds: [Substring: Substring] = [:]
        var family: Substring = ""
        let monitor = monitor { UTCTime(year: 2026, month: 1, day: 5) }
        var fix = Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 1, longitude: 1)
        (fix.hdop, fix.horizontalAccuracyMeters) = (0.9, 4)
        monitor.observe(.fix(fix))
        monitor.observe(.sky(Sky([Satellite(.gps, 1, isUsed: true)])))
        monitor.observe(.failed(.prepareAgain(.sample("401")), traffic: Traffic()))
        let extent = StoreExtent(bytes: 1, maximumBytes: 2, freeDiskBytes: 3, oldestPending: nil)
        let surroundings = StatusReport.Surroundings(extent: extent, residentBytes: 4, systemTime: .system)
        for line in report(monitor, surroundings: surroundings).metrics().split(separator: "\n") {
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
        #expect(kinds.count == 36)
        for label in report(monitor, surroundings: surroundings).metrics().matches(of: /(\w+)="([^"]*)"/)
        where !["version", "vehicle", "configuration", "le"].contains(label.1) {
            #expect(label.2.wholeMatch(of: /[a-z_]+/) != nil, "\(label.0)")
        }
        for (name, _) in kinds {
            #expect(name.hasPrefix("waypost_") && name.wholeMatch(of: /[a-z_]+/) != nil)
            #expect(kinds["\(name)_total"] == nil, "\(name) is two families for OpenMetrics")
        }
    }
}

@Suite struct EventLogging {
    /// The lines that a log wrote.
    final class Lines: Sendable {
        private let bytes = Locked([UInt8]())
        func append(_ more: [UInt8]) { bytes.withLock { $0 += more } }
        var all: [String] {
            bytes.withLock { String(decoding: $0, as: UTF8.self) }.split(separator: "\n").map(String.init)
        }
    }

    let clock = ManualClock()
    let lines = Lines()

    func log(_ level: LogLevel = .info, tellsFirstDelivery: Bool = false) -> EventLog {
        let lines = lines
        let writer = LogWriter(level: level, format: .text, isReadByJournal: true) { lines.append($0) }
        return EventLog(log: writer, clock: MonotonicClock(clock), tellsFirstDelivery: tellsFirstDelivery)
    }

    /// The page shows what an operator should know, however little the log is to say.
    @Test func isHeardByThePageWhateverIsWritten() {
        let (lines, heard) = (lines, Lines())
        let log = LogWriter(
            level: .error, format: .text, isReadByJournal: true, output: { lines.append($0) },
            heard: { heard.append(Array("\($0.rawValue) \($1)\n".utf8)) })
        for level in LogLevel.allCases { log.write(level, "told as \(level.rawValue)\u{1B}") }
        #expect(lines.all == ["<3>told as error\u{FFFD}"])
        #expect(heard.all == ["error", "warning", "info"].map { "\($0) told as \($0)\u{FFFD}" })
    }

    @Test func tellsATroubleOnceAndThenNowAndThen() {
        let log = log()
        for _ in 0..<100 {
            log.observe(.failed(.retry(.sample("503"), after: nil), traffic: Traffic()))
            clock.advance(by: .seconds(10))
        }
        #expect(
            lines.all == [
                "<4>upload failed, retry follows: 503",
                "<4>upload failed, retry follows: 503 (59 more times since last logged)",
            ])
    }

    @Test func tellsATroubleOnceThoughItsFiguresChange() {
        let log = log()
        for milliseconds in 0..<9 {
            log.observe(
                .failed(.unanswered(.sample("failed to connect after \(milliseconds) ms")), traffic: Traffic()))
        }
        #expect(lines.all == ["<4>Fleet Engine unreachable, retry follows: failed to connect after 0 ms"])
    }

    @Test func tellsAHoldOnceAndThenNowAndThen() {
        let log = log()
        for _ in 0..<30 {
            log.observe(.failed(.prepareAgain(.sample("401 UNAUTHENTICATED")), traffic: Traffic()))
            clock.advance(by: .seconds(45))
        }
        #expect(
            lines.all == [
                "<4>token rejected, updates are kept: 401 UNAUTHENTICATED",
                "<4>token rejected, updates are kept: 401 UNAUTHENTICATED (13 more times since last logged)",
                "<4>token rejected, updates are kept: 401 UNAUTHENTICATED (13 more times since last logged)",
            ])
    }

    /// The disk is full and positions go out from memory: told now and then, not at each of them.
    @Test func remindsOfWhatIsNotStored() {
        let log = log()
        for _ in 0..<3 {
            log.observe(.notStored(LocationUpdate(.sample(0)), OutboxError(.full, "no space is left")))
            log.observe(.delivered(Status.batch, traffic: Traffic(), took: .zero))
        }
        #expect(lines.all == ["<3>positions are sent from memory only: no space is left"])
    }

    @Test func countsAndTellsWhatIsDropped() {
        let log = log()
        var counts = DeliveryCounts()
        for _ in 0..<3 {
            log.observe(.dropped(count: 2))
            counts.count(.dropped(count: 2))
        }
        #expect(counts.dropped == 6)
        #expect(
            lines.all == [
                "<4>oldest positions dropped: the outbox accepts none and memory is full; resolve the outbox's error"
            ])
    }

    /// A private vehicle's state is all that is told of it.
    @Test func tellsTheRecoveryByAState() {
        let log = log()
        log.observe(.notPrepared(.noPermit(MissingPermit(.unavailable, "no connection"))))
        log.observe(.announced(.offline, traffic: Traffic()))
        #expect(
            lines.all == [
                "<4>no token, updates are kept: no connection", "<6>there is a token again",
                "<6>delivery works again", "<6>vehicle is OFFLINE",
            ])
    }

    @Test func tellsTheRecovery() {
        let log = log()
        log.observe(.failed(.retry(.sample("503"), after: nil), traffic: Traffic()))
        log.observe(.delivered(Status.batch, traffic: Traffic(), took: .zero))
        log.observe(.delivered(Status.batch, traffic: Traffic(), took: .zero))
        #expect(lines.all.count == 2)
        #expect(lines.all.last == "<6>delivery works again; 1 update delivered at once")
    }

    @Test func tellsTheFirstDeliveryOfARunWithItsDelay() {
        let log = log(tellsFirstDelivery: true)
        for second in 0..<2 {
            let fix = Fix(timeOfFix: Status.stored.update.timeOfFix, latitude: 50, longitude: 10)
            log.observe(.fix(fix))
            log.observe(.accepted(Status.stored))
            clock.advance(by: .milliseconds(150))
            log.observe(.uploading(Status.batch))
            clock.advance(by: .milliseconds(250 + second))
            log.observe(.delivered(Status.batch, traffic: Traffic(), took: .zero))
        }
        #expect(lines.all == ["<6>the first position of this run is delivered, 400 ms after its fix"])
    }

    @Test func tellsAFirstDeliveryOfWhatTheLastRunLeft() {
        let log = log(tellsFirstDelivery: true)
        log.observe(.uploading(Status.batch))
        log.observe(.delivered(Status.batch, traffic: Traffic(), took: .zero))
        #expect(lines.all == ["<6>the first position of this run is delivered, one of the run before"])
    }

    /// The next update was accepted between the reading of the batch and its upload.
    @Test func tellsAFirstDeliveryThatANewerUpdateOvertook() {
        let log = log(tellsFirstDelivery: true)
        let first = Status.stored.update.timeOfFix
        for time in [first, first.advanced(by: .seconds(5))] {
            log.observe(.fix(Fix(timeOfFix: time, latitude: 50, longitude: 10)))
            log.observe(.accepted(Status.stored))
        }
        log.observe(.uploading(Status.batch))
        log.observe(.delivered(Status.batch, traffic: Traffic(), took: .zero))
        #expect(lines.all == ["<6>the first position of this run is delivered"])
    }

    @Test func countsNoUpdateOfAHeartbeat() {
        let log = log()
        log.observe(.failed(.retry(.sample("503"), after: nil), traffic: Traffic()))
        let heartbeat = UploadBatch(last: Status.stored, lastIsPending: false, past: [])
        log.observe(.delivered(heartbeat, traffic: Traffic(), took: .zero))
        #expect(lines.all.last == "<6>delivery works again")
    }

    @Test func tellsThatThereIsATokenAgain() {
        let log = log()
        log.observe(.notPrepared(.noPermit(MissingPermit(.rejected, "answered 403"))))
        log.observe(.uploading(Status.batch))
        log.observe(.uploading(Status.batch))
        #expect(lines.all == ["<4>no token, updates are kept: answered 403", "<6>there is a token again"])
    }

    @Test(arguments: [false, true]) func tellsThatTheOutboxWorksAgain(isStoring: Bool) {
        let log = log()
        log.observe(.outboxFailed(OutboxError(.unusable, "disk I/O error")))
        for _ in 0..<2 { log.observe(isStoring ? .accepted(Status.stored) : .uploading(Status.batch)) }
        #expect(lines.all == ["<3>outbox: disk I/O error", "<6>the outbox works again"])
    }

    @Test func tellsThatFixesAreAcceptedAgain() {
        let log = log()
        let fix = Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 50, longitude: 10)
        for _ in 0..<70 {
            log.observe(.rejected(fix, .nullIsland))
            clock.advance(by: .seconds(1))
        }
        log.observe(.fix(fix))
        log.observe(.rejected(fix, .nullIsland))
        log.observe(.fix(fix))
        #expect(lines.all.dropFirst() == ["<6>fixes are accepted again, after 70 were rejected"])
    }

    /// The other one is 200 km away.
    @Test func warnsOnceOfAPrivateZoneWithSwappedCoordinates() {
        let zones = [(48.1, 11.5), (11.5, 48.1)].map {
            PrivateZone(latitude: $0.0, longitude: $0.1, radiusMeters: 100)
        }
        let distant = DistantZones(zones, log: LogWriter(level: .debug, format: .text) { lines.append($0) })
        let fix = Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 50, longitude: 11.5)
        for _ in 0..<2 { distant.observe(.fix(fix)) }
        let words =
            "warning: reporting.privateZones[1] is more than 1,000 km from the vehicle; check that latitude and longitude are "
            + "not swapped"
        #expect(lines.all.count == 1 && lines.all[0].hasSuffix(words), "\(lines.all)")
    }

    /// Before a tunnel, say: nothing was wrong in it.
    @Test func tellsNoEndOfASingleRejection() {
        let log = log()
        let fix = Fix(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 50, longitude: 10)
        log.observe(.rejected(fix, .nullIsland))
        clock.advance(by: .seconds(300))
        log.observe(.fix(fix))
        #expect(lines.all.count == 1)
    }

    @Test func tellsAReceiverThatComesAndGoesSeldomAndAtLastHowItStands() {
        let log = log()
        let states = [
            ReceiverState.waiting(source: "/dev/x", .silent(.standardInput, .seconds(5), alsoOpenIn: nil)),
            .receiving(source: "/dev/x"),
        ]
        for round in 0..<100 {
            log.observe(.receiver(states[round % 2]))
            clock.advance(by: .seconds(5))
        }
        #expect(lines.all.count <= 13)
        log.observe(.receiver(states[0]))
        // A heartbeat each minute.
        for _ in 0..<10 {
            clock.advance(by: .seconds(60))
            log.observe(.delivered(Status.batch, traffic: Traffic(), took: .zero))
        }
        #expect(lines.all.last == "<4>/dev/x: silent for 5 s; check the program that writes it")
    }

    /// A start is no trouble, a missing position is.
    @Test(arguments: [
        (
            ReceiverState.starting(source: "/dev/x", .openedAt(baudRate: 9600)),
            "<6>/dev/x: open at 9600 baud, waiting for the first sentence"
        ),
        (
            .receiving(source: "/dev/x", foundBaudRate: 115_200),
            "<6>/dev/x: receiving at 115200 baud (found; \"baudRate\": 115200 in the configuration saves the search)"
        ),
        (
            .noPosition(source: "/dev/x", hadOne: false),
            "<4>/dev/x: receiving, no position yet: antenna and sky view"
        ),
        (
            .noPosition(source: "/dev/x", hadOne: true),
            "<4>/dev/x: receiving, no position any more: antenna and sky view"
        ),
        (
            .waiting(source: "/dev/x", .deviceMissing),
            "<4>/dev/x: not there; plug the receiver in, or correct the path (ls -l /dev/serial/by-id)"
        ),
    ])
    func givesEachStateItsLevel(state: ReceiverState, line: String) {
        log().observe(.receiver(state))
        #expect(lines.all == [line])
    }

    @Test func tellsAReceiversStateWhenItChanges() {
        let log = log()
        for _ in 0..<3 { log.observe(.receiver(.waiting(source: "/dev/ttyUSB0", .deviceMissing))) }
        log.observe(.receiver(.receiving(source: "/dev/ttyUSB0")))
        log.observe(.receiver(.noPosition(source: "/dev/ttyUSB0", hadOne: true)))
        log.observe(.receiver(.receiving(source: "/dev/ttyUSB0")))
        #expect(
            lines.all == [
                "<4>/dev/ttyUSB0: not there; plug the receiver in, or correct the path (ls -l /dev/serial/by-id)",
                "<6>/dev/ttyUSB0: receiving",
                "<4>/dev/ttyUSB0: receiving, no position any more: antenna and sky view",
                "<6>/dev/ttyUSB0: receiving, with a position again",
            ])
    }

    @Test func remindsOfAReceiversWarningNowAndThen() {
        let log = log()
        for _ in 0..<3 { log.observe(.receiverWarning(.antennaOpen)) }
        log.observe(.receiverWarning(.foreignDatum))
        #expect(lines.all.count == 2)
        #expect(lines.all.first?.hasPrefix("<4>the receiver reports an open antenna line") == true)
    }

    @Test func keepsCoordinatesOutOfEveryLevel() {
        let log = log(.debug)
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

    @Test func tellsOnceThatTheClocksDisagree() {
        let lines = lines
        let writer = LogWriter(level: .info, format: .text, isReadByJournal: true) { lines.append($0) }
        let time = UTCTime(year: 2026, month: 1, day: 5)
        let comparison = ClockComparison(log: writer, systemTime: { time }, isSynchronized: { false })
        for offset in [0, 29, -29, 3600, 3600, 31, 0, -31] {
            comparison.observe(
                .fix(Fix(timeOfFix: time.advanced(by: .seconds(offset)), latitude: 1, longitude: 1)))
        }
        #expect(lines.all.map { $0.prefix(3) } == ["<4>", "<6>", "<4>"])
        // Each witness for itself.
        comparison.observe(.serverTime(time.advanced(by: .seconds(60))))
        #expect(lines.all.last?.contains("Fleet Engine 2026-01-05T00:01:00") == true)
    }

    /// A clock that something keeps right is not to be set.
    @Test(arguments: [(true, "the receiver says 2026-01-02"), (false, "the host's clock says 2026-01-05")])
    func blamesTheClockThatNothingKeepsRight(isSynchronized: Bool, words: String) {
        let lines = lines
        let writer = LogWriter(level: .info, format: .text, isReadByJournal: false) { lines.append($0) }
        let time = UTCTime(year: 2026, month: 1, day: 5)
        let comparison = ClockComparison(log: writer, systemTime: { time }, isSynchronized: { isSynchronized })
        comparison.observe(.fix(Fix(timeOfFix: time.advanced(by: .seconds(-259_200)), latitude: 1, longitude: 1)))
        #expect(lines.all.count == 1 && lines.all[0].contains(words), "\(lines.all)")
        #expect(lines.all[0].contains("set it (NTP") == !isSynchronized)
    }

    @Test func writesJSONAndOneLineAnEntry() throws {
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
    func tellsHowManyLinesNobodyTook(format: LogFormat, words: String) {
        let writer = LogWriter(level: .info, format: format, isReadByJournal: true)
        let notice = String(decoding: writer.notice(ofDropped: 3), as: UTF8.self)
        #expect(notice.contains("\(words) dropped, nothing read standard error"))
        #expect(notice.hasSuffix("\n"))
    }
}
