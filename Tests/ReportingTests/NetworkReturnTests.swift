import FleetEngineDelivery
import HTTPMessages
import LinuxPlatform
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

@Suite(.timeLimit(.minutes(1))) struct NetworkReturn {
    private let clock = ManualClock()
    private let outbox = ScriptedOutbox()
    private let observer = RecordingObserver()

    private func reporter(over transport: any HTTPTransport) throws -> Reporter {
        Reporter(
            ReportingSettings(), outbox: outbox, delivery: try FleetEngineDelivery.sample(over: transport),
            clock: MonotonicClock(clock), jitter: { 1 }, observer: observer)
    }

    /// Runs `reporter` until everything is delivered, concurrently with `body`.
    private func drain(_ reporter: Reporter, during body: @escaping @Sendable () async -> Void) async {
        await reporter.finishWhenEmpty()
        await withTaskGroup { group in
            group.addTask { await reporter.deliver() }
            group.addTask { await body() }
        }
    }

    private func appendUpdates(_ count: Int) async throws {
        for second in 1...count { try await outbox.append(LocationUpdate(.sample(Double(second)))) }
    }

    private static let unreachable = HTTPTransportError(.connectionFailed, "no connection")

    @Test func endsABackoffAtOnce() async throws {
        let start = clock.now
        let attempts = Locked(0)
        let transport = ScriptedTransport { _ throws(HTTPTransportError) in
            if attempts.withLock({
                $0 += 1; return $0
            }) <= 3 {
                throw Self.unreachable
            }
            return Delivering.successResponse
        }
        try await appendUpdates(3)
        let reporter = try reporter(over: transport)
        await drain(reporter) { [clock, observer] in
            for await event in observer.stream {
                if case .idle = event { break }
                guard case .waiting(let delay) = event else { continue }
                clock.advance(by: min(delay, .seconds(3)))
                if delay > .seconds(3) { await reporter.networkReturned() }
            }
        }
        // The network's return ended the last wait, of 4 s.
        #expect(start.duration(to: clock.now) == .seconds(1 + 2 + 3))
        #expect(try await outbox.ledger() == Ledger(accepted: 3, delivered: 3))
        #expect(transport.requests.count == 4)
    }

    @Test func abandonsADeadConnectionAfterTwoSeconds() async throws {
        let (dead, attempts) = (Gate(), Locked(0))
        let transport = ScriptedTransport { _ throws(HTTPTransportError) in
            guard
                attempts.withLock({
                    $0 += 1; return $0
                }) == 1
            else { return Delivering.successResponse }
            _ = await dead.pass()
            throw HTTPTransportError(.cancelled, "cancelled")
        }
        try await appendUpdates(1)
        let reporter = try reporter(over: transport)
        await drain(reporter) { [clock, observer] in
            for await _ in dead.arrivals { break }
            await reporter.networkReturned()
            for await sleep in clock.sleeps where sleep == .seconds(2) { break }
            clock.advance(by: .seconds(2))
            // The batch is sent again at once, without a wait.
            for await event in observer.stream {
                if case .failed(let outcome, _, _) = event {
                    guard case .aborted(.networkChanged, _)? = outcome.fault else {
                        Issue.record("unexpected outcome: \(outcome)")
                        continue
                    }
                }
                if case .waiting = event { Issue.record("unexpected wait") }
                if case .idle = event { break }
            }
        }
        #expect(try await outbox.ledger().delivered == 1)
    }

    @Test func allowsTwoSecondsForAnAnswer() async throws {
        let slow = Gate()
        let transport = ScriptedTransport { _ throws(HTTPTransportError) in
            _ = await slow.pass()
            return Delivering.successResponse
        }
        try await appendUpdates(1)
        let reporter = try reporter(over: transport)
        await drain(reporter) { [clock] in
            for await _ in slow.arrivals { break }
            await reporter.networkReturned()
            for await sleep in clock.sleeps where sleep == .seconds(2) { break }
            slow.open()
        }
        #expect(transport.requests.count == 1)
        #expect(try await outbox.ledger().delivered == 1)
    }
}
