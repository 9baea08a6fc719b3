import FleetEngineDelivery
import HTTPMessages
import LinuxPlatform
import Reporting
import Testing
import TimeAndRandomness
import VehicleAuthorization
import WaypostTestSupport

/// The real cache and the real reporter, with an outbox in memory and a scripted Fleet Engine. The vehicle reports
/// every ten seconds. For ten minutes the token endpoint answers 500; for another ten it issues tokens signed with a
/// key that Fleet Engine doesn't know; then everything works.
@Suite(.timeLimit(.minutes(1))) struct TokenOutage {
    private static let endpointWorksAt = 600
    private static let keyIsKnownAt = 1200

    /// The observations of the test, in seconds of the manual clock.
    private struct Observations {
        var fetches: [Int] = []
        var newestAccepted = 0
        /// The last and past locations of each delivery, and the newest update accepted by then.
        var deliveries: [(last: Int, past: [Int], newest: Int)] = []
        var rejections: [Int] = []
    }

    private let clock = ManualClock()
    private let outbox = ScriptedOutbox()
    private let observer = RecordingObserver()
    private let seen = Locked(Observations())

    @Test func losesNoUpdatesAndSendsFewRequests() async throws {
        let reporter = try reporter()
        // The first update is accepted before the reporter starts. With nothing pending, the reporter would sleep until
        // its heartbeat in addition to all waits.
        try await acceptUpdate(ofSecond: 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await reporter.deliver() }
            var second = 0
            while try await outbox.ledger().pending > 0 || second < Self.keyIsKnownAt + 120 {
                try #require(second < 3600, "nothing is delivered")
                if second > 0, second.isMultiple(of: 10) {
                    try await acceptUpdate(ofSecond: second)
                    await reporter.receive(.updateStored(nil))
                }
                try await settle()
                clock.advance(by: .seconds(1))
                second += 1
            }
            group.cancelAll()
        }
        try await check(seen.withLock { $0 })
    }

    private func acceptUpdate(ofSecond second: Int) async throws {
        try await outbox.append(LocationUpdate(.sample(Double(second))))
        seen.withLock { $0.newestAccepted = second }
    }

    private func check(_ seen: Observations) async throws {
        let accepted = Set(stride(from: 0, through: seen.newestAccepted, by: 10))
        let ledger = try await outbox.ledger()
        #expect(ledger.accepted == accepted.count && ledger.delivered == accepted.count && ledger.balances)

        // No update is lost, older updates are in order, and the live position is first.
        #expect(Set(seen.deliveries.flatMap { [$0.last] + $0.past }) == accepted)
        let past = seen.deliveries.flatMap(\.past)
        #expect(past == past.sorted() && past.count == Set(past).count)
        // An update may be sent before this test has recorded its acceptance.
        #expect(seen.deliveries.allSatisfy { $0.last >= $0.newest })
        // The probe that succeeds carries only the newest update.
        #expect(seen.deliveries.first?.past.isEmpty == true && seen.deliveries.dropFirst().first?.past.first == 0)

        // The endpoint got few requests while it failed, and one per probe while its tokens were rejected.
        let failing = seen.fetches.filter { $0 < Self.endpointWorksAt }
        #expect(zip(failing, failing.dropFirst()).allSatisfy { $1 - $0 >= 1 })
        #expect((10...30).contains(failing.count))
        let rejected = seen.fetches.filter { (Self.endpointWorksAt..<Self.keyIsKnownAt).contains($0) }
        #expect((10...21).contains(rejected.count))
        #expect(seen.fetches.count <= (seen.fetches.last ?? 0))
        #expect(seen.rejections.count == rejected.count)

        // The probes of the hold are 30 to 60 s apart, and none of them is a failed attempt.
        let probes = seen.rejections.dropFirst(1)
        #expect(zip(probes, probes.dropFirst()).allSatisfy { (30...61).contains($1 - $0) })
        #expect(
            !observer.events.contains {
                if case .failed(let outcome, _, _) = $0 { outcome.isFailedAttempt } else { false }
            })
        let recovery = try #require(seen.fetches.first { $0 >= Self.keyIsKnownAt })
        #expect(recovery <= Self.keyIsKnownAt + 60)
    }

    private func reporter() throws -> Reporter {
        let started = clock.now
        let issuer = ScriptedAuthorization { [clock, seen] context, number throws(AuthorizationError) in
            let second = Int(started.duration(to: clock.now) / .seconds(1))
            seen.withLock { $0.fetches.append(second) }
            guard second >= Self.endpointWorksAt else {
                throw AuthorizationError(.unavailable, "the token endpoint answered 500")
            }
            // The parity of the serial number represents the key, which the scripted Fleet Engine checks.
            let key = second < Self.keyIsKnownAt ? 0 : 1
            return AuthorizationToken(
                value: TestTokens.driver(vehicleID: context.vehicleID, serial: number * 2 + key),
                lifetime: .seconds(3600))
        }
        let transport = ScriptedTransport { [clock, seen] request in
            let body = String(decoding: request.body, as: UTF8.self)
            let seconds = body.matches(of: /T(\d\d):(\d\d):(\d\d)Z/).map { match in
                (Int(match.1) ?? 0) * 3600 + (Int(match.2) ?? 0) * 60 + (Int(match.3) ?? 0) - 36_000
            }
            guard Self.isSignedByKnownKey(request) else {
                seen.withLock { $0.rejections.append(Int(started.duration(to: clock.now) / .seconds(1))) }
                return Delivering.errorResponse(401, name: "UNAUTHENTICATED")
            }
            seen.withLock { seen in
                seen.deliveries.append((seconds[0], Array(seconds.dropFirst()), seen.newestAccepted))
            }
            return Delivering.successResponse
        }
        let jitter = Locked(SplitMix64(seed: 7))
        let draw: @Sendable () -> Double = { jitter.withLock { $0.unit() } }
        return Reporter(
            ReportingSettings(), outbox: outbox,
            delivery: try FleetEngineDelivery.sample(
                authorization: CachedAuthorization(issuer, clock: clock, jitter: draw) { _ in }, over: transport),
            clock: MonotonicClock(clock), jitter: draw, observer: observer)
    }

    private static func isSignedByKnownKey(_ request: HTTPRequest) -> Bool {
        guard let text = request.headers["Authorization"]?.dropFirst("Bearer ".count),
            let token = try? JSONWebToken(String(text)), let serial = token.claims["jti"]?.numericValue
        else { return false }
        return Int(serial) % 2 == 1
    }

    /// Waits until the reporter waits after a failure or for more updates.
    private func settle() async throws {
        try await yieldTurns {
            let isEmpty = try await outbox.ledger().pending == 0
            guard clock.sleeperCount == 1 else { return false }
            return switch observer.events.last {
            case .waiting: true
            case .idle: isEmpty
            default: false
            }
        }
    }
}
