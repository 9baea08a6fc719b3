import FleetEngine
import FoundationEssentials
import GNSS
import HTTPMessages
import LinuxPlatform
import LocationReporting
import ReportedText
import Testing
import VehicleAuthorization
import WaypostTestSupport

@testable import Waypost

/// Stages that hang, and what becomes of those who wait for them.
@Suite(.timeLimit(.minutes(1))) struct StageRepair {
    let progress = StageProgress(ProgressWatch(patience: ProgressWatching.patience))
    /// Never opened while a test runs: whoever comes to it hangs, cancelled or not.
    let gate = Gate()
    let manualClock = ManualClock()
    var clock: MonotonicClock { MonotonicClock(manualClock) }

    /// Hangs until the test is over, whatever happens.
    static func hang(at gate: Gate) async {
        await withCheckedContinuation { continuation in
            Task.detached { [gate] in
                _ = await gate.pass()
                continuation.resume()
            }
        }
    }

    static func transport(hangingAt gate: Gate) -> ScriptedTransport {
        ScriptedTransport { _ throws(HTTPTransportError) in
            await Self.hang(at: gate)
            throw HTTPTransportError(.cancelled, "too late")
        }
    }

    /// Lets the one wait end that has begun; where none has, what hangs is set free so that the test can fail.
    func letPatienceEnd(after expected: Duration = .seconds(1)) async {
        for await sleep in manualClock.sleeps.prefix(1) {
            #expect(sleep == expected)
            return manualClock.advance(by: sleep)
        }
        gate.open()
    }

    /// Lets time pass until something is to be done.
    func nextAction() -> ProgressWatch.Action? {
        for _ in 0..<1000 {
            if let action = progress.tick(after: .seconds(1)).first { return action }
        }
        return nil
    }

    func stallNow() throws -> Stall {
        guard case .repair(let stall)? = nextAction() else { throw OutboxError(.unusable, "no repair was asked for") }
        return stall
    }

    @Test func anExchangeThatNeverEndsIsGivenUp() async throws {
        defer { gate.open() }
        let hanging = Self.transport(hangingAt: gate)
        let working = ScriptedTransport { _ throws(HTTPTransportError) in HTTPResponse(status: 200) }
        let transport = WatchedTransport(hanging, progress: progress, clock: clock) { working }
        let request = HTTPRequest(.get, try HTTPURL("https://fleetengine.test/"))
        for attempt in 0..<2 {
            async let answer = Result<HTTPResponse, HTTPTransportError>.of { () throws(HTTPTransportError) in
                try await transport.send(request)
            }
            for await _ in gate.arrivals.prefix(1) {}
            let stall = try stallNow()
            #expect(stall.stage == .transport && stall.repairs == attempt)
            transport.repair(attempt: stall.repairs)
            guard case .failure(let error) = await answer else { throw OutboxError(.unusable, "an answer came") }
            #expect(error.code == .timedOut && error.detail.description.contains("was given up"))
        }
        #expect(hanging.networkChanges == 1)
        #expect(try await transport.send(request).status == 200)
    }

    @Test func aProviderThatNeverAnswersIsMadeAnew() async throws {
        defer { gate.open() }
        let gate = gate
        let hanging = ScriptedAuthorization { (_, _) throws(AuthorizationError) in
            await Self.hang(at: gate)
            throw AuthorizationError(.cancelled, "too late")
        }
        let provider = WatchedAuthorization(hanging, progress: progress, clock: clock) { ScriptedAuthorization() }
        let context = AuthorizationContext(vehicleID: "van-7")
        async let answer = Result<AuthorizationToken, AuthorizationError>.of { () throws(AuthorizationError) in
            try await provider.token(for: context)
        }
        for await _ in gate.arrivals.prefix(1) {}
        #expect(try stallNow().stage == .token)
        provider.repair()
        guard case .failure(let error) = await answer else { throw OutboxError(.unusable, "a token came") }
        #expect(error.code == .unavailable)
        #expect(try await provider.token(for: context).value == "token-1")
    }

    /// An outbox whose disk hangs: positions go out from memory, and it counts again once it answers.
    @Test func anOutboxThatBlocksIsBypassedUntilItAnswers() async throws {
        let gate = gate
        let store = StageCalls(of: .store, progress: progress, clock: clock, waitsForHung: true)
        let outbox = WatchedOutbox(BlockingOutbox(gate: gate), calls: store)
        async let first = Result<StoredUpdate, OutboxError>.of { () throws(OutboxError) in
            try await outbox.append(ProgressWatching.stored.update)
        }
        for await _ in gate.arrivals.prefix(1) {}
        #expect(try stallNow().stage == .store)
        store.giveUp()
        guard case .failure(let error) = await first else { throw OutboxError(.unusable, "it was stored") }
        #expect(error.code == .unusable && error.detail.contains("does not answer"))
        await #expect(throws: OutboxError.self) { try await outbox.append(ProgressWatching.stored.update) }
        // The upload loop finds nothing there, and sends what it has in memory.
        #expect(try await outbox.nextBatch(maximumPastLocations: 5) == nil)
        #expect(try await outbox.newest() == nil)
        try await outbox.acknowledge(UploadBatch(last: ProgressWatching.stored, lastIsPending: false, past: []))
        await #expect(throws: OutboxError.self) { try await outbox.acknowledge(ProgressWatching.batch) }
        // Closing comes after the call that hangs, and is not refused for it.
        try await outbox.close()
        // The hanging call is what stands still, not those that fail at once.
        guard case .end(let stall)? = nextAction() else { throw OutboxError(.unusable, "it is never given up") }
        #expect(stall.stage == .store && stall.repairs == 1)
        gate.open()
        var ledger: Ledger?
        await yieldTurns {
            ledger = try? await outbox.ledger()
            return ledger != nil
        }
        #expect(ledger?.accepted == 1, "what was under way is stored after all")
    }

    @Test func aSourceThatNeverReturnsIsBegunAnew() async throws {
        defer { gate.open() }
        let gate = gate
        let rounds = Locked(0)
        let progress = progress
        let tap = ProgressTap(progress: progress)
        let source = WatchedSource(progress: progress, clock: clock) {
            let round = rounds.withLock { rounds in
                rounds += 1
                return rounds
            }
            return HangingSource(gate: round == 1 ? gate : nil, tap: tap)
        }
        let heard = Locked([String]())
        async let running = Result<Void, FixSourceError>.of { () throws(FixSourceError) in
            try await source.run { event in
                if case .state(let state) = event { heard.withLock { $0.append(state.description) } }
            }
        }
        for await _ in gate.arrivals.prefix(1) {}
        #expect(try stallNow().stage == .receiver)
        source.repair()
        guard case .success = await running else { throw OutboxError(.unusable, "the second source failed") }
        #expect(rounds.withLock { $0 } == 2)
        #expect(heard.withLock { $0 } == ["log: receiving", "log: receiving"])
        #expect(nextAction() == nil, "a source that has ended owes nothing")
    }

    /// A stop does not wait for a disk that hangs, and neither for each call that comes to it.
    @Test func aCancelledCallerLeavesTheOutboxAfterASecond() async throws {
        defer { gate.open() }
        let store = StageCalls(of: .store, progress: progress, clock: clock, waitsForHung: true)
        let outbox = WatchedOutbox(BlockingOutbox(gate: gate), calls: store)
        let append = Task {
            await Result<StoredUpdate, OutboxError>.of { () throws(OutboxError) in
                try await outbox.append(ProgressWatching.stored.update)
            }
        }
        for await _ in gate.arrivals.prefix(1) {}
        append.cancel()
        await letPatienceEnd()
        guard case .failure(let error) = await append.value else { throw OutboxError(.unusable, "it was stored") }
        #expect(error.detail.contains("does not answer"))
        #expect(try await outbox.nextBatch(maximumPastLocations: 5) == nil)
    }

    /// Whoever leaves it early must not hide it: it is still repaired.
    @Test func anExchangeThatItsCancelledCallerLeftIsSeen() async throws {
        defer { gate.open() }
        let hanging = Self.transport(hangingAt: gate)
        let transport = WatchedTransport(hanging, progress: progress, clock: clock) { nil }
        let request = HTTPRequest(.get, try HTTPURL("https://fleetengine.test/"))
        let exchange = Task {
            await Result<HTTPResponse, HTTPTransportError>.of { () throws(HTTPTransportError) in
                try await transport.send(request)
            }
        }
        for await _ in gate.arrivals.prefix(1) {}
        exchange.cancel()
        await letPatienceEnd()
        guard case .failure = await exchange.value else { throw OutboxError(.unusable, "an answer came") }
        #expect(try stallNow().stage == .transport)
    }

    @Test func aSourceThatDoesNotStopIsLeftAndNotBegunAnew() async throws {
        defer { gate.open() }
        let gate = gate
        let rounds = Locked(0)
        let tap = ProgressTap(progress: progress)
        let source = WatchedSource(progress: progress, clock: clock) {
            rounds.withLock { $0 += 1 }
            return HangingSource(gate: gate, tap: tap)
        }
        let running = Task {
            await Result<Void, FixSourceError>.of { () throws(FixSourceError) in try await source.run { _ in } }
        }
        for await _ in gate.arrivals.prefix(1) {}
        running.cancel()
        await letPatienceEnd()
        guard case .success = await running.value else { throw OutboxError(.unusable, "the source failed") }
        #expect(rounds.withLock { $0 } == 1)
    }

    @Test func aCallIsAbandonedAtItsLimit() async throws {
        defer { gate.open() }
        let gate = gate
        let call = AbandonableCall<Void>(clock: clock)
        async let result: Void? = call.run(within: .seconds(3)) { await Self.hang(at: gate) }
        for await _ in gate.arrivals.prefix(1) {}
        await letPatienceEnd(after: .seconds(3))
        #expect(await result == nil)
        #expect(await AbandonableCall<Int>(clock: clock).run(within: .seconds(3)) { 7 } == 7)
    }

    /// The thread sees a pool on which nothing runs any more, and says so although no task can.
    @Test func theThreadEndsTheProcessWhenTheStageStaysStuck() async throws {
        let progress = StageProgress(ProgressWatch(patience: [.token: .init(.milliseconds(1))]))
        _ = progress.began(.token)
        let stop = try EventDescriptor()
        let told = Locked([String]())
        let loop = ProgressLoop(progress: progress, feedInterval: .milliseconds(5)) {
            told.withLock { if $0.last != "fed" { $0.append("fed") } }
        } repair: { stall in
            told.withLock { $0.append("repair \(stall.stage)") }
        } end: { stall in
            told.withLock { $0.append("end \(stall.stage)") }
        }
        await onThread(named: "progress") { loop.run(unless: stop) }
        let all = told.withLock { $0 }
        #expect(all.filter { $0 != "fed" } == ["repair token", "end token"])
        #expect(all.last == "end token", "a service that gives itself up feeds nobody any more")
    }

    @Test func aRecordIsForItsOwnerAloneAndBounded() throws {
        let folder = try TemporaryFolder()
        let path = StallRecord.path(besideOutbox: folder.path("outbox.sqlite"))
        let record = StallRecord(
            Stall(stage: .store, duration: .seconds(400), repairs: 1), time: UTCTime(year: 2026, month: 11, day: 21),
            uptime: .seconds(7200))
        #expect(StallRecord.read(from: path) == nil)
        try record.write(to: path)
        #expect(StallRecord.read(from: path) == record)
        #expect(record.reason == "store: the outbox does not answer for 6 min, through 1 repair")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        _ = try folder.write(Array(repeating: UInt8(ascii: " "), count: 5000), to: "outbox.sqlite.stalled")
        #expect(StallRecord.read(from: path) == nil)
    }
}

extension Result where Failure: Sendable {
    /// What `body` comes to.
    static func of(_ body: () async throws(Failure) -> Success) async -> Self {
        do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
    }
}

/// Blocks in its first call until the gate opens.
private actor BlockingOutbox: Outbox {
    private let store = InMemoryOutbox()
    private let gate: Gate
    init(gate: Gate) { self.gate = gate }

    func append(_ update: LocationUpdate, overrulingEarlier: Bool) async throws(OutboxError) -> StoredUpdate {
        await StageRepair.hang(at: gate)
        return try await store.append(update, overrulingEarlier: overrulingEarlier)
    }

    func nextBatch(maximumPastLocations: Int) async throws(OutboxError) -> UploadBatch? {
        try await store.nextBatch(maximumPastLocations: maximumPastLocations)
    }

    func acknowledge(_ batch: UploadBatch) async throws(OutboxError) { try await store.acknowledge(batch) }
    func quarantine(_ update: StoredUpdate, reason: ReportedText) async throws(OutboxError) {
        try await store.quarantine(update, reason: reason)
    }
    func newest() async throws(OutboxError) -> StoredUpdate? { try await store.newest() }
    func ledger() async throws(OutboxError) -> Ledger { try await store.ledger() }
    func close() async throws(OutboxError) {}
}

/// Tells that it receives, and hangs if it has a gate to hang at.
private struct HangingSource: FixSource {
    let gate: Gate?
    let tap: ProgressTap

    func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        tap.turned()
        await deliver(.state(.receiving(source: "log")))
        guard let gate else { return }
        await StageRepair.hang(at: gate)
        await deliver(.state(.receiving(source: "a source that was left")))
    }
}
