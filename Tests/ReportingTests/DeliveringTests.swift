import FleetEngine
import FleetEngineDelivery
import HTTPMessages
import ReportedText
@testable import Reporting
import Testing
import TimeAndRandomness
import VehicleAuthorization
import WaypostTestSupport

/// The delivery lane of a reporter, with an outbox in memory, a scripted Fleet Engine and a manual clock.
@Suite(.timeLimit(.minutes(1))) struct Delivering {
    let clock = ManualClock()
    let outbox = ScriptedOutbox()
    let observer = RecordingObserver()
    let authorization = ScriptedAuthorization()

    func reporter(
        past: Int = 50, service: FleetService = .onDemandTrips, over transport: ScriptedTransport,
        authorization: (any VehicleAuthorization)? = nil
    ) throws -> Reporter {
        Reporter(
            ReportingSettings(upload: UploadSettings(maximumPastLocations: past)), outbox: outbox,
            delivery: try FleetEngineDelivery.sample(
                service: service, authorization: authorization ?? self.authorization, over: transport),
            clock: MonotonicClock(clock), jitter: { 1 }, observer: observer)
    }

    static let successResponse = HTTPResponse(status: 200, body: Array(#"{"name":"providers/p/vehicles/v"}"#.utf8))

    static func errorResponse(_ status: Int, name: String) -> HTTPResponse {
        HTTPResponse(
            status: status, body: Array(#"{"error":{"code":\#(status),"message":"","status":"\#(name)"}}"#.utf8))
    }

    func appendUpdates(of seconds: ClosedRange<Int>) async throws {
        for second in seconds { try await outbox.append(LocationUpdate(.sample(Double(second)))) }
    }

    /// Delivers everything, and advances the clock over each wait. Returns the waits.
    func drain(_ reporter: Reporter) async -> [Duration] {
        await reporter.finishWhenEmpty()
        return await withTaskGroup(of: [Duration].self) { group in
            group.addTask {
                await reporter.deliver()
                return []
            }
            group.addTask { [clock, observer] in
                var waits: [Duration] = []
                for await event in observer.stream {
                    if case .idle = event { break }
                    guard case .waiting(let delay) = event else { continue }
                    waits.append(delay)
                    clock.advance(by: delay)
                }
                return waits
            }
            var waits: [Duration] = []
            for await result in group { waits += result }
            return waits
        }
    }

    @Test func sendsTheNewestUpdateWithTheOlderOnesInOrder() async throws {
        let transport = ScriptedTransport { _ in Self.successResponse }
        try await appendUpdates(of: 1...4)
        _ = await drain(try reporter(over: transport))
        #expect(transport.requests.count == 1)
        let body = String(decoding: try #require(transport.requests.first).body, as: UTF8.self)
        let times = body.matches(of: /10:00:0(\d)/).map { $0.1 }
        #expect(times == ["4", "1", "2", "3"])
        #expect(try await outbox.ledger() == Ledger(accepted: 4, delivered: 4))
    }

    /// Swift keeps the timer of a cancelled sleep until its deadline, so a sleep per delivery would accumulate timers.
    @Test func sleepsOnceForManyDeliveries() async throws {
        let transport = ScriptedTransport { _ in Self.successResponse }
        let reporter = try reporter(over: transport)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await reporter.deliver() }
            for second in 1...20 {
                try await appendUpdates(of: second...second)
                await reporter.receive(.updateStored(nil))
                for await event in observer.stream { if case .delivered = event { break } }
                // Gives the loop time to start another sleep, which would be wrong.
                for _ in 0..<1000 where clock.sleepCount < second { await Task.yield() }
            }
            #expect(transport.requests.count == 20)
            #expect(clock.sleepCount <= 2)
            group.cancelAll()
        }
    }

    @Test func reportsTheTimeOfTheServerForDeliveriesOnly() async throws {
        func dated(_ response: HTTPResponse, date: String) -> HTTPResponse {
            var response = response
            response.headers["Date"] = date
            return response
        }
        let rejection = dated(Self.errorResponse(503, name: "UNAVAILABLE"), date: "Sun, 06 Nov 1994 08:49:37 GMT")
        let delivered = dated(Self.successResponse, date: "Mon, 05 Jan 2026 10:00:09 GMT")
        try await appendUpdates(of: 1...1)
        _ = await drain(try reporter(over: ScriptedTransport(failing: 1, then: delivered) { rejection }))
        let times = observer.events.compactMap { if case .serverTime(let time) = $0 { time } else { nil } }
        #expect(times.map(\.description) == ["2026-01-05T10:00:09.000Z"])
    }

    @Test func neverSendsAnOlderPositionAsTheLastLocation() async throws {
        let transport = ScriptedTransport { _ in Self.successResponse }
        try await appendUpdates(of: 1...8)
        _ = await drain(try reporter(past: 2, over: transport))
        let last = transport.requests.map { request in
            String(decoding: request.body, as: UTF8.self).firstMatch(of: /lastLocation.*?10:00:0(\d)/)?.1 ?? ""
        }
        #expect(last == ["8", "8", "8", "8"])
        #expect(try await outbox.ledger().delivered == 8)
    }

    @Test func asksForATokenAtEveryUpload() async throws {
        let transport = ScriptedTransport { _ in Self.successResponse }
        try await appendUpdates(of: 1...5)
        _ = await drain(try reporter(past: 1, over: transport))
        #expect(authorization.asked.count == transport.requests.count)
        #expect(authorization.asked.allSatisfy { $0.vehicleID == "v" })
        #expect(
            transport.requests.enumerated().allSatisfy {
                $0.element.headers["Authorization"] == "Bearer token-\($0.offset + 1)"
            })
    }

    /// A failure (`nil`: a lost connection), how often it occurs, the waits in seconds, and the number of discarded
    /// tokens. Each rejected token is discarded, so every probe of a hold has one request and one new token.
    @Test(
        arguments: [
            (503, "UNAVAILABLE", 5, [1, 2, 4, 8, 16], 0), (nil, "", 2, [1, 2], 0), (401, "UNAUTHENTICATED", 1, [], 1),
            (403, "PERMISSION_DENIED", 4, [60, 60, 60], 4),
        ] as [(Int?, String, Int, [Int], Int)])
    func waitsWithoutLosingUpdates(status: Int?, name: String, times: Int, waits: [Int], discarded: Int) async throws {
        let transport = ScriptedTransport(failing: times, then: Self.successResponse) { () throws(HTTPTransportError) in
            guard let status else { throw HTTPTransportError(.connectionLost, "reset") }
            return Self.errorResponse(status, name: name)
        }
        try await appendUpdates(of: 1...3)
        #expect(await drain(try reporter(over: transport)) == waits.map { .seconds($0) })
        #expect(try await outbox.ledger() == Ledger(accepted: 3, delivered: 3))
        #expect(authorization.discarded.map(\.value) == (0..<discarded).map { "token-\($0 + 1)" })
        let tokens = (1...times + 1).map { "Bearer token-\($0)" }
        #expect(transport.requests.prefix(times + 1).map { $0.headers["Authorization"] } == tokens)
    }

    /// If a provider or transport reports a cancellation although the reporter isn't cancelled, that is a failure.
    @Test func retriesAfterACancellationOfAnotherTask() async throws {
        let provider = ScriptedAuthorization { (_, asked) throws(AuthorizationError) in
            guard asked > 2 else { throw AuthorizationError(.cancelled, "the worker was restarted") }
            return AuthorizationToken(value: "t", lifetime: nil)
        }
        let transport = ScriptedTransport(failing: 2, then: Self.successResponse) { () throws(HTTPTransportError) in
            throw HTTPTransportError(.cancelled, "gone")
        }
        try await appendUpdates(of: 1...1)
        #expect(
            await drain(try reporter(over: transport, authorization: provider)) == [1, 2, 1, 2].map { .seconds($0) })
        #expect(try await outbox.ledger().delivered == 1)
    }

    @Test func quarantinesOnlyTheRejectedUpdate() async throws {
        let transport = ScriptedTransport { request in
            // The fix of second 3 is rejected at any position in a batch.
            String(decoding: request.body, as: UTF8.self).contains("10:00:03Z")
                ? Self.errorResponse(400, name: "INVALID_ARGUMENT") : Self.successResponse
        }
        try await appendUpdates(of: 1...9)
        _ = await drain(try reporter(over: transport))
        #expect(try await outbox.ledger() == Ledger(accepted: 9, delivered: 8, quarantined: 1))
        #expect(await outbox.quarantinedReasons.keys.sorted() == [3])
    }

    /// The updates may not be the reason for the rejections; the API may have changed.
    @Test func keepsTheBacklogWhenEverythingIsRejected() async throws {
        let transport = ScriptedTransport(failing: 13, then: Self.successResponse) {
            Self.errorResponse(400, name: "FAILED_PRECONDITION")
        }
        try await appendUpdates(of: 1...100)
        let waits = await drain(try reporter(over: transport))
        #expect(try await outbox.ledger() == Ledger(accepted: 100, delivered: 97, quarantined: 3))
        #expect(waits == [1, 60, 120, 240].map { .seconds($0) })
        let outcomes = observer.events.compactMap { if case .failed(let outcome, _, _) = $0 { outcome } else { nil } }
        #expect(outcomes.count == 13 && outcomes.last?.isFailedAttempt == false)
    }

    @Test func waitsForATokenAndKeepsEverything() async throws {
        let provider = ScriptedAuthorization { (_, asked) throws(AuthorizationError) in
            guard asked > 3 else { throw AuthorizationError(.unavailable, "issuer down") }
            return AuthorizationToken(value: "t", lifetime: nil)
        }
        let transport = ScriptedTransport { _ in Self.successResponse }
        try await appendUpdates(of: 1...2)
        let waits = await drain(try reporter(over: transport, authorization: provider))
        #expect(waits == [1, 2, 4].map { .seconds($0) })
        #expect(try await outbox.ledger().delivered == 2)
    }

    @Test func endsAtOnceWhenCancelled() async throws {
        let transport = ScriptedTransport { _ in Self.errorResponse(503, name: "UNAVAILABLE") }
        try await appendUpdates(of: 1...1)
        let reporter = try reporter(over: transport)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await reporter.deliver() }
            for await event in observer.stream { if case .waiting = event { break } }
            group.cancelAll()  // the clock never advances, so only the cancellation can end the wait
        }
        #expect(try await outbox.ledger() == Ledger(accepted: 1, pending: 1))
    }

    @Test func repeatsTheNewestUpdateAtEachHeartbeat() async throws {
        let transport = ScriptedTransport { _ in Self.successResponse }
        try await appendUpdates(of: 1...1)
        let reporter = try reporter(over: transport)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await reporter.deliver() }
            // No sleep is longer than the heartbeat.
            group.addTask { [clock] in
                for await _ in clock.sleeps { clock.advance(by: .seconds(60)) }
            }
            var deliveries = 0
            for await event in observer.stream {
                guard case .delivered = event else { continue }
                deliveries += 1
                if deliveries == 3 { break }
            }
            group.cancelAll()
        }
        let bodies = transport.requests.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies.count >= 3)
        #expect(bodies.allSatisfy { $0.contains("10:00:01Z") })
        #expect(!bodies[0].contains("timeSinceUpdate"))
        #expect(bodies[1].contains("timeSinceUpdate"))
        #expect(await outbox.reads <= bodies.count + 1, "the outbox is read once per heartbeat")
        #expect(try await outbox.ledger() == Ledger(accepted: 1, delivered: 1))
    }

    @Test(arguments: [1, 2]) func announcesAStateAgainWithANewToken(rejections: Int) async throws {
        let transport = ScriptedTransport(failing: rejections, then: Self.successResponse) {
            Self.errorResponse(401, name: "UNAUTHENTICATED")
        }
        let outcome = try await reporter(over: transport).announce(presence: .offline).outcome
        #expect(rejections == 1 ? outcome == .delivered : outcome.fault?.message == "401 UNAUTHENTICATED")
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer token-1", "Bearer token-2"])
        #expect(authorization.discarded.map(\.value) == (1...rejections).map { "token-\($0)" })
    }

    @Test func announcesAStateWithoutAPosition() async throws {
        let transport = ScriptedTransport { _ in Self.successResponse }
        #expect(try await reporter(over: transport).announce(presence: .offline).outcome == .delivered)
        let request = try #require(transport.requests.first)
        #expect(request.url.target.hasSuffix("?updateMask=vehicleState"))
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"vehicleState":"OFFLINE"}"#)
    }

    /// A position in memory is sent during failures of the outbox, and during the waits after them.
    @Test func sendsPositionsFromMemoryWhileTheOutboxFails() async throws {
        await outbox.failEverything(with: OutboxError(.unusable))
        let transport = ScriptedTransport { _ in Self.successResponse }
        let reporter = try reporter(over: transport)
        let running = Task { await reporter.deliver() }
        defer { running.cancel() }
        var events = observer.stream.makeAsyncIterator()
        for second in 1...3 {
            while let event = await events.next() { if case .waiting = event { break } }
            await reporter.receive(.updateNotStored(LocationUpdate(.sample(Double(second))), overrulesStored: false))
            while let event = await events.next() { if case .delivered = event { break } }
        }
        #expect(transport.requests.count == 3)
        while let event = await events.next() { if case .waiting = event { break } }
        await outbox.failEverything(with: nil)
        try await appendUpdates(of: 9...9)
        clock.advance(by: .seconds(60))
        while let event = await events.next() { if case .delivered = event { break } }
        try await yieldTurns { try await outbox.ledger().pending == 0 }
        #expect(try await outbox.ledger() == Ledger(accepted: 1, delivered: 1))
    }
}
