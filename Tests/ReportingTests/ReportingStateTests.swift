import GNSS
import Testing
import WaypostTestSupport

@testable import Reporting

/// The intake of `ReportingState`: the consequences of fixes and of the outbox's answers.
@Suite struct ReportingStates {
    private static let fullError = OutboxError(.full)
    private static let request = BatchRequest(maximumPastLocations: 8, withBacklog: true)

    /// Returns the state of a vehicle whose delivery lane is idle, unless `isBusy`.
    private static func state(isBusy: Bool = false) -> ReportingState {
        var state = ReportingState(
            ReportingSettings(shape: ShapePoints(toleranceMeters: nil), spacing: .recordedLog), hasPresence: true,
            at: .zero)
        _ = state.handle(.upload(.started), at: .zero, jitter: 1)
        if !isBusy { _ = state.handle(.upload(.outboxRead(nil, newest: nil)), at: .zero, jitter: 1) }
        return state
    }

    private static func receiveFix(at second: Double, by state: inout ReportingState) -> ReportingState.Step {
        state.handle(.fix(.sample(second), latest: nil), at: .seconds(second), jitter: 1)
    }

    private static func appended(_ sequence: Int64, of second: Double) -> ReportingState.Event {
        let stored = StoredUpdate(sequence: sequence, update: LocationUpdate(.sample(second)))
        let batch = UploadBatch(last: stored, lastIsPending: true, past: [])
        return .appended(AppendedUpdate(stored, next: NextUpload(batch, newest: stored)))
    }

    /// The append requests the next upload if the answer will be used, and the stored update is sent.
    @Test func storeAndDeliverALivePosition() throws {
        var state = Self.state()
        let received = Self.receiveFix(at: 0, by: &state)
        let append = try #require(received.append)
        #expect(append.next == Self.request && append.updates.all == [LocationUpdate(.sample(0))])
        #expect(received.delivery == nil)
        let stored = state.handle(Self.appended(1, of: 0), at: .zero, jitter: 1)
        #expect(stored.delivery == .prepare && stored.append == nil)
        var busy = Self.state(isBusy: true)
        #expect(try #require(Self.receiveFix(at: 0, by: &busy).append).next == nil)
    }

    /// Updates that arrive while an append is in progress are stored by the next one.
    @Test func storeOneAppendAfterAnother() throws {
        var state = Self.state()
        #expect(Self.receiveFix(at: 0, by: &state).append != nil)
        #expect(Self.receiveFix(at: 10, by: &state).append == nil)
        #expect(Self.receiveFix(at: 20, by: &state).append == nil)
        let step = state.handle(Self.appended(1, of: 0), at: .seconds(20), jitter: 1)
        let next = try #require(step.append)
        #expect(next.updates.all.map(\.timeOfFix) == [10, 20].map { Fix.sample($0).timeOfFix })
    }

    /// A position that isn't stored is sent from memory, and the append is repeated unchanged.
    @Test func sendAnUnstoredPositionFromMemory() throws {
        var state = Self.state()
        let first = try #require(Self.receiveFix(at: 0, by: &state).append)
        let failed = state.handle(.appendFailed(Self.fullError), at: .zero, jitter: 1)
        #expect(failed.reports.first == .notStored(LocationUpdate(.sample(0)), Self.fullError))
        #expect(failed.append == nil && failed.delivery == .readOutbox(Self.request))
        #expect(state.handle(.storingRetryRequested, at: .seconds(2), jitter: 1).append?.updates == first.updates)
    }

    /// If the outbox doesn't answer, the newest updates wait, and the number of dropped older updates is reported.
    @Test func reportDroppedUpdates() {
        var state = Self.state()
        var dropped = 0
        for index in 0..<UpdateQueue.maximumUpdates + 6 {
            let second = Double(index) * 10
            let fix = Fix.sample(second, north: second * 10, speed: 10)
            let step = state.handle(.fix(fix, latest: nil), at: .seconds(second), jitter: 1)
            for case .dropped(let count) in step.reports { dropped += count }
        }
        #expect(dropped == 5, "one update is in the append")
        let failed = state.handle(.appendFailed(Self.fullError), at: .seconds(20_000), jitter: 1)
        #expect(failed.reports.contains(.dropped(count: 1)))
    }

    @Test func storeNothingOfAPrivateVehicle() {
        var state = Self.state()
        let isPrivate = ReportingState.Event.switchRead(isOn: true, exists: true, isPolled: true)
        let began = state.handle(isPrivate, at: .zero, jitter: 1)
        #expect(began.reports.first == .privateModeBegan && began.delivery == .announce(.offline))
        let step = Self.receiveFix(at: 1, by: &state)
        #expect(step.reports == [.withheld] && step.append == nil)
        #expect(state.handle(.storingRetryRequested, at: .seconds(2), jitter: 1).append == nil)
    }

    /// An answer without an append is a bug, and changes nothing.
    @Test(arguments: [appended(1, of: 0), .appendFailed(fullError)]) func reportAnAnswerWithoutAnAppend(
        event: ReportingState.Event
    ) {
        var state = Self.state()
        let step = state.handle(event, at: .zero, jitter: 1)
        #expect(step.append == nil && step.delivery == nil)
        guard case .internalError? = step.reports.first else {
            Issue.record("not reported: \(step.reports)")
            return
        }
    }
}
