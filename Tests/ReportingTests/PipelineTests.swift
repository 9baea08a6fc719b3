import FleetEngine
import FleetEngineDelivery
import GNSS
import HTTPMessages
import LinuxPlatform
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

@Suite struct Pipeline {
    /// A source that delivers what it holds and then ends or fails.
    struct Recording: FixSource {
        let fixes: [Fix]
        var failure: FixSourceError?

        func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
            for fix in fixes { await deliver(.fix(fix)) }
            if let failure { throw failure }
            await deliver(.state(.ended(source: "recording")))
        }
    }

    let outbox = ScriptedOutbox()
    let observer = RecordingObserver()

    func pipeline(_ source: Recording) throws -> (ReportingPipeline, ScriptedTransport) {
        let (pipeline, transport, _) = try parts(source)
        return (pipeline, transport)
    }

    func parts(_ source: Recording) throws -> (ReportingPipeline, ScriptedTransport, LocationIntake) {
        let transport = answeringTransport
        let uploader = try uploader(over: transport)
        let intake = intake(for: uploader)
        return (ReportingPipeline(source: source, intake: intake, uploader: uploader), transport, intake)
    }

    var answeringTransport: ScriptedTransport {
        ScriptedTransport { _ in
            HTTPResponse(status: 200, body: Array(#"{"name":"providers/p/deliveryVehicles/v"}"#.utf8))
        }
    }

    func uploader(over transport: ScriptedTransport, clock: ManualClock = ManualClock()) throws -> Uploader {
        Uploader(
            settings: UploadSettings(), outbox: outbox,
            delivery: try FleetEngineDelivery.sample(service: .scheduledTasks, over: transport),
            clock: MonotonicClock(clock), jitter: { 0 }, observer: observer)
    }

    func intake(
        for uploader: Uploader, spacing: RequestSpacing = .recordedLog, clock: ManualClock = ManualClock(),
        privateSwitch: PrivateSwitch? = nil
    ) -> LocationIntake {
        LocationIntake(
            plausibility: Plausibility(earliest: nil), shape: ShapePoints(meters: 5),
            policy: ReportingPolicy(.interval(.seconds(10)), heartbeat: .seconds(60)), spacing: spacing,
            privateSwitch: privateSwitch, outbox: outbox, uploader: uploader, clock: MonotonicClock(clock),
            latestTime: { nil }, observer: observer)
    }

    static let drive = (0..<100).map { Fix.sample(Double($0), north: Double($0) * 10, speed: 10, heading: 0) }

    @Test func deliversAWholeRecordingAndEnds() async throws {
        let (pipeline, _) = try pipeline(Recording(fixes: Self.drive))
        try await pipeline.run()
        #expect(try await outbox.ledger() == Ledger(accepted: 10, delivered: 10))
    }

    @Test func deliversWhatWasReadBeforeTheRecordingFailed() async throws {
        let failure = FixSourceError(.notALog, "drive.nmea.gz: ends in the middle")
        let (pipeline, _) = try pipeline(Recording(fixes: Self.drive, failure: failure))
        await #expect(throws: failure) { try await pipeline.run() }
        #expect(try await outbox.ledger() == Ledger(accepted: 10, delivered: 10))
    }

    @Test func sendsTheLivePositionWhenTheDiskIsFull() async throws {
        await outbox.failAppends(with: OutboxError(.full, "no space"))
        let (pipeline, transport) = try pipeline(Recording(fixes: Self.drive))
        try await pipeline.run()
        #expect(!transport.requests.isEmpty)
        let last = String(decoding: try #require(transport.requests.last).body, as: UTF8.self)
        #expect(last.contains("10:01:30Z"))
        #expect(try await outbox.ledger() == Ledger())
        #expect(observer.events.contains { if case .notStored = $0 { true } else { false } })
    }

    /// Updates that were sent from memory, and those that could not be sent, are stored in order.
    @Test(arguments: [false, true]) func storesLaterWhatTheOutboxDidNotAccept(hasFix: Bool) async throws {
        let (_, _, intake) = try parts(Recording(fixes: []))
        await outbox.failAppends(with: OutboxError(.busy, "locked"))
        for second in 0..<25 { await intake.take(.fix(.sample(Double(second)))) }
        #expect(try await outbox.ledger().accepted == 0)
        await #expect(throws: OutboxError.self) { try await intake.storeUnstored() }
        await outbox.failAppends(with: nil)
        if hasFix {
            for second in 25..<31 { await intake.take(.fix(.sample(Double(second)))) }
        } else {
            try await intake.storeUnstored()
        }
        let batch = try #require(try await outbox.nextBatch(maximumPastLocations: 10, withBacklog: true))
        let expected: [Double] = hasFix ? [0, 10, 20, 30] : [0, 10, 20]
        #expect(batch.pending.map(\.update.timeOfFix) == expected.map { Fix.sample($0).timeOfFix })
        #expect(batch.pending.map(\.sequence) == (1...Int64(expected.count)).map(\.self))
    }

    /// A failed commit may be on the disk anyway: it is appended again as it was, so that the outbox knows it.
    @Test func repeatsAFailedAppendAsItWas() async throws {
        let (_, _, intake) = try parts(Recording(fixes: []))
        await outbox.failAppends(with: OutboxError(.unusable, "input/output error"))
        for minute in 0..<400 { await intake.take(.fix(.sample(Double(minute * 60)))) }
        let failed = await outbox.appends
        #expect(failed.count == 400 && Set(failed) == [failed[0]])
        await outbox.failAppends(with: nil)
        await intake.take(.fix(.sample(400 * 60)))
        let appends = await outbox.appends.dropFirst(400)
        #expect(appends.first == failed[0])
        #expect(Set(appends.flatMap(\.self)).count == 401 && appends.reduce(0) { $0 + $1.count } == 401)
    }

    /// A position that comes while an earlier one is being stored leaves the storing to it.
    @Test func keepsWhatFailsWhileAnotherPositionComes() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let slow = ScriptedOutbox {
            begin.yield()
            for await _ in opened { break }
        }
        let intake = LocationIntake(
            plausibility: Plausibility(earliest: nil), shape: ShapePoints(meters: nil),
            policy: ReportingPolicy(.interval(.seconds(10)), heartbeat: .seconds(60)), spacing: .recordedLog,
            outbox: slow, uploader: try uploader(over: answeringTransport), clock: MonotonicClock(ManualClock()),
            latestTime: { nil }, observer: observer)
        await slow.failAppends(with: OutboxError(.busy, "locked"))
        async let first: Void = intake.take(.fix(.sample(0)))
        for await _ in begun { break }
        await intake.take(.fix(.sample(60)))
        await #expect(slow.appends.isEmpty)
        open.yield()
        await first
        #expect(observer.events.count { if case .notStored = $0 { true } else { false } } == 1)
        await slow.failAppends(with: nil)
        for _ in 0..<2 { open.yield() }
        try await intake.storeUnstored()
        #expect(await slow.appends.map { $0.map(\.timeOfFix) } == [0, 0, 60].map { [Fix.sample($0).timeOfFix] })
        #expect(try await slow.ledger() == Ledger(accepted: 2, pending: 2))
    }

    /// The oldest of 1,024 give way; what is kept is stored by as many as one commit may hold.
    @Test func keepsABoundedNumberInMemory() async throws {
        let (_, _, intake) = try parts(Recording(fixes: []))
        await outbox.failAppends(with: OutboxError(.busy, "locked"))
        for minute in 0..<1100 { await intake.take(.fix(.sample(Double(minute * 60)))) }
        await outbox.failAppends(with: nil)
        try await intake.storeUnstored()
        #expect(try await outbox.ledger() == Ledger(accepted: 1024, pending: 1024))
        #expect(try await outbox.newest()?.update.timeOfFix == Fix.sample(1099 * 60).timeOfFix)
    }

    /// It was switched on and off while the process was stopped: the fix that came meanwhile waits in the receiver.
    @Test func tellsNothingOfATimeInWhichItWasFrozen() async throws {
        let clock = ManualClock()
        let intake = intake(for: try uploader(over: answeringTransport), clock: clock, privateSwitch: { false })
        await intake.lookAtSwitch(isWatching: true)
        await intake.take(.fix(.sample(0)))
        clock.advance(by: .seconds(20))
        await intake.take(.fix(.sample(19.6)))
        #expect(try await outbox.ledger().accepted == 1)
        #expect(observer.events.last == .withheld)
        clock.advance(by: .seconds(1))
        await intake.lookAtSwitch(isWatching: true)
        await intake.take(.fix(.sample(21)))
        #expect(try await outbox.ledger().accepted == 2)
    }

    /// The disk is full just when the receiver's wrong date is recognised.
    @Test func tellsTheOutboxLaterThatItsNewestIsWrong() async throws {
        let (_, transport, intake) = try parts(Recording(fixes: []))
        await intake.take(.fix(.sample(90_000_000)))
        await outbox.failAppends(with: OutboxError(.full, "no space"))
        for second in 0..<3 { await intake.take(.fix(.sample(Double(second)))) }
        await outbox.failAppends(with: nil)
        for second in 3..<20 { await intake.take(.fix(.sample(Double(second)))) }
        #expect(try await outbox.newest()?.update.timeOfFix == Fix.sample(12).timeOfFix)
        #expect(transport.requests.isEmpty)
    }

    @Test func refusesWhatCannotBeTrue() async throws {
        var fixes = Self.drive
        fixes[50].latitude = -50
        let (pipeline, transport) = try pipeline(Recording(fixes: fixes))
        try await pipeline.run()
        let refused = observer.events.filter { if case .refused = $0 { true } else { false } }
        #expect(refused.count == 1)
        #expect(transport.requests.allSatisfy { !String(decoding: $0.body, as: UTF8.self).contains("-50") })
    }

    @Test func warnsOfAMotionThatTheTrackContradicts() async throws {
        let (pipeline, _) = try pipeline(
            Recording(fixes: (0..<30).map { .sample(Double($0), north: Double($0) * 12, speed: 0) }))
        try await pipeline.run()
        #expect(observer.events.contains(.receiverWarning(.motionContradicted)))
    }
}
