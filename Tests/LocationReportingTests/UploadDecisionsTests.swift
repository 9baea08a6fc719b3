import FleetEngine
import GNSS
import LocationReporting
import ReportedText
import Testing

@Suite struct Session {
    static func stored(_ sequence: Int64) -> StoredUpdate {
        StoredUpdate(sequence: sequence, update: LocationUpdate(.sample(Double(sequence))))
    }

    static func batch(past: Int, lastIsPending: Bool = true) -> UploadBatch {
        UploadBatch(
            last: stored(1000), lastIsPending: lastIsPending, past: (0..<past).map { stored(Int64($0 + 1)) })
    }

    static func session() -> Box<UploadDecisions> {
        Box(
            UploadDecisions(
                maximumPastLocations: 50,
                retry: RetryPolicy(initialDelay: .seconds(1), maximumDelay: .seconds(60))))
    }

    static func forNetwork(_ seconds: Int) -> UploadAction {
        .waitForNetwork(.seconds(seconds), atLeast: .seconds(1))
    }

    @Test func acknowledgesWhatWasDelivered() {
        let session = Self.session()
        #expect(session.receive(.delivered, to: Self.batch(past: 3), jitter: 1) == .acknowledge)
        #expect(session.value.failures == 0)
    }

    @Test func waitsLongerAfterEachFailureAndForgetsThemOnSuccess() {
        let session = Self.session()
        let batch = Self.batch(past: 0)
        let waits = (1...8).map { _ in session.receive(.retry(reason: "503", after: nil), to: batch, jitter: 1) }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60].map { .wait(.seconds($0)) })
        #expect(session.receive(.delivered, to: batch, jitter: 1) == .acknowledge)
        #expect(session.receive(.retry(reason: "503", after: nil), to: batch, jitter: 1) == .wait(.seconds(1)))
    }

    @Test func looksForTheNetworkOftenAndStartsAnewWhenItReturns() {
        let session = Self.session()
        let batch = Self.batch(past: 0)
        func lost() -> UploadAction { session.receive(.unreachable(reason: "no connection"), to: batch, jitter: 1) }
        #expect(
            (1...6).map { _ in lost() }
                == [1, 2, 4, 8, 15, 15].map { .waitForNetwork(.seconds($0), atLeast: .seconds(1)) })
        session.apply { $0.networkReturned() }
        #expect(lost() == .waitForNetwork(.seconds(1), atLeast: .seconds(1)))
        // What a server asks for is obeyed, network or not.
        #expect(
            session.receive(.retry(reason: "503", after: .seconds(90)), to: batch, jitter: 0) == .wait(.seconds(90)))
    }

    /// Each probe of a hold begins with a new token; the next success ends it.
    @Test func renewsTheTokenOnceThenHolds() {
        let session = Self.session()
        let batch = Self.batch(past: 0)
        let actions = (1...4).map { _ in session.receive(.tokenRefused(reason: "401"), to: batch, jitter: 0) }
        #expect(actions == [.renewToken] + Array(repeating: .waitForToken(.seconds(30)), count: 3))
        #expect(session.receive(.delivered, to: batch, jitter: 0) == .acknowledge)
        #expect(session.receive(.tokenRefused(reason: "403"), to: batch, jitter: 0) == .renewToken)
    }

    /// What came, what is done with jitter 0 and 1, and the failed attempts by then.
    @Test func countsNoHoldAsAFailedAttempt() {
        let session = Self.session()
        let batch = Self.batch(past: 3)
        let outage = UploadOutcome.retry(reason: "503", after: nil)
        let rows: [(UploadOutcome?, Double, UploadAction, Int)] = [
            (outage, 1, .wait(.seconds(1)), 1), (.tokenRefused(reason: "401"), 1, .renewToken, 1),
            (.tokenRefused(reason: "401"), 0, .waitForToken(.seconds(30)), 1),
            (.tokenRefused(reason: "403"), 1, .waitForToken(.seconds(60)), 1),
            (.hold(reason: "404"), 0, .wait(.seconds(30)), 1), (.hold(reason: "404"), 0.5, .wait(.seconds(90)), 1),
            (nil, 1, Self.forNetwork(1), 1), (nil, 1, Self.forNetwork(2), 1), (nil, 1, Self.forNetwork(4), 1),
            // After all that, the outage goes on where it was.
            (outage, 1, .wait(.seconds(2)), 2), (nil, 1, Self.forNetwork(1), 2),
            (.delivered, 1, .acknowledge, 0),
            (outage, 1, .wait(.seconds(1)), 1),
        ]
        for (outcome, jitter, action, failures) in rows {
            let taken =
                if let outcome { session.receive(outcome, to: batch, jitter: jitter) } else {
                    session.receiveNoToken(retryAfter: nil, jitter: jitter)
                }
            #expect(taken == action)
            #expect(session.value.failures == failures)
        }
    }

    @Test func renewsAgainAfterASuccess() {
        let session = Self.session()
        let batch = Self.batch(past: 0)
        #expect(session.receive(.tokenRefused(reason: "401"), to: batch, jitter: 0) == .renewToken)
        #expect(session.receive(.delivered, to: batch, jitter: 0) == .acknowledge)
        #expect(session.receive(.tokenRefused(reason: "401"), to: batch, jitter: 0) == .renewToken)
    }

    @Test func holdsWithoutLosingAnything() {
        let session = Self.session()
        #expect(session.receive(.hold(reason: "404"), to: Self.batch(past: 5), jitter: 1) == .wait(.seconds(60)))
    }

    @Test func halvesARejectedBatchDownToTheOneThatIsNotTaken() {
        let session = Self.session()
        var sizes: [Int] = []
        var past = 50
        while true {
            let action = session.receive(.rejected(reason: "400"), to: Self.batch(past: past), jitter: 0)
            guard action == .sendAgain else {
                #expect(action == .quarantine(Self.stored(1000)))
                break
            }
            past = session.value.batchSize.limit
            sizes.append(past)
        }
        #expect(sizes == [25, 12, 6, 3, 1, 0])
        #expect(session.value.batchSize.limit == 1)
    }

    @Test func findsAPoisonedPastLocationBehindARepeatedNewest() {
        let session = Self.session()
        var past = 8
        var action = UploadAction.sendAgain
        var requests = 0
        while action == .sendAgain {
            action = session.receive(
                .rejected(reason: "400"), to: Self.batch(past: past, lastIsPending: false), jitter: 0)
            past = session.value.batchSize.limit
            requests += 1
        }
        #expect(action == .quarantine(Self.stored(1)))
        #expect(requests == 4)
    }

    @Test func sendsAnUnstoredPositionAloneBeforeItSetsAPastOneAside() {
        let session = Self.session()
        let front = StoredUpdate(sequence: 0, update: Self.stored(2000).update)
        let alone = UploadBatch(last: front, lastIsPending: false, past: [])
        let both = UploadBatch(last: front, lastIsPending: false, past: [Self.stored(1)])
        #expect(session.receive(.rejected(reason: "400"), to: both, jitter: 0) == .sendAgain)
        #expect(session.value.batchSize.limit == 0)
        #expect(session.receive(.delivered, to: alone, jitter: 0) == .acknowledge)
        #expect(session.value.batchSize.limit == 1)
        #expect(session.receive(.rejected(reason: "400"), to: both, jitter: 0) == .quarantine(Self.stored(1)))
    }

    /// After three in a row it is not the updates: what is refused then is kept, and tried ever more seldom.
    @Test func keepsTheRestWhenEverythingIsRefused() {
        let session = Self.session()
        let alone = Self.batch(past: 0)
        func refuse(_ batch: UploadBatch, took: Duration = .zero) -> UploadAction {
            session.receive(.rejected(reason: "400"), to: batch, at: .seconds(100), took: took, jitter: 1)
        }
        for _ in 1...3 { #expect(refuse(alone) == .quarantine(Self.stored(1000))) }
        #expect(session.value.interpreted(.rejected(reason: "400")) == .hold(reason: "400"))
        // Perhaps it is only the older ones: the newest goes without them, but not at once.
        #expect(refuse(Self.batch(past: 1)) == .wait(.seconds(1)))
        #expect(refuse(Self.batch(past: 1), took: .seconds(2)) == .sendAgain)
        #expect(session.value.batchSize.limit == 0)
        #expect(session.value.pace.timeToBacklog(at: .seconds(100)) == .seconds(60))
        #expect([60, 120, 240, 300, 300].allSatisfy { refuse(alone) == .wait(.seconds($0)) })
        #expect(refuse(Self.batch(past: 0, lastIsPending: false)) == .wait(.seconds(300)))
        // One that is taken ends it.
        #expect(session.receive(.delivered, to: alone, jitter: 1) == .acknowledge)
        #expect(session.value.interpreted(.rejected(reason: "400")) == .rejected(reason: "400"))
        #expect(refuse(alone) == .quarantine(Self.stored(1000)))
    }

    /// Nothing is quarantined for a refused repetition; but it counts.
    @Test func countsARefusedRepetitionAndGoesOnWithWhatIsPending() {
        let session = Self.session()
        let repetition = Self.batch(past: 0, lastIsPending: false)
        _ = session.receive(.hold(reason: "404"), to: Self.batch(past: 0), jitter: 0)
        #expect(session.value.batchSize.limit == 0)
        for _ in 1...3 {
            #expect(session.receive(.rejected(reason: "400"), to: repetition, jitter: 0) == .forget)
            #expect(session.value.batchSize.limit == 1)
        }
        #expect(session.receive(.rejected(reason: "400"), to: repetition, jitter: 0) == .wait(.seconds(30)))
    }

    @Test func growsAgainAfterTheQuarantine() {
        let session = Self.session()
        for past in [50, 25, 12, 6, 3, 1, 0] {
            _ = session.receive(.rejected(reason: "413"), to: Self.batch(past: past), jitter: 0)
        }
        let limits = (1...8).map { _ in
            _ = session.receive(.delivered, to: Self.batch(past: session.value.batchSize.limit), jitter: 0)
            return session.value.batchSize.limit
        }
        #expect(limits == [2, 4, 8, 16, 32, 50, 50, 50])
    }

    /// Full jitter may draw nothing: still no two attempts begin within a second, and no server is made to wait for it.
    @Test(arguments: [(0, 1000), (400, 600), (1000, 0), (5000, 0)])
    func beginsNoTwoAttemptsWithinASecond(took: Int, wait: Int) {
        let (took, wait) = (Duration.milliseconds(took), Duration.milliseconds(wait))
        let batch = Self.batch(past: 0)
        let outcomes: [UploadOutcome] = [.unreachable(reason: "no route"), .intercepted(reason: "302")]
        for outcome in outcomes {
            let action = Self.session().receive(outcome, to: batch, took: took, jitter: 0)
            #expect(action == .waitForNetwork(wait, atLeast: wait))
        }
        let action = Self.session().receive(.retry(reason: "503", after: nil), to: batch, took: took, jitter: 0)
        #expect(action == .wait(wait))
    }

    /// From the beginning of one look to the beginning of the next, whatever its time limits took.
    @Test func looksForTheNetworkEveryFifteenSecondsAtMost() {
        let session = Self.session()
        let waits = [0, 3, 10, 15].map { took in
            for _ in 1...6 { _ = session.receive(.unreachable(reason: ""), to: Self.batch(past: 0), jitter: 1) }
            return session.receive(
                .unreachable(reason: ""), to: Self.batch(past: 0), took: .seconds(took), jitter: 1)
        }
        #expect(waits[0] == .waitForNetwork(.seconds(15), atLeast: .seconds(1)))
        #expect(Array(waits.dropFirst()) == [12, 5, 0].map { .waitForNetwork(.seconds($0), atLeast: .zero) })
    }

    @Test func probesWhatIsAbsentEverMoreSeldomAndWithLittle() {
        let session = Self.session()
        let absent = UploadOutcome.hold(reason: "404")
        let waits = (1...6).map { _ in session.receive(absent, to: Self.batch(past: 0), jitter: 1) }
        #expect(waits == [60, 120, 240, 300, 300, 300].map { .wait(.seconds($0)) })
        #expect(session.value.batchSize.limit == 0)
        #expect(session.receive(.delivered, to: Self.batch(past: 0), jitter: 1) == .acknowledge)
        #expect(session.value.batchSize.limit == 8)
        #expect(session.receive(absent, to: Self.batch(past: 0), jitter: 0) == .wait(.seconds(30)))
    }

    @Test func sendsSeldomerWhenItWasTooMuch() {
        let session = Self.session()
        let batch = Self.batch(past: 0)
        func refuse(after: Duration? = nil) -> UploadAction {
            session.receive(.throttled(reason: "429", after: after), to: batch, jitter: 0)
        }
        #expect(refuse() == .wait(.seconds(5)))
        #expect(refuse() == .wait(.seconds(10)))
        #expect(refuse(after: .seconds(90)) == .wait(.seconds(90)))
        session.apply { $0.willSend(batch, at: .seconds(100)) }
        #expect(session.value.pace.timeToUpload(at: .seconds(100)) == .seconds(20))
        _ = session.receive(.delivered, to: batch, jitter: 0)
        #expect(session.value.pace.interval == .seconds(18))
    }

    @Test func goesOnAtOnceAfterGivingUp() {
        let session = Self.session()
        let batch = Self.batch(past: 40)
        #expect(session.apply { $0.giveUp(batch, because: .newerPosition, took: .seconds(3)) } == .sendAgain)
        #expect(session.value.batchSize.limit == 0)
        _ = session.receive(.delivered, to: Self.batch(past: 0), jitter: 0)
        #expect(session.value.batchSize.limit == 10)
        #expect(
            session.apply { $0.giveUp(batch, because: .networkChanged, took: .milliseconds(300)) }
                == .wait(.milliseconds(700)))
        #expect(session.value.batchSize.limit == 8)
        #expect(session.value.failures == 0)
    }

    @Test func forgetsARefusedRepetition() {
        let session = Self.session()
        let repetition = Self.batch(past: 0, lastIsPending: false)
        #expect(session.receive(.rejected(reason: "400"), to: repetition, jitter: 0) == .forget)
    }

    @Test func waitsWithoutATokenAndObeysTheIssuer() {
        let session = Self.session()
        #expect(session.receiveNoToken(retryAfter: nil, jitter: 1) == Self.forNetwork(1))
        #expect(session.receiveNoToken(retryAfter: .seconds(20), jitter: 1) == .wait(.seconds(22)))
        #expect(session.receiveNoToken(retryAfter: .zero, jitter: 0) == .wait(.seconds(1)))
    }

    @Test func countsAFailingOutboxForItself() {
        let session = Self.session()
        #expect([1, 2, 4].allSatisfy { session.receiveOutboxFailure(jitter: 1) == .wait(.seconds($0)) })
        #expect(session.value.failures == 0)
        #expect(
            session.receive(.retry(reason: "503", after: nil), to: Self.batch(past: 0), jitter: 1)
                == .wait(.seconds(1)))
    }
}

extension Box where Value == UploadDecisions {
    func receive(
        _ outcome: UploadOutcome, to batch: UploadBatch, at now: Duration = .zero, took: Duration = .zero,
        jitter: Double
    ) -> UploadAction {
        apply { $0.receive($0.interpreted(outcome), to: batch, at: now, took: took, jitter: jitter) }
    }

    func receiveNoToken(retryAfter: Duration?, jitter: Double) -> UploadAction {
        apply { $0.receiveNoToken(retryAfter: retryAfter, took: .zero, jitter: jitter) }
    }

    func receiveOutboxFailure(jitter: Double) -> UploadAction { apply { $0.receiveOutboxFailure(jitter: jitter) } }
}
