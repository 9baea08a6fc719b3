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

    private func offer(_ second: Double, overrulesStored: Bool = false) {
        upload.take(.updateNotStored(Self.update(second), overrulesStored: overrulesStored))
    }

    /// Returns the batch that is sent if the outbox has these updates; `nil` if nothing is sent.
    private func selected(_ pending: UploadBatch?, newest: StoredUpdate? = UploadSelections.newest) -> UploadBatch? {
        selected(after: .outboxRead(pending, newest: newest))
    }

    private func selected(after event: UploadEvent) -> UploadBatch? {
        if upload.action == .wait { upload.take(.updateStored(nil)) }
        upload.runToNextRead()
        upload.take(event)
        guard upload.action == .prepare else { return nil }
        upload.take(.prepared)
        guard case .send(let batch, _)? = upload.action else { return nil }
        return batch
    }

    private func selectedWithoutOutbox() -> UploadBatch? {
        selected(after: .outboxFailed(OutboxError(.unusable)))
    }

    private func deliver() { upload.take(.answered(DeliveryResult(.delivered))) }

    /// Loses the answer. Fleet Engine may have the update anyway.
    private func loseAnswer() { upload.take(.lost(.connectionLost, "reset")) }

    private func reject() { upload.take(.answered(DeliveryResult(.rejected(.sample("400"))))) }

    @Test func useTheOutboxsBatch() { #expect(selected(Self.batch) == Self.batch) }

    @Test func areEmptyBeforeTheHeartbeat() {
        upload.now = .seconds(100)
        #expect(selected(Self.batch) == Self.batch)
        deliver()
        upload.take(.resultRecorded(nil))
        upload.now = .seconds(159)
        #expect(selected(nil) == nil)
        #expect(upload.dueIn == .seconds(1))
        upload.now = .seconds(160)
        #expect(selected(nil, newest: nil) == nil)
        #expect(selected(nil) == UploadBatch(last: Self.newest, lastIsPending: false, past: []))
    }

    @Test func knowWhenARepeatedUpdateWasFirstSent() {
        var seen: [Int?] = []
        for second in [10, 70, 130] {
            upload.now = .seconds(second)
            _ = selected(Self.batch)
            if case .send(_, let seconds)? = upload.action { seen.append(seconds) }
            loseAnswer()
            upload.take(.networkReturned)
        }
        #expect(seen == [nil, 60, 120])
    }

    @Test func putAnUnstoredNewerPositionInFront() {
        offer(11)
        offer(12)
        #expect(selected(Self.batch) == UploadBatch(unstored: Self.update(12), past: [Self.newest]))
        deliver()
        upload.take(.resultRecorded(nil))
        // The position is repeated only at the heartbeat.
        #expect(selected(nil) == nil)
    }

    @Test func keepADeliveredUnstoredPositionInFrontOfOlderUpdates() {
        offer(12)
        #expect(selected(nil)?.last == Self.update(12))
        deliver()
        let rest = selected(Self.batch)
        #expect(rest == UploadBatch(unstored: Self.update(12), past: [Self.newest]))
        deliver()
        upload.take(.resultRecorded(nil))
        upload.now = .seconds(59)
        #expect(selected(nil) == nil)
        upload.now = .seconds(60)
        #expect(selected(nil)?.last == Self.update(12))
        loseAnswer()
        let newer = UploadBatch(last: .sample(13), lastIsPending: true, past: [])
        #expect(selected(newer, newest: .sample(13)) == newer)
        // After the quarantine, the outbox's newest update is older again.
        reject()
        upload.take(.resultRecorded(nil))
        upload.now += .seconds(60)
        #expect(selected(nil)?.last == Self.update(12))
    }

    /// The limit is the same as for a batch from the outbox: eight at first, zero for a probe.
    @Test func limitThePastLocationsOfAnUnstoredPosition() {
        let pending = UploadBatch(last: Self.newest, lastIsPending: true, past: (0...7).map { .sample($0) })
        offer(12)
        #expect(selected(pending)?.past == pending.past)
        upload.take(.answered(DeliveryResult(.held(.sample("404")))))
        #expect(selected(pending)?.past == [])
        deliver()
        #expect(selected(pending)?.past == pending.past)
        upload.take(.answered(DeliveryResult(.held(.sample("404")))), jitter: 0)
        // The position alone would be a repetition.
        #expect(selected(pending) == nil)
    }

    @Test func forgetAnUnstoredPositionOnceANewerOneIsSent() throws {
        for isDelivered in [false, true] {
            let table = try Self()
            table.offer(8)
            if isDelivered {
                _ = table.selectedWithoutOutbox()
                table.deliver()
            }
            #expect(table.selected(Self.batch) == Self.batch)
            table.loseAnswer()
            table.upload.now = .seconds(60)
            #expect(table.selectedWithoutOutbox() == nil)
        }
    }

    @Test func keepANewerUnstoredPositionWhileAnOlderOneIsSent() {
        #expect(selected(Self.batch) == Self.batch)
        offer(12)
        deliver()
        upload.take(.resultRecorded(nil))
        #expect(selectedWithoutOutbox()?.last == Self.update(12))
    }

    /// The outbox doesn't know yet that its newest update is wrong.
    @Test func startWithAnOverrulingPositionUntilTheOutboxHasIt() {
        for second in [1.0, 2] {
            // The wrong position is being sent. Its delivery must not remove the right one.
            _ = selected(Self.batch)
            offer(second, overrulesStored: true)
            deliver()
            upload.take(.resultRecorded(nil))
            for _ in 1...2 {
                #expect(selected(Self.batch)?.last == Self.update(second))
                deliver()
                upload.take(.resultRecorded(nil))
            }
        }
        upload.take(.forgetUnstored)
        #expect(selected(Self.batch)?.last == Self.newest.update)
        offer(3)
        deliver()
        upload.take(.resultRecorded(nil))
        #expect(selected(Self.batch)?.last == Self.newest.update)
    }

    @Test func forgetAnUnstoredPositionThatIsRejectedOrOverruled() throws {
        for (isDelivered, isRejected) in [(false, false), (false, true), (true, false), (true, true)] {
            let table = try Self()
            table.offer(12)
            #expect(table.selected(nil)?.last == Self.update(12))
            if isDelivered {
                table.deliver()
                table.upload.now = .seconds(60)
                #expect(table.selected(nil)?.last == Self.update(12))
            }
            if isRejected {
                table.reject()
            } else {
                table.upload.take(.forgetUnstored)
                table.loseAnswer()
            }
            #expect(table.selected(Self.batch) == Self.batch)
        }
    }

    @Test func ignoreAnOlderUnstoredPosition() {
        offer(8)
        #expect(selected(Self.batch) == Self.batch)
    }
}
