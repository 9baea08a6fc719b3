import GNSS
import Glibc
import LinuxPlatform
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import GNSSReceiver

@Suite(.timeLimit(.minutes(1))) struct LogReplays {
    private static let start = UTCTime(year: 2030, month: 6, day: 1)

    private let directory: TemporaryDirectory
    private let clock = ManualClock()

    init() throws { directory = try TemporaryDirectory() }

    private func replay(of text: String, options: LogReplay.Options) throws -> LogReplay {
        let path = try directory.write(text.utf8, to: "log.nmea")
        let clock = clock
        let beginning = clock.now
        return LogReplay(paths: [path], options: options, clock: clock) {
            Self.start.advanced(by: beginning.duration(to: clock.now))
        }
    }

    /// Delivers `count` fixes and advances the clock by each wait. Returns the waits, and the times of the fixes
    /// relative to `start`.
    private func deliverFixes(
        _ count: Int, from replay: LogReplay
    ) async throws -> (waits: [Duration], times: [Duration]) {
        var times: [Duration] = []
        let clock = clock
        let (waits, announcer) = AsyncStream.makeStream(of: Duration.self, bufferingPolicy: .bufferingNewest(1000))
        let pacing = Task {
            for await wait in clock.sleeps {
                announcer.yield(wait)
                clock.advance(by: wait)
            }
        }
        await observe(replay) { observer in
            while times.count < count, let fix = await observer.fix() {
                times.append(Self.start.duration(to: fix.timeOfFix))
            }
        }
        pacing.cancel()
        announcer.finish()
        var waited: [Duration] = []
        for await wait in waits { waited.append(wait) }
        return (waited, times)
    }

    private let threeFixes = [0, 1, 5].map { epoch(second: $0) }.joined()

    @Test func dateEachFixWhenItIsDueAtSpeedOne() async throws {
        let result = try await deliverFixes(3, from: try replay(of: threeFixes, options: .init()))
        #expect(result.times == [.zero, .seconds(1), .seconds(5)])
        #expect(result.waits == [.seconds(1), .seconds(4)])
    }

    /// Without this report, the replay of a log in the wrong order would end at once without an explanation.
    @Test(arguments: [([0, 1, 5], 0), ([5, 1, 0], 2), ([0, 5, 1], 1)])
    func reportThatTheTimeGoesBack(seconds: [Int], times: Int) async throws {
        let path = try directory.write(seconds.map { epoch(second: $0) }.joined().utf8, to: "log.nmea")
        let remarks = Locked<[LogRemark]>([])
        let replay = LogReplay(paths: [path], clock: clock, now: { Self.start }) { remark in
            remarks.withLock { $0.append(remark) }
        }
        _ = try await replay.survey()
        #expect(remarks.withLock { $0 } == (times == 0 ? [] : [.timeGoesBack(log: path, times: times)]))
    }

    @Test func nameTheLogThatIsOutOfOrder() async throws {
        let (early, late) = (
            try directory.write(threeFixes.utf8, to: "early.nmea"),
            try directory.write([9, 10].map { epoch(second: $0) }.joined().utf8, to: "late.nmea")
        )
        for (paths, isReported) in [([early, late], false), ([late, early], true)] {
            let remarks = Locked<[LogRemark]>([])
            let replay = LogReplay(paths: paths, clock: clock, now: { Self.start }) { remark in
                remarks.withLock { $0.append(remark) }
            }
            _ = try await replay.survey()
            let found = remarks.withLock { $0 }
            #expect(found.count == (isReported ? 1 : 0), "\(found)")
            guard isReported else { continue }
            guard case .outOfOrder(let previous, let end, let next, let begin)? = found.first else {
                Issue.record("\(found)")
                continue
            }
            #expect(previous == late && next == early)
            #expect(begin < end)
        }
    }

    @Test func dateTheLastFixWhenItIsDueAtSpeedTwo() async throws {
        let result = try await deliverFixes(3, from: try replay(of: threeFixes, options: .init(speed: .times(2))))
        #expect(result.times == [.seconds(-2.5), .seconds(-1.5), .seconds(2.5)])
        #expect(result.waits == [.seconds(0.5), .seconds(2)])
    }

    @Test func dateTheLastFixNowAtFullSpeed() async throws {
        let result = try await deliverFixes(3, from: try replay(of: threeFixes, options: .init(speed: .maximum)))
        #expect(result.times == [.seconds(-5), .seconds(-4), .zero])
        #expect(result.waits == [])
    }

    /// A busy machine delays each fix by another tenth of a second.
    @Test func dateFixesByTheSchedule() async throws {
        let path = try directory.write(threeFixes.utf8, to: "log.nmea")
        let reads = Locked(0)
        let replay = LogReplay(paths: [path], options: .init(speed: .maximum), clock: clock) {
            Self.start.advanced(
                by: .milliseconds(
                    reads.withLock {
                        $0 += 100
                        return $0
                    }))
        }
        await observe(replay) { observer in
            var times: [UTCTime] = []
            while times.count < 3, let fix = await observer.fix() { times.append(fix.timeOfFix) }
            #expect(times.map { times[0].duration(to: $0) } == [.zero, .seconds(1), .seconds(5)])
        }
    }

    @Test func dateNoFixInTheFutureWhenTheSystemClockIsSetBack() async throws {
        let path = try directory.write(threeFixes.utf8, to: "log.nmea")
        let reads = Locked(0)
        let replay = LogReplay(paths: [path], options: .init(speed: .maximum), clock: clock) {
            let count = reads.withLock {
                $0 += 1
                return $0
            }
            return count == 1 ? Self.start : Self.start.advanced(by: .seconds(-3))
        }
        await observe(replay) { observer in
            for expected in [-5, -4, -3] {
                #expect((await observer.fix())?.timeOfFix == Self.start.advanced(by: .seconds(expected)))
            }
        }
    }

    @Test func reportProgressInLogTime() async throws {
        let replay = try replay(of: threeFixes, options: .init(speed: .times(2)))
        let clock = clock
        let pacing = Task { for await wait in clock.sleeps { clock.advance(by: wait) } }
        await observe(replay) { observer in
            for _ in 1...3 { _ = await observer.fix() }
            let progressEvents = observer.seen.filter { if case .progress = $0 { true } else { false } }
            #expect(
                Array(progressEvents.prefix(3)) == [0, 1, 5].map { .progress(reached: .seconds($0), of: .seconds(5)) })
        }
        pacing.cancel()
    }

    /// The progress includes earlier passes of the log.
    @Test func reportProgressOverAllPasses() async throws {
        let replay = try replay(of: threeFixes, options: .init(speed: .times(2), loops: true))
        let clock = clock
        let pacing = Task { for await wait in clock.sleeps { clock.advance(by: wait) } }
        await observe(replay) { observer in
            for _ in 1...5 { _ = await observer.fix() }
            let progressEvents = observer.seen.filter { if case .progress = $0 { true } else { false } }
            #expect(
                Array(progressEvents.prefix(5))
                    == [0, 1, 5, 5, 6].map { .progress(reached: .seconds($0), of: .seconds(5)) })
        }
        pacing.cancel()
    }

    /// Progress always ends with the full length.
    @Test func reportTheEndAsProgress() async throws {
        let events = Locked([FixSourceEvent]())
        try await replay(of: threeFixes, options: .init(speed: .maximum)).run { event in
            events.withLock { $0.append(event) }
        }
        let last = events.withLock { $0 }.suffix(2)
        #expect(last.first == .progress(reached: .seconds(5), of: .seconds(5)))
        #expect(last.last.map { if case .state(.ended) = $0 { true } else { false } } == true)
    }

    @Test func keepTheTimesOfTheLogIfConfigured() async throws {
        let result = try await deliverFixes(
            3, from: try replay(of: threeFixes, options: .init(speed: .maximum, keepsTime: true)))
        let first = UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: (10 * 60 + 15) * 60_000)
        let offset = Self.start.duration(to: first)
        #expect(result.times == [offset, offset + .seconds(1), offset + .seconds(5)])
    }

    @Test(arguments: [
        LogReplay.Options(loops: true), LogReplay.Options(speed: .times(60), loops: true),
        LogReplay.Options(speed: .maximum, loops: true),
        LogReplay.Options(speed: .maximum, keepsTime: true, loops: true),
    ])
    func startOverWithIncreasingTimes(options: LogReplay.Options) async throws {
        let result = try await deliverFixes(12, from: try replay(of: threeFixes, options: options))
        #expect(result.times.count == 12)
        #expect(zip(result.times, result.times.dropFirst()).allSatisfy { $0 < $1 }, "\(result.times)")
    }

    @Test func reportTheReceivingStateOnceForAllPasses() async throws {
        let replay = try replay(of: threeFixes, options: .init(speed: .maximum, keepsTime: true, loops: true))
        let clock = clock
        let pacing = Task { for await wait in clock.sleeps { clock.advance(by: wait) } }
        await observe(replay) { observer in
            for _ in 1...9 { _ = await observer.fix() }
            #expect(observer.states.count == 1, "\(observer.states)")
        }
        pacing.cancel()
    }

    @Test func countTheFixesAndTheLengthOfTheLog() async throws {
        let survey = try await replay(of: threeFixes, options: .init()).survey()
        #expect(survey.fixes == 3)
        #expect(survey.length == .seconds(5))
    }

    @Test func rejectALogWithoutFixes() async throws {
        let replay = try replay(of: "# nothing\n", options: .init())
        let ending = await observe(replay) { observer in while await observer.next() != nil {} }
        #expect(ending?.code == .notALog)
        #expect(ending?.fault == .noSentence)
    }

    @Test func endWhenCancelledWhileWaiting() async throws {
        let replay = try replay(of: threeFixes, options: .init())
        let ending = await observe(replay) { observer in
            _ = await observer.fix()
            for await _ in clock.sleeps.prefix(1) {}
        }
        #expect(ending?.code == .cancelled)
    }
}

/// Replays of logs that another program is writing.
@Suite(.timeLimit(.minutes(1))) struct FollowingReplay {
    private static let start = UTCTime(year: 2030, month: 6, day: 1)
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func replay(following path: String) -> LogReplay {
        LogReplay(paths: [path], options: .init(speed: .maximum, follows: true), clock: ManualClock()) { Self.start }
    }

    private func age(of fix: Fix?) -> Duration? { fix?.timeOfFix.duration(to: Self.start) }

    @Test func datesExistingFixesInThePastAndAppendedFixesNow() async throws {
        let path = try directory.write((0...2).map { epoch(second: $0) }.joined().utf8, to: "live.nmea")
        try await observe(replay(following: path)) { observer in
            #expect(age(of: await observer.fix()) == .seconds(2))
            #expect(age(of: await observer.fix()) == .seconds(1))
            #expect(age(of: await observer.fix()) == .zero)
            let writer = try OwnedDescriptor(opening: path, O_WRONLY | O_APPEND)
            try writer.writeAll(Array(epoch(second: 9).utf8).span)
            #expect(age(of: await observer.fix()) == .zero)
        }
    }

    @Test func waitsForAMissingLog() async throws {
        let path = directory.path("live.nmea")
        let ending = try await observe(replay(following: path)) { observer in
            _ = await observer.next()
            try directory.write(epoch(second: 1).utf8, to: "live.nmea")
            #expect(age(of: await observer.fix()) == .zero)
        }
        #expect(ending?.code == .cancelled)
    }

    @Test func readsAPipe() async throws {
        let path = directory.path("fifo")
        #expect(unsafe mkfifo(path, 0o600) == 0)
        await observe(replay(following: path)) { observer in
            for second in 1...2 {
                // Opening a pipe for writing blocks until it has a reader.
                await onThread(named: "writer") {
                    try? OwnedDescriptor(opening: path, O_WRONLY).writeAll(Array(epoch(second: second).utf8).span)
                }
                #expect(age(of: await observer.fix()) == .zero)
            }
        }
    }

    @Test func reportsMissingChecksums() async throws {
        let path = try directory.write(epoch(second: 1).replacing(/\*../, with: "").utf8, to: "bare.nmea")
        let replay = LogReplay(paths: [path], clock: ManualClock()) { Self.start }
        let ending = await observe(replay) { observer in while await observer.next() != nil {} }
        #expect(ending?.fault == .missingChecksums(sentences: 2, logs: 1))
    }
}
