import LinuxPlatform
import Reporting
import SQLiteOutbox
import Testing
import VehicleAuthorization
import Waypost
import WaypostTestSupport

/// A token that cannot be renewed: told once, with the time that the one in hand lasts, and when it is over.
@Suite(.timeLimit(.minutes(1))) struct RenewalTroubles {
    private let clock = ManualClock()
    private let isDown = Locked(false)
    private let lines = Locked([String]())
    private let van = AuthorizationContext(vehicleID: "v")

    private func authorization(_ monitor: AgentMonitor) throws -> any VehicleAuthorization {
        let issuer = ScriptedAuthorization { [isDown] context, number throws(AuthorizationError) in
            if isDown.withLock({ $0 }) { throw AuthorizationError(.unavailable, "the backend answered 503") }
            return AuthorizationToken(
                value: TestTokens.driver(vehicleID: context.vehicleID, serial: number), lifetime: .seconds(3600))
        }
        let log = LogWriter(level: .info, format: .text, isReadByJournal: false) { [lines] bytes in
            lines.withLock { $0.append(String(decoding: bytes.dropLast(), as: UTF8.self)) }
        }
        return try Configurations.read(Configurations.smallest).cached(
            issuer, clock: clock, log: log, jitter: { 1 }, report: { monitor.note($0) })
    }

    @Test func areToldOnceAndWhenTheyAreOver() async throws {
        let monotonic = MonotonicClock(clock)
        let monitor = AgentMonitor(clock: monotonic)
        let authorization = try authorization(monitor)
        func delivery() -> StatusReport.Delivery {
            StatusReport(
                vehicle: "v", snapshot: monitor.snapshot, outbox: StoreSummary(Ledger()), durability: .full,
                at: monotonic.now
            ).delivery
        }
        _ = try await authorization.token(for: van)
        #expect(delivery().renewalTrouble == nil)

        isDown.withLock { $0 = true }
        clock.advance(by: .seconds(1800))
        for _ in 0..<20 {
            _ = try await authorization.token(for: van)
            await yieldTurns { monitor.snapshot.renewalTrouble != nil }
            clock.advance(by: .seconds(60))
        }
        let trouble = delivery()
        #expect(trouble.renewalTrouble == "the backend answered 503")
        #expect(trouble.renewalTroubleSeconds == 1200 && trouble.tokenSecondsLeft == 590)
        #expect(lines.withLock { $0.count } == 1)
        let told =
            "the token of vehicle v cannot be renewed; the one in hand is used for 30 min more: the backend answered 503"
        #expect(lines.withLock { $0.first?.contains(told) } == true, "\(lines.withLock { $0 })")

        isDown.withLock { $0 = false }
        // A fetch that still fails ends at any moment, and its wait with it.
        await yieldTurns {
            clock.advance(by: .seconds(2))
            _ = try? await authorization.token(for: van)
            return monitor.snapshot.renewalTrouble == nil && lines.withLock { $0.count } == 2
        }
        #expect(delivery().renewalTrouble == nil && delivery().tokenSecondsLeft == nil)
        #expect(lines.withLock { $0.last?.contains("the token of vehicle v is renewed again") } == true)
        #expect(lines.withLock { $0.count } == 2)
    }

    /// One cache for many vehicles, as a replay has it.
    @Test func areToldForEachVehicle() async throws {
        let authorization = try authorization(AgentMonitor(clock: MonotonicClock(clock)))
        let vans = (1...3).map { AuthorizationContext(vehicleID: "van-\($0)") }
        for van in vans { _ = try await authorization.token(for: van) }
        isDown.withLock { $0 = true }
        clock.advance(by: .seconds(1800))
        for _ in 1...2 {
            for van in vans { _ = try await authorization.token(for: van) }
            await yieldTurns { lines.withLock { $0.count } == 3 }
            clock.advance(by: .seconds(60))
        }
        #expect(lines.withLock { $0.filter { $0.contains("cannot be renewed") }.count } == 3)
        for van in vans { #expect(lines.withLock { $0.count { $0.contains("of \(van) cannot") } } == 1) }

        isDown.withLock { $0 = false }
        // A fetch that still fails ends at any moment, and its wait with it.
        await yieldTurns {
            clock.advance(by: .seconds(2))
            for van in vans { _ = try? await authorization.token(for: van) }
            return lines.withLock { $0.count } >= 6
        }
        for van in vans { #expect(lines.withLock { $0.count { $0.contains("of \(van) is renewed again") } } == 1) }
        #expect(lines.withLock { $0.count } == 6)
    }

    /// What is not there does not last: the trouble of the delivery tells the rest.
    @Test func endWithTheTokenInHand() async throws {
        let monotonic = MonotonicClock(clock)
        let monitor = AgentMonitor(clock: monotonic)
        let authorization = try authorization(monitor)
        let token = try await authorization.token(for: van)
        isDown.withLock { $0 = true }
        clock.advance(by: .seconds(1800))
        _ = try await authorization.token(for: van)
        await yieldTurns { monitor.snapshot.renewalTrouble != nil }
        await authorization.discard(token, for: van)
        #expect(monitor.snapshot.renewalTrouble == nil)
        #expect(lines.withLock { $0.count } == 1, "and nothing is renewed again")
    }
}
