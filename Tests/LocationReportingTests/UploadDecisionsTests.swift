import FleetEngine
import GNSS
import LocationReporting
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
        #expect((1...6).map { _ in lost() } == [1, 2, 4, 8, 15, 15].map { .waitForNetwork(.seconds($0)) })
        session.apply { $0.networkReturned() }
        #expect(lost() == .waitForNetwork(.seconds(1)))
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
            (.hold(reason: "404"), 0, .wait(.seconds(30)), 1), (.hold(reason: "404"), 0.5, .wait(.seconds(45)), 1),
            (nil, 1, .waitForNetwork(.seconds(1)), 1), (nil, 1, .waitForNetwork(.seconds(2)), 1),
            (nil, 1, .waitForNetwork(.seconds(4)), 1),
            // After all that, the outage goes on where it was.
            (outage, 1, .wait(.seconds(2)), 2), (nil, 1, .waitForNetwork(.seconds(1)), 2),
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
            #expect(session.value.batchLimit == 50)
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
            guard action == .sendSmaller else {
                #expect(action == .quarantine(Self.stored(1000)))
                break
            }
            past = session.value.batchLimit
            sizes.append(past)
        }
        #expect(sizes == [25, 12, 6, 3, 1, 0])
        #expect(session.value.batchLimit == 1)
    }

    @Test func findsAPoisonedPastLocationBehindARepeatedNewest() {
        let session = Self.session()
        var past = 8
        var action = UploadAction.sendSmaller
        var requests = 0
        while action == .sendSmaller {
            action = session.receive(
                .rejected(reason: "400"), to: Self.batch(past: past, lastIsPending: false), jitter: 0)
            past = session.value.batchLimit
            requests += 1
        }
        #expect(action == .quarantine(Self.stored(1)))
        #expect(requests == 4)
    }

    @Test func growsAgainAfterTheQuarantine() {
        let session = Self.session()
        for past in [50, 25, 12, 6, 3, 1] {
            _ = session.receive(.rejected(reason: "413"), to: Self.batch(past: past), jitter: 0)
        }
        let limits = (1...8).map { _ in
            _ = session.receive(.delivered, to: Self.batch(past: 0), jitter: 0)
            return session.value.batchLimit
        }
        #expect(limits == [1, 2, 4, 8, 16, 32, 50, 50])
    }

    @Test func forgetsARefusedRepetition() {
        let session = Self.session()
        let repetition = Self.batch(past: 0, lastIsPending: false)
        #expect(session.receive(.rejected(reason: "400"), to: repetition, jitter: 0) == .forget)
    }

    @Test func waitsWithoutATokenAndObeysTheIssuer() {
        let session = Self.session()
        #expect(session.receiveNoToken(retryAfter: nil, jitter: 1) == .waitForNetwork(.seconds(1)))
        #expect(session.receiveNoToken(retryAfter: .seconds(20), jitter: 1) == .wait(.seconds(22)))
        #expect(session.receiveOutboxFailure(jitter: 1) == .wait(.seconds(1)))
    }
}

extension Box where Value == UploadDecisions {
    func receive(_ outcome: UploadOutcome, to batch: UploadBatch, jitter: Double) -> UploadAction {
        apply { $0.receive(outcome, to: batch, jitter: jitter) }
    }

    func receiveNoToken(retryAfter: Duration?, jitter: Double) -> UploadAction {
        apply { $0.receiveNoToken(retryAfter: retryAfter, jitter: jitter) }
    }

    func receiveOutboxFailure(jitter: Double) -> UploadAction { apply { $0.receiveOutboxFailure(jitter: jitter) } }
}
