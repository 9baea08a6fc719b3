import LinuxPlatform
import Reporting
import SQLiteOutbox
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import Operations
@testable import Waypost

@Suite(.timeLimit(.minutes(1))) struct HangingCalls {
    let progress = StageProgress(ProgressWatch(timeouts: [.store: .seconds(330)]))
    /// A gate that stays closed during a test: every task that reaches it hangs, even if cancelled.
    let gate = Gate()
    let manualClock = ManualClock()
    let abandonedCalls = Locked(0)
    var clock: MonotonicClock { MonotonicClock(manualClock) }

    static func hang(at gate: Gate) async {
        await withCheckedContinuation { continuation in
            Task.detached { [gate] in
                _ = await gate.pass()
                continuation.resume()
            }
        }
    }

    /// Returns an outbox whose first `appends` appends block until the gate opens.
    static func blockingOutbox(until gate: Gate, appends: Int = 1) -> ScriptedOutbox {
        let left = Locked(appends)
        return ScriptedOutbox {
            let blocks = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if blocks { await hang(at: gate) }
        }
    }

    /// Lets the only current wait time out, in steps of at most `step`. If nothing waits, opens the gate, so that the
    /// test fails instead of hanging.
    func letTheWaitTimeOut(after expected: Duration, by step: Duration = .seconds(1)) async {
        var left = expected
        for await sleep in manualClock.sleeps {
            #expect(sleep == min(left, step))
            manualClock.advance(by: sleep)
            left -= sleep
            if left == .zero { return }
        }
        gate.open()
    }

    func nextStall() -> Stall? {
        for _ in 0..<1000 {
            if let stall = progress.tick(after: .seconds(1)) { return stall }
        }
        return nil
    }

    func timeLimited<Store: Outbox>(_ outbox: Store) -> TimeLimitedOutbox<Store> {
        TimeLimitedOutbox(outbox, clock: clock, progress: progress) { [abandonedCalls] in
            abandonedCalls.withLock { $0 += 1 }
        }
    }

    static func append(to outbox: TimeLimitedOutbox<some Outbox>) async -> Result<StoredUpdate, OutboxError> {
        await .catching { () throws(OutboxError) in try await outbox.append(ProgressWatches.stored.update) }
    }

    /// The outbox's disk hangs: positions are sent from memory, and the outbox is used again once it answers.
    @Test func anOutboxThatBlocksIsBypassedUntilItAnswers() async throws {
        let outbox = timeLimited(Self.blockingOutbox(until: gate))
        async let first = Self.append(to: outbox)
        for await _ in gate.arrivals.prefix(1) {}
        await letTheWaitTimeOut(after: .seconds(30), by: .seconds(30))
        guard case .failure(let error) = await first else { throw OutboxError(.unusable) }
        #expect(error == OutboxError(.silent))
        // Every other call fails at once; the upload loop sends the updates in memory.
        await #expect(throws: error) { try await outbox.append(ProgressWatches.stored.update) }
        await #expect(throws: error) { try await outbox.nextBatch(maximumPastLocations: 5) }
        await #expect(throws: error) { try await outbox.newest() }
        await #expect(throws: error) { try await outbox.acknowledge(ProgressWatches.batch) }
        #expect(abandonedCalls.withLock { $0 } == 1)
        // Closing waits for the hanging call and isn't rejected because of it.
        try await outbox.close()
        // The hanging call is the stalled one, not the calls that fail at once.
        #expect(nextStall() == Stall(stage: .store, duration: .seconds(330)))
        gate.open()
        var ledger: Ledger?
        await yieldTurns {
            ledger = try? await outbox.ledger()
            return ledger != nil
        }
        #expect(ledger?.accepted == 1, "the update whose append hung is stored after all")
        #expect(nextStall() == nil)
        manualClock.end()  // otherwise the timer of a finished call would retain the clock, and the clock the timer
    }

    /// The calls queued after the hanging one are freed together with it. Other calls that return meanwhile don't hide
    /// the hanging one.
    @Test func oneHangingCallIsNoticedAmongOthers() async throws {
        defer { gate.open() }
        let outbox = timeLimited(Self.blockingOutbox(until: gate, appends: 2))
        async let first = Self.append(to: outbox)
        for await _ in gate.arrivals.prefix(1) {}
        async let second = Self.append(to: outbox)
        for await _ in gate.arrivals.prefix(1) {}
        #expect(try await outbox.ledger().accepted == 0)
        for await _ in manualClock.sleeps.prefix(1) {}
        manualClock.advance(by: .seconds(30))
        for result in await [first, second] {
            guard case .failure = result else { throw OutboxError(.unusable) }
        }
        #expect(abandonedCalls.withLock { $0 } == 1)
        #expect(nextStall()?.stage == .store)
    }

    /// The start doesn't wait for a hanging disk. Once the disk has opened the outbox, the outbox is used.
    @Test func anOutboxThatOpensLateIsBypassedUntilItIsOpen() async throws {
        let directory = try TemporaryDirectory()
        let thread = ThreadExecutor(named: "outbox")
        let (begun, disk) = (try EventDescriptor(), try EventDescriptor())
        let settings = OutboxConfiguration(
            path: directory.path("outbox.sqlite"), maximumBytes: 1 << 20)
        let outbox = timeLimited(SQLiteOutbox(settings, on: thread))
        async let hanging: Void = HangingDisk(thread).wait(for: disk, announcingWith: begun)
        await onThread(named: "disk") { begun.wait() }
        async let opening = Result<Void, OutboxError>.catching { () throws(OutboxError) in try await outbox.open() }
        await letTheWaitTimeOut(after: .seconds(5), by: .seconds(5))
        guard case .failure(let error) = await opening else { throw OutboxError(.unusable) }
        #expect(error == OutboxError(.silent, .opening))
        await #expect(throws: error) { try await outbox.append(ProgressWatches.stored.update) }
        disk.signal()
        await hanging
        var stored: StoredUpdate?
        await yieldTurns {
            stored = try? await outbox.append(ProgressWatches.stored.update)
            return stored != nil
        }
        #expect(stored?.sequence == 1)
        manualClock.end()  // otherwise the timer of a finished call would retain the clock, and the clock the timer
        try await outbox.close()
    }

    @Test func aCallIsAbandonedAtItsTimeLimit() async throws {
        defer { gate.open() }
        let gate = gate
        async let result: Void? = AbandonableCall().run(within: .seconds(3), on: clock) { await Self.hang(at: gate) }
        for await _ in gate.arrivals.prefix(1) {}
        await letTheWaitTimeOut(after: .seconds(3))
        #expect(await result == nil)
        #expect(await AbandonableCall().run(within: .seconds(3), on: clock) { 7 } == 7)
    }

    @Test func aTaskThatDoesNotStopIsAbandonedAfterASecond() async throws {
        defer { gate.open() }
        let (gate, clock) = (gate, clock)
        let running = Task<Void?, Never> {
            await AbandonableCall.run(stoppedWithin: StopTimeout.tasks, on: clock) { _ in await Self.hang(at: gate) }
        }
        for await _ in gate.arrivals.prefix(1) {}
        running.cancel()
        await letTheWaitTimeOut(after: .seconds(1))
        #expect(await running.value == nil)
    }

    @Test func aTaskThatStopsInTimeIsAwaited() async throws {
        let (gate, clock) = (gate, clock)
        let running = Task {
            await AbandonableCall.run(stoppedWithin: StopTimeout.tasks, on: clock) { _ in await gate.pass() }
        }
        for await _ in gate.arrivals.prefix(1) {}
        running.cancel()
        #expect(await running.value == false, "the task noticed its cancellation")
        #expect(await AbandonableCall.run(stoppedWithin: StopTimeout.tasks, on: clock) { _ in 7 } == 7)
    }

    /// The thread notices that the pool runs nothing, and reports this although no task can.
    @Test func theWatchThreadEndsTheProcessWhenAStageStalls() async throws {
        let progress = StageProgress(ProgressWatch(timeouts: [.token: .milliseconds(1)]))
        progress.reportProgress(of: .token)
        let stop = try EventDescriptor()
        let watchdogEvents = Locked([String]())
        let watchdog = Watchdog(progress, feedInterval: .milliseconds(5)) {
            watchdogEvents.withLock { if $0.last != "fed" { $0.append("fed") } }
        } end: { stall in
            watchdogEvents.withLock { $0.append("end \(stall.stage)") }
        }
        await onThread(named: "progress") { watchdog.run(until: stop) }
        let all = watchdogEvents.withLock { $0 }
        #expect(all.filter { $0 != "fed" } == ["end token"])
        #expect(all.last == "end token", "a service that gives up no longer feeds the watchdog")
    }

    @Test func aStallRecordIsBoundedAndReadableByItsOwnerOnly() throws {
        let directory = try TemporaryDirectory()
        let path = StallRecord.path(forOutbox: directory.path("outbox.sqlite"))
        let record = StallRecord(
            Stall(stage: .store, duration: .seconds(400)), time: UTCTime(year: 2026, month: 11, day: 21),
            uptime: .seconds(7200))
        #expect(StallRecord.read(from: path) == nil)
        try record.write(to: path)
        #expect(StallRecord.read(from: path) == record)
        #expect(record.reason == "store: the outbox has not answered for 7 min")
        #expect(try FileStatus(at: path)?.permissions == 0o600)
        _ = try directory.write(Array(repeating: UInt8(ascii: " "), count: 5000), to: "outbox.sqlite.stalled")
        #expect(StallRecord.read(from: path) == nil)
    }
}

extension Result where Failure: Sendable {
    static func catching(_ body: () async throws(Failure) -> Success) async -> Self {
        do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
    }
}

/// An actor that blocks an outbox's thread, like a system call that doesn't return.
private actor HangingDisk {
    private let executor: ThreadExecutor

    init(_ executor: ThreadExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    func wait(for event: EventDescriptor, announcingWith begun: EventDescriptor) {
        begun.signal()
        event.wait()
    }
}
