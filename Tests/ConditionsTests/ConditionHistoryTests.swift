import Conditions
import GNSS
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

/// The display and the log of conditions that begin, change and end.
@Suite struct ConditionHistory {
    private static let busy = Condition(.serviceBusy, "503", facts: .answer(status: 503))
    private static let noToken = Condition(.tokenRequestRejected, "the issuer answered 403")
    private static let full = Condition(.diskFull, "no space is left")

    enum Step: Sendable {
        case raise(Condition, ActiveConditions.Topic = .delivery, every: Int = 1, times: Int = 1)
        case clear(ActiveConditions.Topic = .delivery)
        case wait(Int)
    }

    /// Returns the codes of the logged lines; a minus marks an end.
    private static func loggedCodes(of steps: [Step]) -> [String] {
        var conditions = ActiveConditions()
        var now = Duration.zero
        var written: [String] = []
        func collectLines() {
            written += conditions.takeLines(at: now).map {
                ($0.severity == .info ? "-" : "") + $0.code.rawValue
            }
        }
        for step in steps {
            switch step {
            case .raise(let condition, let topic, let seconds, let times):
                for _ in 0..<times {
                    conditions.raise(condition, on: topic, at: now)
                    collectLines()
                    now += .seconds(seconds)
                }
            case .clear(let topic):
                conditions.clear(topic, at: now)
                collectLines()
            case .wait(let seconds):
                now += .seconds(seconds)
                collectLines()
            }
        }
        return written
    }

    @Test(
        arguments: [
            ([Step.raise(busy, every: 10, times: 60)], ["service_busy"]),
            ([.raise(busy, every: 10, times: 61)], ["service_busy", "service_busy"]),
            ([.raise(busy), .clear(), .clear()], ["service_busy", "-service_busy"]),
            // Two alternating conditions are logged once each, regardless of their figures.
            (
                (0..<50).flatMap { _ in [Step.raise(busy), .raise(noToken)] },
                ["service_busy", "token_request_rejected"]
            ),
            // An intermittent condition is logged once, with its first end, and again when it lasts.
            (
                (0..<20).flatMap { _ in [Step.raise(busy), .clear()] } + [.raise(busy), .wait(600)],
                ["service_busy", "-service_busy", "service_busy"]
            ),
            ([.raise(busy), .raise(full, .storing), .clear()], ["service_busy", "disk_full", "-service_busy"]),
            // The end of a single wrong fix isn't worth a line.
            ([.raise(busy, .rejections), .clear(.rejections)], ["service_busy"]),
            (
                [.raise(busy, .rejections, every: 1, times: 70), .clear(.rejections)],
                ["service_busy", "-service_busy"]
            ),
            ([.clear()], []),
        ] as [([Step], [String])])
    func logsChanges(steps: [Step], expected: [String]) {
        #expect(Self.loggedCodes(of: steps) == expected)
    }

    /// Two faults alternate every ten seconds. Each is logged once per interval.
    @Test func logsFewLinesInADayOfAlternatingFaults() {
        let turn = [Step.raise(Self.busy, every: 10), .raise(Self.noToken, every: 10)]
        let codes = Self.loggedCodes(of: Array(repeating: turn, count: 86_400 / 20).flatMap(\.self))
        #expect(codes.prefix(3) == ["service_busy", "token_request_rejected", "service_busy"])
        #expect(codes.count == 2 * 86_400 / 600)
    }

    /// libcurl has several texts for one failure. The status shows the text that was logged, until the next line.
    @Test func showsAFailedDeliveryInTheWordsOfTheLog() {
        func lost(_ text: ReportedText) -> Condition {
            Condition(.networkUnavailable, text, facts: .lost(.connectionLost))
        }
        var conditions = ActiveConditions()
        for (second, text) in [(0, "reset"), (10, "broken pipe"), (30, "not connected"), (600, "closed")] {
            if second == 30 { conditions.raise(Self.busy, on: .delivery, at: .seconds(20)) }
            conditions.raise(lost(ReportedText(text)), on: .delivery, at: .seconds(second))
            let shown = conditions.visible(at: .seconds(second)).map(\.condition.cause)
            #expect(shown == [second < 600 ? "reset" : "closed"])
        }
        let logged = conditions.takeLines(at: .seconds(600)).filter { $0.code == .networkUnavailable }
        #expect(logged.map { $0.text.description.contains("reset") } == [true, false])
    }

    /// A receiver that is being opened again may still fail, so only its first sentence ends the condition.
    @Test func logsTheEndOfASupersededCondition() {
        var conditions = ActiveConditions()
        conditions.raise(Condition(.receiverUnavailable, "no such device"), on: .receiver, at: .zero)
        conditions.supersede(.receiver)
        #expect(conditions.takeLines(at: .seconds(1)).map(\.isEnd) == [false])
        conditions.clear(.receiver, at: .seconds(2))
        conditions.clear(.receiver, at: .seconds(3))
        let ends = conditions.takeLines(at: .seconds(3))
        #expect(ends.map(\.isEnd) == [true] && ends.map(\.code) == [.receiverUnavailable])
    }

    /// A renewal works again with the next token, not when the current one expires.
    @Test func logsNoEndWhenATokenExpiresWithoutRenewal() {
        var conditions = ActiveConditions()
        conditions.raise(Condition(.tokenRenewalFailing, "403"), on: .renewal, at: .zero, until: .seconds(60))
        #expect(conditions.takeLines(at: .seconds(61)).map(\.isEnd) == [false])
        #expect(conditions.visible(at: .seconds(61)).isEmpty)
        conditions.clear(.renewal, at: .seconds(90))
        #expect(conditions.takeLines(at: .seconds(90)).map(\.isEnd) == [true])
    }

    /// A fix shows that nothing prevents fixes.
    @Test(arguments: ReceiverWarning.allCases) func endsWithAFixIfItPreventsFixes(warning: ReceiverWarning) {
        var conditions = ActiveConditions()
        conditions.record(.receiverWarning(warning), at: .zero, isLive: true)
        conditions.record(.fix(.sample(0)), at: .seconds(1), isLive: true)
        #expect(conditions.visible(at: .seconds(1)).isEmpty == warning.preventsFix)
    }

    /// Each problem of a rejected reload is a line with the code, and so is each repetition.
    @Test func logsEachCauseOnItsOwnLine() {
        var conditions = ActiveConditions()
        let condition = Condition(rejectedReload: "\"a\" is 5; use 6", and: ["\"b\" is missing; set it"], at: .zero)
        conditions.raise(condition, on: .code(.reloadRejected), at: .zero)
        let lines = conditions.takeLines(at: .zero)
        #expect(lines.map(\.code) == [.reloadRejected, .reloadRejected])
        #expect(lines.map(\.text) == condition.lines)
        #expect(lines[1].text.description.hasPrefix("reload rejected: \"b\" is missing; set it; correct"))
    }

    /// If a code were shown twice, the metric would have two identical series.
    @Test func showsACodeOnce() {
        let active = Condition(.outboxDamaged, "damaged again")
        var conditions = ActiveConditions()
        conditions.raise(Condition(.outboxDamaged, "rebuilt"), on: .code(.outboxDamaged), at: .zero)
        #expect(conditions.visible(at: .zero).count == 1)
        conditions.raise(active, on: .storing, at: .zero)
        #expect(conditions.visible(at: .zero).map(\.condition) == [active])
    }

    @Test func countsRepetitionsInTheReminder() {
        var conditions = ActiveConditions()
        for second in stride(from: 0, through: 600, by: 10) {
            conditions.raise(Self.busy, on: .delivery, at: .seconds(second))
        }
        #expect(
            conditions.takeLines(at: .seconds(600)).map(\.text.description) == [
                "Fleet Engine busy: 503; wait; Waypost retries by itself",
                "Fleet Engine busy: 503; wait; Waypost retries by itself (59 more times since last logged)",
            ])
    }

    /// The time without a fix is counted from the last fix, and shown once it is long.
    @Test func showsAConditionOnceItHasLastedLongEnough() {
        var conditions = ActiveConditions()
        conditions.restart(.noPosition, on: .timeWithoutFix, at: .seconds(10))
        conditions.change(.timeWithoutFix, to: Condition(.noPosition, "none", facts: .sky(hasSignal: false)))
        #expect(conditions.takeLines(at: .seconds(99)).isEmpty && conditions.visible(at: .seconds(99)).isEmpty)
        #expect(conditions.takeLines(at: .seconds(100)).map(\.code) == [.noPosition])
        #expect(conditions.visible(at: .seconds(100)).map(\.since) == [.seconds(10)])
        conditions.raise(Condition(.receiverUnavailable, "unplugged"), on: .receiver, at: .seconds(101))
        #expect(
            conditions.visible(at: .seconds(102)).map(\.code) == [.receiverUnavailable],
            "this condition explains the missing fix")
        conditions.restart(.noPosition, on: .timeWithoutFix, at: .seconds(103))
        conditions.clear(.receiver, at: .seconds(103))
        #expect(conditions.visible(at: .seconds(104)).isEmpty)
    }

    /// A receiver whose positions aren't used has a specific condition, so the antenna isn't blamed.
    @Test(arguments: ReceiverWarning.allCases) func showsOneReasonForAMissingFix(warning: ReceiverWarning) {
        var conditions = ActiveConditions()
        conditions.start(at: .zero)
        conditions.record(.receiverWarning(warning), at: .seconds(80), isLive: true)
        let codes = conditions.visible(at: .seconds(100)).map(\.code)
        #expect(codes.contains(.noPosition) == !warning.preventsFix && codes.contains(Condition(warning).code))
    }

    @Test func endsAConditionThatIsNotRaisedAgain() {
        var conditions = ActiveConditions()
        for second in [0, 500] {
            let now = Duration.seconds(second)
            conditions.raise(
                Condition(.antennaFault, "so"), on: .code(.antennaFault), at: now, until: now + .seconds(600))
        }
        #expect(conditions.visible(at: .seconds(1099)).map(\.since) == [.zero])
        #expect(conditions.visible(at: .seconds(1100)).isEmpty)
        #expect(conditions.takeLines(at: .seconds(1100)).map(\.severity) == [.warning, .info])
        #expect(conditions.active(on: .code(.antennaFault)) == nil)
    }

    /// The oldest condition is first. Of conditions that began together, the one that affects a position earliest is
    /// first.
    @Test(arguments: [
        (
            [(Self.noToken, ActiveConditions.Topic.delivery, 0), (Self.full, .storing, 5)],
            ["disk_full", "token_request_rejected"]
        ),
        ([(Self.noToken, .delivery, 0), (Self.full, .storing, 6)], ["token_request_rejected", "disk_full"]),
        (
            [
                (Condition(.privateMode, "p"), .code(.privateMode), 0), (Self.noToken, .delivery, 20),
                (Condition(.hostClockWrong, "c"), .code(.hostClockWrong), 40),
            ], ["host_clock_wrong", "token_request_rejected", "private_mode"]
        ),
    ])
    func ordersConditionsByCause(raised: [(Condition, ActiveConditions.Topic, Int)], codes: [String]) {
        var conditions = ActiveConditions()
        for (condition, topic, second) in raised { conditions.raise(condition, on: topic, at: .seconds(second)) }
        #expect(conditions.visible(at: .seconds(60)).map(\.code.rawValue) == codes)
    }
}
