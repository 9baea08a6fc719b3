import ReportedText
import Testing
import WaypostTestSupport

@testable import Reporting

/// The upload state after each kind of answer, and without a token or an outbox.
@Suite struct UploadAnswers {
    typealias NextStep = UploadStateDriver.NextStep

    private let upload: UploadStateDriver

    init() throws { upload = UploadStateDriver() }

    private static func acknowledged(_ batch: UploadBatch) -> NextStep { .perform(.acknowledge(batch)) }

    private static func quarantined(_ sequence: Int64, reason: ReportedText) -> NextStep {
        .perform(.quarantine(.sample(sequence), reason: reason))
    }

    private static func waitForNetwork(atMostSeconds seconds: Int) -> NextStep {
        .wait(.seconds(seconds), withNetwork: .seconds(1))
    }

    @Test func acknowledgeDeliveredUpdates() {
        let batch = UploadBatch.sample(past: 3)
        #expect(upload.receive(.delivered, to: batch, jitter: 1) == Self.acknowledged(batch))
    }

    @Test func increaseTheDelayAfterEachFailureAndResetItOnSuccess() {
        let batch = UploadBatch.sample(past: 0)
        let waits = (1...8).map { _ in upload.receive(.retry(.sample("503"), after: nil), to: batch, jitter: 1) }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60].map { .wait(.seconds($0)) })
        #expect(upload.receive(.delivered, to: batch, jitter: 1) == Self.acknowledged(batch))
        #expect(upload.receive(.retry(.sample("503"), after: nil), to: batch, jitter: 1) == .wait(.seconds(1)))
    }

    @Test func retryOftenWithoutANetworkAndAtOnceWhenItReturns() {
        let batch = UploadBatch.sample(past: 0)
        func lost() -> NextStep? { upload.receive(.unanswered(.sample("no connection")), to: batch, jitter: 1) }
        #expect((1...6).map { _ in lost() } == [1, 2, 4, 8, 15, 15].map { Self.waitForNetwork(atMostSeconds: $0) })
        upload.handle(.networkReturned)
        #expect(lost() == Self.waitForNetwork(atMostSeconds: 1))
        // A server's Retry-After is obeyed even if the network returns.
        #expect(
            upload.receive(.retry(.sample("503"), after: .seconds(90)), to: batch, jitter: 0) == .wait(.seconds(90)))
    }

    /// Each probe of a hold has a new token, and a success ends the hold.
    @Test func renewTheTokenOnceThenHold() {
        let batch = UploadBatch.sample(past: 0)
        for probe in 1...4 {
            let nextStep = upload.receive(.prepareAgain(.sample("401")), to: batch, jitter: 0)
            #expect(nextStep == (probe == 1 ? .readNext : .wait(.seconds(30))))
        }
        #expect(upload.receive(.delivered, to: batch, jitter: 0) == Self.acknowledged(batch))
        #expect(upload.receive(.prepareAgain(.sample("403")), to: batch, jitter: 0) == .readNext)
    }

    /// Outcomes (`nil`: no token), jitters and the resulting steps. After a hold, the waits of an outage continue.
    @Test func countNoHoldAsAFailedAttempt() {
        let batch = UploadBatch.sample(past: 3)
        let outage = DeliveryOutcome.retry(.sample("503"), after: nil)
        let rows: [(DeliveryOutcome?, Double, NextStep)] = [
            (outage, 1, .wait(.seconds(1))), (.prepareAgain(.sample("401")), 1, .readNext),
            (.prepareAgain(.sample("401")), 0, .wait(.seconds(30))),
            (.prepareAgain(.sample("403")), 1, .wait(.seconds(60))),
            (.held(.sample("404")), 0, .wait(.seconds(30))), (.held(.sample("404")), 0.5, .wait(.seconds(90))),
            (nil, 1, Self.waitForNetwork(atMostSeconds: 1)), (nil, 1, Self.waitForNetwork(atMostSeconds: 2)),
            (nil, 1, Self.waitForNetwork(atMostSeconds: 4)),
            (outage, 1, .wait(.seconds(2))), (nil, 1, Self.waitForNetwork(atMostSeconds: 1)),
            (outage, 1, .wait(.seconds(4))),
            (.delivered, 1, .readNext),
            (outage, 1, .wait(.seconds(1))),
        ]
        for (outcome, jitter, nextStep) in rows {
            guard let outcome else {
                #expect(receiveNoToken(retryAfter: nil, jitter: jitter) == nextStep)
                continue
            }
            _ = upload.receive(outcome, to: batch, jitter: jitter)
            if case .perform? = upload.nextStep { upload.handle(.resultRecorded(nil)) }
            #expect(upload.nextStep == nextStep, "\(outcome)")
        }
    }

    /// An intermediary limits the size, which says nothing about an update.
    @Test func halveABatchThatIsTooLargeForAnIntermediary() {
        let tooLarge = DeliveryOutcome.tooLarge(.sample("413"))
        var past = 50
        while past > 0 {
            #expect(upload.receive(tooLarge, to: .sample(past: past), jitter: 1) == .readNext)
            #expect(upload.nextLimit == past / 2)
            past /= 2
        }
        let alone = UploadBatch.sample(past: 0)
        let waits = (1...4).map { _ in upload.receive(tooLarge, to: alone, jitter: 1) }
        #expect(waits == [1, 2, 4, 8].map { Self.waitForNetwork(atMostSeconds: $0) })
        #expect(upload.nextLimit == 0)
        #expect(upload.receive(.delivered, to: alone, jitter: 1) == Self.acknowledged(alone))
        #expect(upload.nextLimit == 1)
        // If the newest update is a repetition, one older update is the minimum.
        let repetition = UploadBatch.sample(past: 1, lastIsPending: false)
        #expect(upload.receive(tooLarge, to: repetition, jitter: 1) == Self.waitForNetwork(atMostSeconds: 1))
    }

    @Test func holdWithoutLosingUpdates() {
        let batch = UploadBatch.sample(past: 5)
        #expect(upload.receive(.held(.sample("404")), to: batch, jitter: 1) == .wait(.seconds(60)))
    }

    @Test func halveARejectedBatchDownToTheRejectedUpdate() {
        var sizes: [Int] = []
        var past = 50
        while true {
            let nextStep = upload.receive(.rejected(.sample("400")), to: .sample(past: past), jitter: 0)
            guard nextStep == .readNext, let limit = upload.nextLimit else {
                #expect(nextStep == Self.quarantined(1000, reason: "400"))
                break
            }
            past = limit
            sizes.append(past)
        }
        #expect(sizes == [25, 12, 6, 3, 1, 0])
        #expect(upload.nextLimit == 1)
    }

    @Test func findARejectedPastLocationAfterARepeatedNewestUpdate() {
        var past = 8
        var nextStep: NextStep? = .readNext
        var requests = 0
        while nextStep == .readNext {
            nextStep = upload.receive(
                .rejected(.sample("400")), to: .sample(past: past, lastIsPending: false), jitter: 0)
            past = upload.nextLimit ?? 0
            requests += 1
        }
        #expect(nextStep == Self.quarantined(1, reason: "400"))
        #expect(requests == 4)
    }

    @Test func sendAnUnstoredPositionAloneBeforeAQuarantine() {
        let front = StoredUpdate.sample(2000).update
        let alone = UploadBatch(unstored: front, past: [])
        let both = UploadBatch(unstored: front, past: [.sample(1)])
        #expect(upload.receive(.rejected(.sample("400")), to: both, jitter: 0) == .readNext)
        #expect(upload.nextLimit == 0)
        #expect(upload.receive(.delivered, to: alone, jitter: 0) == .readNext)
        #expect(upload.nextLimit == 1)
        #expect(upload.receive(.rejected(.sample("400")), to: both, jitter: 0) == Self.quarantined(1, reason: "400"))
    }

    /// After three rejections in a row, the updates can't be the reason. The updates are kept, and retried at
    /// increasing intervals.
    @Test func keepTheRestWhenEverythingIsRejected() throws {
        let upload = UploadStateDriver(heartbeat: .seconds(3600))
        let alone = UploadBatch.sample(past: 0)
        func reject(_ batch: UploadBatch, took: Duration = .zero) -> NextStep? {
            upload.receive(.rejected(.sample("400")), to: batch, took: took, jitter: 1)
        }
        for _ in 1...3 { #expect(reject(alone) == Self.quarantined(1000, reason: "400")) }
        // Only the older updates may be rejected, so the newest is sent without them, but not at once.
        #expect(reject(.sample(past: 1)) == .wait(.seconds(1)))
        #expect(reject(.sample(past: 1), took: .seconds(2)) == .readNext)
        #expect(upload.nextLimit == 0)
        // The older updates wait as long as for a probe.
        upload.handle(.outboxRead(.sample(past: 0, lastIsPending: false), newest: nil))
        #expect(upload.nextStep == .wait(.seconds(60)))
        #expect([60, 120, 240, 300, 300].allSatisfy { reject(alone) == .wait(.seconds($0)) })
        // The observer receives a hold, which isn't a failed attempt.
        upload.send(.sample(past: 0, lastIsPending: false))
        let step = upload.handle(.answered(DeliveryResult(.rejected(.sample("400")))))
        #expect(upload.nextStep == .wait(.seconds(300)))
        guard case .failed(let outcome, _, _)? = step.reports.first else {
            Issue.record("no hold: \(step.reports)")
            return
        }
        #expect(outcome == .held(.everythingRejected(.sample("400"))))
        // A delivery ends the hold.
        #expect(upload.receive(.delivered, to: alone, jitter: 1) == Self.acknowledged(alone))
        #expect(reject(alone) == Self.quarantined(1000, reason: "400"))
    }

    /// A rejected repetition is counted, but nothing is quarantined.
    @Test func countARejectedRepetitionAndContinue() {
        let repetition = UploadBatch.sample(past: 0, lastIsPending: false)
        _ = upload.receive(.held(.sample("404")), to: .sample(past: 0), jitter: 0)
        #expect(upload.nextLimit == 0)
        for _ in 1...3 {
            #expect(upload.receive(.rejected(.sample("400")), to: repetition, jitter: 0) == .readNext)
            #expect(upload.nextLimit == 1)
        }
        #expect(upload.receive(.rejected(.sample("400")), to: repetition, jitter: 0) == .wait(.seconds(30)))
    }

    @Test func growTheBatchAgainAfterTheQuarantine() {
        for past in [50, 25, 12, 6, 3, 1, 0] {
            _ = upload.receive(.rejected(.sample("413")), to: .sample(past: past), jitter: 0)
        }
        let limits = (1...8).map { _ in
            _ = upload.receive(.delivered, to: .sample(past: upload.nextLimit ?? 0), jitter: 0)
            return upload.nextLimit
        }
        #expect(limits == [2, 4, 8, 16, 32, 50, 50, 50])
    }

    /// Even if the jitter is 0, no two attempts start within a second. A longer attempt needs no further wait.
    @Test(arguments: [(0, 1000), (400, 600), (1000, 0), (5000, 0)])
    func startAtMostOneAttemptPerSecond(took: Int, wait: Int) throws {
        let (took, wait) = (Duration.milliseconds(took), Duration.milliseconds(wait))
        let outcomes: [DeliveryOutcome] = [
            .unanswered(.sample("no route")), .intercepted(.sample("302")), .retry(.sample("503"), after: nil),
        ]
        for outcome in outcomes {
            let upload = UploadStateDriver()
            #expect(upload.receive(outcome, to: .sample(past: 0), took: took, jitter: 0) == .wait(wait))
        }
    }

    /// The service's first error after a portal is retried soon. A portal that sometimes answers 503 isn't.
    @Test func retrySoonAfterAPortal() {
        func wait(after outcomes: [DeliveryOutcome]) -> NextStep? {
            let upload = UploadStateDriver()
            return outcomes.map { upload.receive($0, to: .sample(past: 0), jitter: 1) }.last ?? nil
        }
        let page = DeliveryOutcome.intercepted(.sample("302"))
        let busy = DeliveryOutcome.retry(.sample("503"), after: nil)
        #expect(wait(after: Array(repeating: page, count: 8) + [busy]) == .wait(.seconds(1)))
        #expect(wait(after: Array(repeating: page, count: 8) + [busy, busy]) == .wait(.seconds(2)))
        #expect(wait(after: Array(repeating: [page, busy], count: 8).flatMap(\.self)) == .wait(.seconds(60)))
    }

    /// The time from the start of one attempt to the start of the next, however long the first one takes.
    @Test func retryAtLeastEveryFifteenSecondsWithoutANetwork() {
        let waits = [0, 3, 10, 15].map { took in
            for _ in 1...6 { _ = upload.receive(.unanswered(.sample("")), to: .sample(past: 0), jitter: 1) }
            return upload.receive(
                .unanswered(.sample("")), to: .sample(past: 0), took: .seconds(took), jitter: 1)
        }
        #expect(waits[0] == Self.waitForNetwork(atMostSeconds: 15))
        #expect(Array(waits.dropFirst()) == [12, 5, 0].map { .wait(.seconds($0), withNetwork: .zero) })
    }

    @Test func probeAnUnknownVehicleLessAndLessOften() {
        let absent = DeliveryOutcome.held(.sample("404"))
        let alone = UploadBatch.sample(past: 0)
        let waits = (1...6).map { _ in upload.receive(absent, to: alone, jitter: 1) }
        #expect(waits == [60, 120, 240, 300, 300, 300].map { .wait(.seconds($0)) })
        #expect(upload.nextLimit == 0)
        #expect(upload.receive(.delivered, to: alone, jitter: 1) == Self.acknowledged(alone))
        #expect(upload.nextLimit == 8)
        #expect(upload.receive(absent, to: alone, jitter: 0) == .wait(.seconds(30)))
    }

    @Test func sendLessOftenAfterA429() {
        let batch = UploadBatch.sample(past: 0)
        func throttle(after: Duration? = nil) -> NextStep? {
            upload.receive(.throttled(.sample("429"), after: after), to: batch, jitter: 0)
        }
        #expect(throttle() == .wait(.seconds(5)))
        #expect(throttle() == .wait(.seconds(10)))
        #expect(throttle(after: .seconds(90)) == .wait(.seconds(90)))
        // The interval is 20 s by now, and half of that after each delivery.
        for seconds in [10, 5] {
            #expect(upload.receive(.delivered, to: batch, jitter: 0) == Self.acknowledged(batch))
            upload.handle(.resultRecorded(nil))
            upload.handle(.outboxRead(batch, newest: nil))
            #expect(upload.nextStep == .wait(.seconds(seconds)))
        }
    }

    @Test func waitWithoutATokenAndObeyTheIssuer() {
        #expect(receiveNoToken(retryAfter: nil, jitter: 1) == Self.waitForNetwork(atMostSeconds: 1))
        #expect(receiveNoToken(retryAfter: .seconds(20), jitter: 1) == .wait(.seconds(22)))
        #expect(receiveNoToken(retryAfter: .zero, jitter: 0) == .wait(.seconds(1)))
    }

    @Test func countFailuresOfTheOutboxSeparately() {
        for seconds in [1, 2, 4] {
            upload.runToNextRead()
            let step = upload.handle(.outboxFailed(OutboxError(.full)))
            #expect(upload.nextStep == .wait(.seconds(seconds)))
            let waiting = ReportingEvent.waiting(delay: .seconds(seconds))
            #expect(step.reports == [.outboxFailed(OutboxError(.full)), waiting])
        }
        let batch = UploadBatch.sample(past: 0)
        #expect(upload.receive(.retry(.sample("503"), after: nil), to: batch, jitter: 1) == .wait(.seconds(1)))
    }

    private func receiveNoToken(retryAfter: Duration?, jitter: Double) -> NextStep? {
        upload.runToNextRead()
        upload.handle(.outboxRead(.sample(past: 0), newest: nil))
        upload.handle(.notPrepared(.noPermit(MissingPermit(.unavailable, "", retryAfter: retryAfter))), jitter: jitter)
        return upload.nextStep
    }
}
