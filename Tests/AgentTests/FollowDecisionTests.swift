import FleetEngine
import ReportedText
import Reporting
import Testing
import VehicleAuthorization
import Operations

/// The events that a follower prints, and the pauses until it asks again.
@Suite struct FollowDecision {
    private static func makeDecisions() -> FollowDecisions {
        FollowDecisions(retry: RetryPolicy(initialDelay: .seconds(1), maximumDelay: .seconds(60)))
    }

    private static func snapshot(_ status: String? = nil, remainingMeters: Int? = nil, version: String? = nil)
        -> FollowedSnapshot
    {
        var snapshot = FollowedSnapshot()
        (snapshot.status, snapshot.remainingDistanceMeters, snapshot.routeVersion) = (status, remainingMeters, version)
        return snapshot
    }

    @Test(arguments: [(0.0, Duration.milliseconds(4500)), (0.5, .seconds(5)), (1, .milliseconds(5500))])
    func asksEveryFiveSeconds(jitter: Double, pause: Duration) {
        var decisions = Self.makeDecisions()
        let (events, next) = decisions.receive(.seen(Self.snapshot("NEW")), at: .zero, jitter: jitter)
        #expect(events == [.changed(Self.snapshot("NEW"))])
        #expect(next == .sendRequest(after: pause))
    }

    @Test func printsOnlyChanges() {
        var decisions = Self.makeDecisions()
        var printed: [[FollowEvent]] = []
        var drifting = Self.snapshot("ENROUTE_TO_PICKUP", remainingMeters: 90)
        drifting.arrivalMillisecondsSince1970 = 7
        let seen = [
            Self.snapshot("NEW"), Self.snapshot("NEW"), Self.snapshot("ENROUTE_TO_PICKUP", remainingMeters: 100),
            Self.snapshot("ENROUTE_TO_PICKUP", remainingMeters: 90), drifting,
        ]
        for (index, snapshot) in seen.enumerated() {
            printed.append(decisions.receive(.seen(snapshot), at: .seconds(5 * index), jitter: 0.5).events)
        }
        #expect(printed == [[.changed(seen[0])], [], [.changed(seen[2])], [.changed(seen[3])], []])
    }

    @Test func reportsSilenceAfterAMinuteAndThenLessOften() {
        var decisions = Self.makeDecisions()
        var printed: [Int: [FollowEvent]] = [:]
        for second in stride(from: 0, through: 250, by: 5) {
            let events = decisions.receive(.seen(Self.snapshot("ONLINE")), at: .seconds(second), jitter: 0.5).events
            if !events.isEmpty { printed[second] = events }
        }
        #expect(printed.keys.sorted() == [0, 60, 120, 240])
        #expect(printed[240] == [.silent(.seconds(240))])
    }

    @Test(arguments: ["COMPLETE", "CANCELED"]) func endsWithTheTrip(status: String) {
        var decisions = Self.makeDecisions()
        let (events, next) = decisions.receive(.seen(Self.snapshot(status)), at: .zero, jitter: 0.5)
        #expect(events == [.changed(Self.snapshot(status))])
        #expect(next == .end)
    }

    @Test func renewsTheTokenOnceBeforeItWaits() {
        var decisions = Self.makeDecisions()
        let refused = ReadOutcome.tokenRejected(reason: "403 words")
        let steps = (0..<4).map { _ in decisions.receive(refused, at: .zero, jitter: 0) }
        #expect(
            steps.map(\.next) == [
                .renewToken, .sendRequest(after: .seconds(30)), .renewToken, .sendRequest(after: .seconds(30)),
            ])
        #expect(steps.map(\.events) == [[], [.trouble("403 words")], [], []])
    }

    @Test func backsOffAsTheServerAsksAndReportsEachProblemOnce() {
        var decisions = Self.makeDecisions()
        let waits = (0..<7).map { _ in decisions.receive(.retry(reason: "503", after: nil), at: .zero, jitter: 1) }
        #expect(waits.map(\.next) == [5.5, 5.5, 5.5, 8, 16, 32, 60].map { .sendRequest(after: .seconds($0)) })
        #expect(waits.flatMap(\.events) == [.trouble("503")])
        let asked = decisions.receive(.retry(reason: "429", after: .seconds(90)), at: .zero, jitter: 1)
        #expect(asked.next == .sendRequest(after: .seconds(95)))
        #expect(asked.events == [.trouble("429")])
        let back = decisions.receive(.seen(Self.snapshot("NEW")), at: .zero, jitter: 0.5)
        #expect(back.events == [.recovered, .changed(Self.snapshot("NEW"))])
        #expect(back.next == .sendRequest(after: .seconds(5)))
    }

    @Test func waitsAMinuteAfterAnErrorThatRetriesCannotFix() {
        var decisions = Self.makeDecisions()
        let (events, next) = decisions.receive(.hold(reason: "404"), at: .zero, jitter: 1)
        #expect(events == [.trouble("404")])
        #expect(next == .sendRequest(after: .seconds(60)))
    }

    @Test func waitsAsLongAsTheTokenProviderAsks() {
        var decisions = Self.makeDecisions()
        let error = AuthorizationError(.unavailable, "the backend is away", retryAfter: .seconds(20))
        let (events, next) = decisions.receive(tokenError: error, jitter: 0)
        #expect(events == [.trouble("the backend is away")])
        #expect(next == .sendRequest(after: .seconds(20)))
    }

    @Test func remembersTheRouteVersionThatItHasReceived() {
        var decisions = Self.makeDecisions()
        #expect(decisions.routeVersion == nil)
        for version in ["1", nil] {
            _ = decisions.receive(.seen(Self.snapshot("NEW", version: version)), at: .zero, jitter: 0)
            #expect(decisions.routeVersion == "1")
        }
    }
}
