import ReportedText
import Testing
import WaypostTestSupport

@testable import Reporting

/// The selection of an upload from the outbox's updates and the positions in memory.
@Suite struct UploadSelections {
    private static let newest = StoredUpdate.sample(9)
    private static let batch = UploadBatch(last: newest, lastIsPending: true, past: [])

    private let upload: UploadStateDriver

    init() throws { upload = UploadStateDriver() }

    private static func update(_ second: Double) -> LocationUpdate { LocationUpdate(.sample(second)) }

    private func offerPosition(ofSecond second: Double, overrulesStored: Bool = false) {
        upload.handle(.updateNotStored(Self.update(second), overrulesStored: overrulesStored))
    }

    /// Returns the batch that is sent if the outbox has these updates; `nil` if nothing is sent.
    private func selectedBatch(from pending: UploadBatch?, newest: StoredUpdate? = UploadSelections.newest)
        -> UploadBatch?
    {
        selectedBatch(after: .outboxRead(pending, newest: newest))
    }

    private func selectedBatch(after event: UploadEvent) -> UploadBatch? {
        if upload.action == .wait { upload.handle(.updateStored(nil)) }
        upload.runToNextRead()
        upload.handle(event)
        guard upload.action == .prepare else { return nil }
        upload.handle(.prepared)
        guard case .send(let batch, _)? = upload.action else { return nil }
        return batch
    }

    private func selectedBatchWithoutOutbox() -> UploadBatch? {
        selectedBatch(after: .outboxFailed(OutboxError(.unusable)))
    }

    private func deliver() { upload.handle(.answered(DeliveryResult(.delivered))) }

    /// Loses the answer. Fleet Engine may have the update anyway.
    private func loseAnswer() { upload.handle(.lost(.connectionLost, "reset")) }

    private func reject() { upload.handle(.answered(DeliveryResult(.rejected(.sample("400"))))) }

    @Test func useTheBatchOfTheOutbox() { #expect(selectedBatch(from: Self.batch) == Self.batch) }

    @Test func areEmptyBeforeTheHeartbeat() {
        upload.now = .seconds(100)
        #expect(selectedBatch(from: Self.batch) == Self.batch)
        deliver()
        upload.handle(.resultRecorded(nil))
        upload.now = .seconds(159)
        #expect(selectedBatch(from: nil) == nil)
        #expect(upload.dueIn == .seconds(1))
        upload.now = .seconds(160)
        #expect(selectedBatch(from: nil, newest: nil) == nil)
        #expect(selectedBatch(from: nil) == UploadBatch(last: Self.newest, lastIsPending: false, past: []))
    }

    @Test func knowWhenARepeatedUpdateWasFirstSent() {
        var seen: [Int?] = []
        for second in [10, 70, 130] {
            upload.now = .seconds(second)
            _ = selectedBatch(from: Self.batch)
            if case .send(_, let seconds)? = upload.action { seen.append(seconds) }
            loseAnswer()
            upload.handle(.networkReturned)
        }
        #expect(seen == [nil, 60, 120])
    }

    @Test func putAnUnstoredNewerPositionInFront() {
        offerPosition(ofSecond: 11)
        offerPosition(ofSecond: 12)
        #expect(selectedBatch(from: Self.batch) == UploadBatch(unstored: Self.update(12), past: [Self.newest]))
        deliver()
        upload.handle(.resultRecorded(nil))
        // The position is repeated only at the heartbeat.
        #expect(selectedBatch(from: nil) == nil)
    }

    @Test func keepADeliveredUnstoredPositionInFrontOfOlderUpdates() {
        offerPosition(ofSecond: 12)
        #expect(selectedBatch(from: nil)?.last == Self.update(12))
        deliver()
        let rest = selectedBatch(from: Self.batch)
        #expect(rest == UploadBatch(unstored: Self.update(12), past: [Self.newest]))
        deliver()
        upload.handle(.resultRecorded(nil))
        upload.now = .seconds(59)
        #expect(selectedBatch(from: nil) == nil)
        upload.now = .seconds(60)
        #expect(selectedBatch(from: nil)?.last == Self.update(12))
        loseAnswer()
        let newer = UploadBatch(last: .sample(13), lastIsPending: true, past: [])
        #expect(selectedBatch(from: newer, newest: .sample(13)) == newer)
        // After the quarantine, the outbox's newest update is older again.
        reject()
        upload.handle(.resultRecorded(nil))
        upload.now += .seconds(60)
        #expect(selectedBatch(from: nil)?.last == Self.update(12))
    }

    /// The limit is the same as for a batch from the outbox: eight at first, zero for a probe.
    @Test func limitThePastLocationsOfAnUnstoredPosition() {
        let pending = UploadBatch(last: Self.newest, lastIsPending: true, past: (0...7).map { .sample($0) })
        offerPosition(ofSecond: 12)
        #expect(selectedBatch(from: pending)?.past == pending.past)
        upload.handle(.answered(DeliveryResult(.held(.sample("404")))))
        #expect(selectedBatch(from: pending)?.past == [])
        deliver()
        #expect(selectedBatch(from: pending)?.past == pending.past)
        upload.handle(.answered(DeliveryResult(.held(.sample("404")))), jitter: 0)
        // The position alone would be a repetition.
        #expect(selectedBatch(from: pending) == nil)
    }

    @Test func forgetAnUnstoredPositionOnceANewerOneIsSent() throws {
        for isDelivered in [false, true] {
            let selections = try Self()
            selections.offerPosition(ofSecond: 8)
            if isDelivered {
                _ = selections.selectedBatchWithoutOutbox()
                selections.deliver()
            }
            #expect(selections.selectedBatch(from: Self.batch) == Self.batch)
            selections.loseAnswer()
            selections.upload.now = .seconds(60)
            #expect(selections.selectedBatchWithoutOutbox() == nil)
        }
    }

    @Test func keepANewerUnstoredPositionWhileAnOlderOneIsSent() {
        #expect(selectedBatch(from: Self.batch) == Self.batch)
        offerPosition(ofSecond: 12)
        deliver()
        upload.handle(.resultRecorded(nil))
        #expect(selectedBatchWithoutOutbox()?.last == Self.update(12))
    }

    /// The outbox doesn't know yet that its newest update is wrong.
    @Test func startWithAnOverrulingPositionUntilTheOutboxStoresIt() {
        for second in [1.0, 2] {
            // The wrong position is being sent. Its delivery must not remove the right one.
            _ = selectedBatch(from: Self.batch)
            offerPosition(ofSecond: second, overrulesStored: true)
            deliver()
            upload.handle(.resultRecorded(nil))
            for _ in 1...2 {
                #expect(selectedBatch(from: Self.batch)?.last == Self.update(second))
                deliver()
                upload.handle(.resultRecorded(nil))
            }
        }
        upload.handle(.forgetUnstored)
        #expect(selectedBatch(from: Self.batch)?.last == Self.newest.update)
        offerPosition(ofSecond: 3)
        deliver()
        upload.handle(.resultRecorded(nil))
        #expect(selectedBatch(from: Self.batch)?.last == Self.newest.update)
    }

    @Test func forgetAnUnstoredPositionThatIsRejectedOrOverruled() throws {
        for (isDelivered, isRejected) in [(false, false), (false, true), (true, false), (true, true)] {
            let selections = try Self()
            selections.offerPosition(ofSecond: 12)
            #expect(selections.selectedBatch(from: nil)?.last == Self.update(12))
            if isDelivered {
                selections.deliver()
                selections.upload.now = .seconds(60)
                #expect(selections.selectedBatch(from: nil)?.last == Self.update(12))
            }
            if isRejected {
                selections.reject()
            } else {
                selections.upload.handle(.forgetUnstored)
                selections.loseAnswer()
            }
            #expect(selections.selectedBatch(from: Self.batch) == Self.batch)
        }
    }

    @Test func ignoreAnOlderUnstoredPosition() {
        offerPosition(ofSecond: 8)
        #expect(selectedBatch(from: Self.batch) == Self.batch)
    }
}
