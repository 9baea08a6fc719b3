import FleetEngine
import FleetEngineDelivery
import GNSS
import HTTPMessages
import LinuxPlatform
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

/// A whole reporter, from fixes to a scripted Fleet Engine.
@Suite struct Reporters {
    /// A source that delivers its fixes and then ends or fails.
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
    let transport = ScriptedTransport { _ in
        HTTPResponse(status: 200, body: Array(#"{"name":"providers/p/deliveryVehicles/v"}"#.utf8))
    }

    func reporter(
        spacing: RequestSpacing = .recordedLog, shape: ShapePoints = ShapePoints(toleranceMeters: 5),
        over outbox: (any Outbox)? = nil, clock: ManualClock = ManualClock(), privateSwitch: PrivateSwitch? = nil
    ) throws -> Reporter {
        Reporter(
            ReportingSettings(shape: shape, spacing: spacing), outbox: outbox ?? self.outbox,
            delivery: try FleetEngineDelivery.sample(service: .scheduledTasks, over: transport),
            privateSwitch: privateSwitch, clock: MonotonicClock(clock), jitter: { 0 }, observer: observer)
    }

    static let drive = (0..<100).map { Fix.sample(Double($0), north: Double($0) * 10, speed: 10, heading: 0) }

    @Test func deliverAWholeRecordingAndEnd() async throws {
        try await reporter().run(Recording(fixes: Self.drive))
        #expect(try await outbox.ledger() == Ledger(accepted: 10, delivered: 10))
    }

    @Test func deliverUpdatesReadBeforeTheRecordingFailed() async throws {
        let failure = FixSourceError(log: "drive.nmea.gz", .archiveCutShort)
        let reporter = try reporter()
        await #expect(throws: failure) { try await reporter.run(Recording(fixes: Self.drive, failure: failure)) }
        #expect(try await outbox.ledger() == Ledger(accepted: 10, delivered: 10))
    }

    @Test func sendTheLivePositionWhenTheDiskIsFull() async throws {
        await outbox.failAppends(with: OutboxError(.full))
        try await reporter().run(Recording(fixes: Self.drive))
        #expect(!transport.requests.isEmpty)
        let last = String(decoding: try #require(transport.requests.last).body, as: UTF8.self)
        #expect(last.contains("10:01:30Z"))
        #expect(try await outbox.ledger() == Ledger())
        #expect(observer.events.contains { if case .notStored = $0 { true } else { false } })
    }

    /// Updates that could not be stored, whether they were sent from memory or not, are stored in order.
    @Test(arguments: [false, true]) func retryUpdatesThatTheOutboxDidNotAccept(hasFix: Bool) async throws {
        let reporter = try reporter()
        await outbox.failAppends(with: OutboxError(.busy))
        for second in 0..<25 { await reporter.process(.fix(.sample(Double(second)))) }
        #expect(try await outbox.ledger().accepted == 0)
        await reporter.retryStoring()
        #expect(try await outbox.ledger().accepted == 0)
        await outbox.failAppends(with: nil)
        if hasFix {
            for second in 25..<31 { await reporter.process(.fix(.sample(Double(second)))) }
        } else {
            await reporter.retryStoring()
        }
        let batch = try #require(try await outbox.nextBatch(maximumPastLocations: 10, withBacklog: true))
        let expected: [Double] = hasFix ? [0, 10, 20, 30] : [0, 10, 20]
        #expect(batch.pending.map(\.update.timeOfFix) == expected.map { Fix.sample($0).timeOfFix })
        #expect(batch.pending.map(\.sequence) == (1...Int64(expected.count)).map(\.self))
    }

    /// A failed commit may be on the disk anyway. The append is repeated unchanged, so that the outbox recognises it.
    @Test func repeatAFailedAppendUnchanged() async throws {
        let reporter = try reporter()
        await outbox.failAppends(with: OutboxError(.unusable))
        for minute in 0..<400 { await reporter.process(.fix(.sample(Double(minute * 60)))) }
        let failed = await outbox.appends
        #expect(failed.count == 400 && Set(failed) == [failed[0]])
        await outbox.failAppends(with: nil)
        await reporter.process(.fix(.sample(400 * 60)))
        let appends = await outbox.appends.dropFirst(400)
        #expect(appends.first == failed[0])
        #expect(Set(appends.flatMap(\.self)).count == 401 && appends.reduce(0) { $0 + $1.count } == 401)
    }

    /// A position that arrives while an earlier one is being stored is stored by the same task.
    @Test func keepAFailedAppendWhenAnotherPositionArrives() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let slow = ScriptedOutbox {
            begin.yield()
            for await _ in opened { break }
        }
        let reporter = try reporter(shape: ShapePoints(toleranceMeters: nil), over: slow)
        await slow.failAppends(with: OutboxError(.busy))
        async let first: Void = reporter.process(.fix(.sample(0)))
        for await _ in begun { break }
        await reporter.process(.fix(.sample(60)))
        await #expect(slow.appends.isEmpty)
        open.yield()
        await first
        #expect(observer.events.count { if case .notStored = $0 { true } else { false } } == 1)
        await slow.failAppends(with: nil)
        for _ in 0..<2 { open.yield() }
        await reporter.retryStoring()
        #expect(await slow.appends.map { $0.map(\.timeOfFix) } == [0, 0, 60].map { [Fix.sample($0).timeOfFix] })
        #expect(try await slow.ledger() == Ledger(accepted: 2, pending: 2))
    }

    /// Beyond 1,024 updates, the oldest are dropped. The others are stored in as many commits as they need.
    @Test func keepABoundedNumberOfUpdatesInMemory() async throws {
        let reporter = try reporter()
        await outbox.failAppends(with: OutboxError(.busy))
        for minute in 0..<1100 { await reporter.process(.fix(.sample(Double(minute * 60)))) }
        await outbox.failAppends(with: nil)
        await reporter.retryStoring()
        #expect(try await outbox.ledger() == Ledger(accepted: 1024, pending: 1024))
        #expect(try await outbox.newest()?.update.timeOfFix == Fix.sample(1099 * 60).timeOfFix)
    }

    /// The switch may have been on while the process was frozen, so the fix that the receiver has buffered is dropped.
    @Test func discloseNoFixBufferedWhileTheProcessWasFrozen() async throws {
        let clock = ManualClock()
        let reporter = try reporter(clock: clock, privateSwitch: { false })
        await reporter.readPrivateSwitch(isPolled: true)
        await reporter.process(.fix(.sample(0)))
        clock.advance(by: .seconds(20))
        await reporter.process(.fix(.sample(19.6)))
        #expect(try await outbox.ledger().accepted == 1)
        #expect(observer.events.last == .withheld)
        clock.advance(by: .seconds(1))
        await reporter.readPrivateSwitch(isPolled: true)
        await reporter.process(.fix(.sample(21)))
        #expect(try await outbox.ledger().accepted == 2)
    }

    /// The disk is full when the receiver's wrong date is recognised.
    @Test func overruleTheNewestStoredUpdateOnceTheOutboxAcceptsUpdatesAgain() async throws {
        let reporter = try reporter()
        await reporter.process(.fix(.sample(90_000_000)))
        await outbox.failAppends(with: OutboxError(.full))
        for second in 0..<3 { await reporter.process(.fix(.sample(Double(second)))) }
        await outbox.failAppends(with: nil)
        for second in 3..<20 { await reporter.process(.fix(.sample(Double(second)))) }
        #expect(try await outbox.newest()?.update.timeOfFix == Fix.sample(12).timeOfFix)
        #expect(transport.requests.isEmpty)
    }

    @Test func rejectImplausibleFixes() async throws {
        var fixes = Self.drive
        fixes[50].latitude = -50
        try await reporter().run(Recording(fixes: fixes))
        let rejections = observer.events.filter { if case .rejected = $0 { true } else { false } }
        #expect(rejections.count == 1)
        #expect(transport.requests.allSatisfy { !String(decoding: $0.body, as: UTF8.self).contains("-50") })
    }

    @Test func warnAboutMotionThatTheTrackContradicts() async throws {
        try await reporter().run(
            Recording(fixes: (0..<30).map { .sample(Double($0), north: Double($0) * 12, speed: 0) }))
        #expect(observer.events.contains(.receiverWarning(.motionContradicted)))
    }

    /// An append returns the next upload, so the outbox isn't read for it.
    @Test func doNotReadTheOutboxForALiveUpdate() async throws {
        let reporter = try reporter()
        async let delivering: Void = reporter.deliver()
        for await event in observer.stream { if case .idle = event { break } }
        let reads = await outbox.reads
        for second in stride(from: 0.0, to: 60, by: 10) {
            await reporter.process(.fix(.sample(second)))
            for await event in observer.stream { if case .idle = event { break } }
        }
        #expect(await outbox.reads == reads)
        #expect(try await outbox.ledger() == Ledger(accepted: 6, delivered: 6))
        await reporter.finishWhenEmpty()
        await delivering
    }

    /// A result that belongs to no action is reported, and delivery continues from the outbox.
    @Test func restartAfterAnInternalError() async throws {
        let reporter = try reporter()
        async let delivering: Void = reporter.deliver()
        for await event in observer.stream { if case .idle = event { break } }
        await reporter.receive(.resultRecorded(nil))
        await reporter.process(.fix(.sample(0)))
        await reporter.finishWhenEmpty()
        await delivering
        #expect(observer.events.contains { if case .internalError = $0 { true } else { false } })
        #expect(try await outbox.ledger() == Ledger(accepted: 1, delivered: 1))
    }
}
