import DriverAuthorization
import LinuxPlatform
import Testing
import VehicleAuthorization
import WaypostTestSupport

@Suite(.timeLimit(.minutes(1))) struct ConsumerSDKAuthorizations {
    @Test func answerForTheirTrip() async throws {
        let provider = ConsumerSDKAuthorization(TripProvider(), report: { _ in })
        let token = try await provider.token(for: AuthorizationContext(tripID: "trip-7"))
        #expect(token == AuthorizationToken(value: "token of trip-7", lifetime: nil))
    }

    @Test func reportABreachOfTheContractOnce() async throws {
        let reports = Locked([String]())
        let provider = ConsumerSDKAuthorization(
            TripProvider(), report: { warning in reports.withLock { $0.append("\(warning)") } })
        _ = try await provider.token(for: AuthorizationContext(tripID: "trip-7"))
        _ = try await provider.token(for: AuthorizationContext(tripID: "trip-7"))
        #expect(reports.withLock { $0 }.count == 1)
    }

    @Test func timeOutWithoutACallback() async throws {
        let clock = ManualClock()
        let (entries, entering) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let provider = ConsumerSDKAuthorization(
            SilentTripProvider(entering: entering), timeLimit: .seconds(10), clock: clock, report: { _ in })
        let asking = Task { try await provider.token(for: AuthorizationContext(tripID: "trip-7")) }
        for await _ in entries { break }
        for await _ in clock.sleeps { break }
        clock.advance(by: .seconds(10))
        let error = await #expect(throws: AuthorizationError.self) { try await asking.value }
        #expect(error?.fault == .providerFailed(.notCalledBack(.seconds(10))))
    }

    @Test(arguments: [
        AuthorizationContext(vehicleID: "van-7"), AuthorizationContext(trackingID: "s"),
        AuthorizationContext(tripID: ""),
    ])
    func provideTokensForTripsOnly(context: AuthorizationContext) async {
        let error = await #expect(throws: AuthorizationError.self) {
            try await ConsumerSDKAuthorization(TripProvider()).token(for: context)
        }
        #expect(error?.code == .missingContext)
    }

    @Test func returnEachTripsTokenUnderACache() async throws {
        let provider = CachedAuthorization(
            ConsumerSDKAuthorization(TripProvider(), report: { _ in }), clock: ManualClock()
        ) { _ in }
        #expect(try await provider.token(for: AuthorizationContext(tripID: "a")).value == "token of a")
        #expect(try await provider.token(for: AuthorizationContext(tripID: "b")).value == "token of b")
    }
}

@Suite struct AgentTripProvider {
    private let provider = AgentTripTokenProvider(
        ScriptedAuthorization { context, _ throws(AuthorizationError) in
            guard context.tripID != "none" else { throw AuthorizationError(.refused, "no") }
            return AuthorizationToken(value: "token of \(context)", lifetime: nil)
        })

    @Test(arguments: [("trip-7", "token of trip trip-7" as String?), ("none", nil)])
    func callsBackWithATokenOrAnError(tripID: String, token: String?) async {
        let (answers, taker) = AsyncStream.makeStream(of: (String?, Bool).self, bufferingPolicy: .bufferingNewest(2))
        provider.fetchToken(with: GMTCAuthorizationContext(tripID: tripID)) { token, error in
            taker.yield((token, error is AuthorizationError))
            taker.finish()
        }
        var all: [(String?, Bool)] = []
        for await answer in answers { all.append(answer) }
        #expect(all.map(\.0) == [token])
        #expect(all.map(\.1) == [token == nil])
    }

    @Test func needsAContext() async {
        let error = await #expect(throws: AuthorizationError.self) { try await provider.fetchToken(with: nil) }
        #expect(error?.code == .missingContext)
    }
}
