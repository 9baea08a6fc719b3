import FleetEngine
import GNSS
import HTTPMessages
import ReportedText
import Reporting
import Testing
import TimeAndRandomness
import VehicleAuthorization
import WaypostTestSupport

@testable import Operations
@testable import Waypost

@Suite struct ProgressWatches {
    static let timeouts: [Stage: Duration] = Dictionary(uniqueKeysWithValues: Stage.allCases.map { ($0, .seconds(30)) })

    var watch = ProgressWatch(timeouts: timeouts)

    /// Advances the clock by up to `seconds`, one second at a time, until a stage stalls. Returns the second and the
    /// stage.
    mutating func advanceUntilStall(seconds: Int) -> String? {
        for second in 1...seconds {
            if let stall = watch.tick(after: .seconds(1)) { return "\(second) \(stall.stage)" }
        }
        return nil
    }

    @Test mutating func ignoreIdleStages() {
        #expect(advanceUntilStall(seconds: 1000) == nil)
    }

    @Test(arguments: Stage.allCases)
    mutating func noticeAStageWithoutProgress(stage: Stage) {
        watch.reportProgress(of: stage)
        #expect(advanceUntilStall(seconds: 500) == "30 \(stage)")
    }

    @Test mutating func watchOnlyStagesWithATimeout() {
        watch = ProgressWatch(timeouts: [.store: .seconds(30)])
        watch.reportProgress(of: .token)
        #expect(advanceUntilStall(seconds: 500) == nil)
    }

    @Test mutating func reportNoStallWhileCallsReturn() {
        for _ in 0..<20 {
            watch.markBusy(.token)
            #expect(advanceUntilStall(seconds: 29) == nil)
            watch.markIdle(.token)
        }
    }

    /// New work isn't progress: a stage that doesn't process it is noticed.
    @Test mutating func doNotCountNewWorkAsProgress() {
        for _ in 0..<2 {
            watch.markBusy(.store)
            #expect(advanceUntilStall(seconds: 10) == nil)
        }
        watch.markBusy(.store)
        #expect(advanceUntilStall(seconds: 10) == "10 store")
    }

    @Test mutating func reportHowLongAStageHasBeenStalled() {
        watch.reportProgress(of: .token)
        #expect(advanceUntilStall(seconds: 29) == nil)
        let stall = Stall(stage: .token, duration: .seconds(30))
        #expect(watch.tick(after: .seconds(1)) == stall)
        #expect(stall.description == "token: the token provider has returned neither a token nor an error for 30 s")
    }

    /// The machine was asleep, or the process was stopped: most of that time is ignored.
    @Test mutating func ignoreTimeWhileNothingCouldRun() {
        watch.reportProgress(of: .store)
        #expect(watch.tick(after: .seconds(86_400)) == nil)
        #expect(watch.tick(after: .seconds(-5)) == nil)
        #expect(advanceUntilStall(seconds: 24) == nil)
        #expect(advanceUntilStall(seconds: 1) == "1 store")
    }

    @Test func expectTheReceiverThreadToKeepIterating() {
        let progress = StageProgress(watch)
        func advanceUntilStall(seconds: Int) -> Stall? {
            (0..<seconds).lazy.compactMap { _ in progress.tick(after: .seconds(1)) }.first
        }
        progress.loopIterated()
        #expect(advanceUntilStall(seconds: 29) == nil)
        progress.loopIterated()
        #expect(advanceUntilStall(seconds: 29) == nil)
        progress.threadEnded()  // the log has ended
        #expect(advanceUntilStall(seconds: 300) == nil)
        progress.loopIterated()
        #expect(advanceUntilStall(seconds: 31)?.stage == .receiver)
    }

    /// A fix has been processed once it is judged. The watch doesn't wait for fixes that are dropped for newer ones.
    @Test(
        arguments: [
            ([.fix(fix)], nil), ([.rejected(fix, .nullIsland)], nil),
            ([.receiver(.receiving(source: "log"))], 30), ([.accepted(stored), .idle], 30),
        ] as [([ReportingEvent], Int?)])
    func expectFixesToBeProcessed(events: [ReportingEvent], stallsAfter: Int?) {
        let progress = StageProgress(ProgressWatch(timeouts: [.intake: .seconds(30)]))
        for _ in 0..<2 { progress.fixMade(Self.fix) }
        for event in events { progress.observe(event) }
        let second = (1...1000).first { _ in progress.tick(after: .seconds(1)) != nil }
        #expect(second == stallsAfter)
    }

    @Test func expectNothingFromAReceiverThatHasEnded() {
        let progress = StageProgress(ProgressWatch(timeouts: Self.timeouts))
        progress.loopIterated()
        progress.fixMade(Self.fix)
        progress.threadEnded()
        #expect((0..<1000).allSatisfy { _ in progress.tick(after: .seconds(1)) == nil })
    }

    static let stored = StoredUpdate(
        sequence: 1,
        update: LocationUpdate(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 50, longitude: 10))
    static let batch = UploadBatch(last: stored, lastIsPending: true, past: [])
    static let fix = Fix(timeOfFix: stored.update.timeOfFix, latitude: 50, longitude: 10, quality: .gps)

    /// The last events of the upload loop, and the time after which the loop is considered stalled.
    @Test(
        arguments: [
            ([.uploading(batch)], 30),
            ([.waiting(delay: .seconds(600))], 630),
            ([.notPrepared(.noPermit(MissingPermit(.rejected, "")))], 30),
            ([.uploading(batch), .outboxFailed(OutboxError(.full))], 30),
            ([.idle, .outboxFailed(OutboxError(.full))], nil),  // concerns the maintenance of the outbox
            ([.idle], nil),
            ([.idle, .failed(.held(.sample("")), traffic: Traffic())], nil),  // concerns the vehicle's state
            ([.idle, .announced(.offline, traffic: Traffic())], nil),
            ([.idle, .accepted(stored)], 30),
            ([.idle, .notStored(LocationUpdate(.sample(0)), OutboxError(.full))], 30),
            ([.idle, .accepted(stored), .idle], nil),
            ([.waiting(delay: .seconds(600)), .accepted(stored)], 630),
            ([.uploading(batch), .delivered(batch, traffic: Traffic(), took: .zero), .idle], nil),
            ([.uploading(batch), .failed(.held(.sample("")), traffic: Traffic())], 30),
        ] as [([ReportingEvent], Int?)])
    mutating func allowTheUploadLoopToWaitForAReason(events: [ReportingEvent], stallsAfter: Int?) {
        watch = ProgressWatch(timeouts: [.upload: .seconds(30)])
        for event in events { watch.record(event) }
        #expect(advanceUntilStall(seconds: 1000) == stallsAfter.map { "\($0) upload" })
    }

    /// An exchange starts with its request, and ends with an answer or an error.
    @Test(
        arguments: [
            ([.uploading(batch)], 30),
            ([.uploading(batch), .delivered(batch, traffic: Traffic(), took: .zero)], nil),
            ([.uploading(batch), .failed(.held(.sample("")), traffic: Traffic())], nil),
            ([.uploading(batch), .accepted(stored), .notPrepared(.noPermit(MissingPermit(.rejected, "")))], 30),
            ([.waiting(delay: .seconds(600))], nil),
        ] as [([ReportingEvent], Int?)])
    mutating func expectAnExchangeToEnd(events: [ReportingEvent], stallsAfter: Int?) {
        watch = ProgressWatch(timeouts: [.transport: .seconds(30)])
        for event in events { watch.record(event) }
        #expect(advanceUntilStall(seconds: 1000) == stallsAfter.map { "\($0) transport" })
    }

    /// A stalled loop is noticed, although the maintenance of the outbox and the vehicle's state continue.
    @Test(
        arguments: [
            .outboxFailed(OutboxError(.full)), .failed(.held(.sample("")), traffic: Traffic()),
            .announced(.offline, traffic: Traffic()),
        ] as [ReportingEvent])
    mutating func ignoreEventsOutsideTheUploadLoop(event: ReportingEvent) {
        watch = ProgressWatch(timeouts: [.upload: .seconds(30)])
        watch.record(.uploading(Self.batch))
        for _ in 0..<14 {
            watch.record(event)
            #expect(advanceUntilStall(seconds: 2) == nil)
        }
        watch.record(event)
        #expect(advanceUntilStall(seconds: 2) == "2 upload")
    }

    @Test mutating func countADeliveryAsProgressOfTheUploadLoop() {
        watch.record(.uploading(Self.batch))
        #expect(advanceUntilStall(seconds: 29) == nil)
        watch.record(.delivered(Self.batch, traffic: Traffic(), took: .zero))
        #expect(advanceUntilStall(seconds: 29) == nil)
        #expect(advanceUntilStall(seconds: 1) == "1 upload")
    }
}
