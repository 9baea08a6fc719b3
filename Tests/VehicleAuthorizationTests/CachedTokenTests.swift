import LinuxPlatform
import ReportedText
import Testing
import VehicleAuthorization
import WaypostTestSupport

@Suite(.timeLimit(.minutes(1))) struct CachedTokens {
    private let van7 = AuthorizationContext(vehicleID: "van-7")
    private let clock = ManualClock()
    private let warnings = Locked([AuthorizationWarning]())

    private func makeCache(over provider: ScriptedAuthorization) -> CachedAuthorization {
        CachedAuthorization(provider, clock: clock, jitter: { 0.5 }) { [warnings] event in
            if case .warnings(let found) = event { warnings.withLock { $0 += found } }
        }
    }

    /// Returns an issuer whose tokens are all different, and valid for an hour.
    private func issuer(
        lifetime: Int = 3600, gate: Gate? = nil
    ) -> ScriptedAuthorization {
        ScriptedAuthorization { context, number throws(AuthorizationError) in
            if let gate, await !gate.pass() { throw AuthorizationError(.cancelled, "cancelled") }
            return AuthorizationToken(
                value: TestTokens.driver(vehicleID: context.vehicleID, lifetime: lifetime, serial: number),
                lifetime: .seconds(lifetime))
        }
    }

    @Test func serveManyCallersWithOneFetch() async throws {
        let gate = Gate()
        let provider = issuer(gate: gate)
        let cached = makeCache(over: provider)
        let values = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<100 { group.addTask { try? await cached.token(for: van7).value } }
            for await _ in gate.arrivals { break }
            gate.open()
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(values.count == 1)
        #expect(values.first != .some(nil))
        #expect(provider.asked.count == 1)
    }

    @Test func areForgottenOnRequest() async throws {
        let provider = issuer()
        let cached = makeCache(over: provider)
        let first = try await cached.token(for: van7).value
        #expect(try await cached.token(for: van7).value == first)
        await cached.forgetTokens()
        #expect(try await cached.token(for: van7).value != first)
        #expect(provider.asked.count == 2)
    }

    /// The driver signs out while a token for that driver is being fetched.
    @Test func areDiscardedIfForgottenDuringTheirFetch() async throws {
        let gate = Gate()
        let provider = issuer(gate: gate)
        let cached = makeCache(over: provider)
        let asking = Task { try await cached.token(for: van7).value }
        for await _ in gate.arrivals { break }
        await cached.forgetTokens()
        gate.open()
        #expect(try await asking.value == TestTokens.driver(vehicleID: "van-7", serial: 2))
        #expect(provider.asked.count == 2)
    }

    @Test func surviveTheCancellationOfOneCaller() async throws {
        let gate = Gate()
        let provider = issuer(gate: gate)
        let cached = makeCache(over: provider)
        let first = Task { try await cached.token(for: van7) }
        for await _ in gate.arrivals { break }
        let second = Task.immediate { try await cached.token(for: van7) }
        _ = await cached.networkReturned()  // a turn of the actor, after which the second caller waits
        first.cancel()
        let error = await #expect(throws: AuthorizationError.self) { try await first.value }
        #expect(error?.code == .cancelled)
        gate.open()
        #expect(try await second.value.lifetime == .seconds(3600))
        #expect(provider.asked.count == 1)
    }

    @Test func cancelTheFetchWithTheLastCallerAndServeTheNext() async throws {
        let gate = Gate()
        let provider = issuer(gate: gate)
        let cached = makeCache(over: provider)
        let only = Task { try await cached.token(for: van7) }
        for await _ in gate.arrivals { break }
        only.cancel()
        _ = await only.result
        gate.open()
        #expect(try await cached.token(for: van7).lifetime == .seconds(3600))
        #expect(provider.maximumConcurrentCalls == 1)
    }

    /// A provider that hangs and ignores its cancellation.
    @Test func areAwaitedForALimitedTime() async throws {
        let gate = Gate()
        defer { gate.open() }
        let provider = ScriptedAuthorization { context, number throws(AuthorizationError) in
            _ = await Task.detached { await gate.pass() }.value
            return AuthorizationToken(
                value: TestTokens.driver(vehicleID: context.vehicleID, lifetime: 3600, serial: number),
                lifetime: .seconds(3600))
        }
        let cached = CachedAuthorization(provider, clock: clock, timeout: .seconds(60), jitter: { 0.5 }) { _ in }
        for _ in 0..<2 {
            let caller = Task { try await cached.token(for: van7) }
            for await sleep in clock.sleeps.prefix(1) {
                #expect(sleep == .seconds(60))
                clock.advance(by: sleep)
            }
            let error = await #expect(throws: AuthorizationError.self) { try await caller.value }
            #expect(error?.fault == .providerFailed(.silent(.seconds(60))))
        }
        gate.open()
        #expect(try await cached.token(for: van7).lifetime == .seconds(3480), "the lifetime counts from the call")
        #expect(provider.asked.count == 1, "while a call hangs, no other one is made")
    }

    @Test func areRefreshedInTheBackground() async throws {
        let provider = issuer()
        let cached = makeCache(over: provider)
        let first = try await cached.token(for: van7)
        clock.advance(by: .seconds(3000))
        let second = try await cached.token(for: van7)
        #expect(second.value == first.value)
        try await yieldTurns { try await cached.token(for: van7).value != first.value }
        #expect(provider.asked.count == 2)
    }

    @Test func areFetchedAgainAfterDiscard() async throws {
        let provider = issuer()
        let cached = makeCache(over: provider)
        let first = try await cached.token(for: van7)
        await cached.discard(first, for: van7)
        let second = try await cached.token(for: van7)
        #expect(second.value != first.value)
        #expect(provider.discarded == [first])
        await cached.discard(first, for: van7)
        #expect(try await cached.token(for: van7).value == second.value)
        #expect(provider.asked.count == 2)
    }

    @Test func spareAnIssuerThatFails() async throws {
        let provider = ScriptedAuthorization { _, _ throws(AuthorizationError) in
            throw AuthorizationError(.unavailable, "down", retryAfter: .seconds(30))
        }
        let cached = makeCache(over: provider)
        for _ in 0..<50 {
            let error = await #expect(throws: AuthorizationError.self) { try await cached.token(for: van7) }
            #expect(error?.code == .unavailable)
        }
        #expect(provider.asked.count == 1)
        clock.advance(by: .seconds(30))
        _ = try? await cached.token(for: van7)
        #expect(provider.asked.count == 2)
    }

    @Test(
        arguments: [
            (TestTokens.driver(vehicleID: "van-8"), 3600), (TestTokens.driver(vehicleID: "van-7"), 0),
            (TestTokens.driver(vehicleID: "van-7"), -60),
        ])
    func areNotReturnedIfInvalid(value: String, lifetime: Int) async {
        let provider = ScriptedAuthorization { _, _ in
            AuthorizationToken(value: value, lifetime: .seconds(lifetime))
        }
        let cached = makeCache(over: provider)
        let error = await #expect(throws: AuthorizationError.self) { try await cached.token(for: van7) }
        #expect(error?.code == .unusableAnswer)
    }

    @Test func requireAVehicle() async {
        let provider = issuer()
        let cached = makeCache(over: provider)
        let error = await #expect(throws: AuthorizationError.self) {
            try await cached.token(for: AuthorizationContext(vehicleID: ""))
        }
        #expect(error?.code == .missingContext)
        #expect(provider.asked.count == 0)
    }

    @Test func areReportedOnceIfShortLived() async throws {
        let provider = issuer(lifetime: 60)
        let cached = makeCache(over: provider)
        for _ in 0..<60 {  // five minutes of updates, one every five seconds
            _ = try await cached.token(for: van7)
            clock.advance(by: .seconds(5))
            await settle(cached)
        }
        #expect((7...10).contains(provider.asked.count))
        #expect(warnings.withLock { $0.count } == 1)
    }

    @Test func areFetchedOnceWhenManyRequestsFail() async throws {
        let provider = issuer()
        let cached = makeCache(over: provider)
        let first = try await cached.token(for: van7)
        let values = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    await cached.discard(first, for: van7)
                    return try? await cached.token(for: van7).value
                }
            }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(values.count == 1 && !values.contains(first.value))
        #expect(provider.asked.count == 2)
    }

    @Test func areFetchedForATrip() async throws {
        let provider = ScriptedAuthorization { context, _ in
            AuthorizationToken(value: TestTokens.consumer(tripID: context.tripID ?? "none"), lifetime: .seconds(3600))
        }
        let cached = makeCache(over: provider)
        #expect(try await cached.token(for: AuthorizationContext(tripID: "t1")).lifetime == .seconds(3600))
        let error = await #expect(throws: AuthorizationError.self) { try await cached.token(for: van7) }
        #expect(error?.fault == .wrongClaims(.noSubject(claim: "vehicleid or deliveryvehicleid"), van7))
    }

    /// A provider that gives up while a caller waits has failed. No caller waits forever or asks in a loop.
    @Test func distinguishAProvidersCancellationFromTheCallers() async throws {
        let provider = ScriptedAuthorization { _, _ throws(AuthorizationError) in
            throw AuthorizationError(.cancelled, "the worker was restarted")
        }
        let cached = makeCache(over: provider)
        for _ in 0..<3 {
            let error = await #expect(throws: AuthorizationError.self) { try await cached.token(for: van7) }
            #expect(error?.code == .unavailable)
        }
        #expect(provider.asked.count == 1)
    }

    @Test func notifyTheirProviderOfTheNetworksReturn() async {
        let provider = ScriptedAuthorization { _, _ in AuthorizationToken(value: "t", lifetime: nil) }
        await makeCache(over: provider).networkReturned()
        #expect(provider.networkReturns == 1)
    }

    /// Lets the background fetch of `cached` end.
    private func settle(_ cached: CachedAuthorization) async {
        for _ in 0..<10 { await Task.yield() }
        await cached.networkReturned()
    }
}
