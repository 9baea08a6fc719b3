import GNSS
import LocationReporting
import Testing

@Suite struct Choice {
    static let newest = StoredUpdate(sequence: 9, update: LocationUpdate(.sample(9)))
    static let batch = UploadBatch(last: newest, lastIsPending: true, past: [])

    @Test func isTheOutboxsBatch() {
        let next = NextUpload(heartbeat: .seconds(60), at: .zero)
        #expect(next.batch(pending: Self.batch, newest: Self.newest, at: .zero) == Self.batch)
    }

    @Test func isNothingBeforeTheHeartbeat() {
        var next = NextUpload(heartbeat: .seconds(60), at: .zero)
        next.didDeliver(Self.batch, at: .seconds(100))
        #expect(next.batch(pending: nil, newest: Self.newest, at: .seconds(159)) == nil)
        #expect(next.timeToHeartbeat(at: .seconds(159)) == .seconds(1))
        let repetition = next.batch(pending: nil, newest: Self.newest, at: .seconds(160))
        #expect(repetition == UploadBatch(last: Self.newest, lastIsPending: false, past: []))
        #expect(next.batch(pending: nil, newest: nil, at: .seconds(160)) == nil)
    }

    @Test func tellsHowLongAgoARepetitionWasFirstSent() {
        var next = NextUpload(heartbeat: .seconds(60), at: .zero)
        #expect(next.secondsSinceFirstSent(Self.newest.update, at: .zero) == nil)
        next.willSend(Self.batch, at: .seconds(10))
        next.willSend(Self.batch, at: .seconds(70))
        #expect(next.secondsSinceFirstSent(Self.newest.update, at: .seconds(130)) == 120)
    }

    @Test func putsAnUnstoredNewerPositionInFront() {
        var next = NextUpload(heartbeat: .seconds(60), at: .zero)
        let live = LocationUpdate(.sample(12))
        next.offer(unstored: LocationUpdate(.sample(11)))
        next.offer(unstored: live)
        let chosen = next.batch(pending: Self.batch, newest: Self.newest, at: .zero)
        #expect(chosen?.last.update == live)
        #expect(chosen?.lastIsPending == false)
        #expect(chosen?.past == [Self.newest])
        next.didDeliver(chosen ?? Self.batch, at: .zero)
        #expect(next.unstored == nil)
    }

    @Test func keepsADeliveredUnstoredPositionInFrontOfWhatIsOlder() {
        var next = NextUpload(heartbeat: .seconds(60), at: .zero)
        let live = LocationUpdate(.sample(12))
        next.offer(unstored: live)
        next.didDeliver(
            UploadBatch(last: StoredUpdate(sequence: 0, update: live), lastIsPending: false, past: []), at: .zero)
        let rest = next.batch(pending: Self.batch, newest: Self.newest, at: .zero)
        #expect(rest?.last.update == live)
        #expect(rest?.past == [Self.newest])
        #expect(next.batch(pending: nil, newest: Self.newest, at: .seconds(59)) == nil)
        #expect(next.batch(pending: nil, newest: Self.newest, at: .seconds(60))?.last.update == live)
        let newer = StoredUpdate(sequence: 10, update: LocationUpdate(.sample(13)))
        let stored = UploadBatch(last: newer, lastIsPending: true, past: [])
        #expect(next.batch(pending: stored, newest: newer, at: .zero) == stored)
        // Sent, refused and set aside: what the outbox has then is older again.
        next.willSend(stored, at: .zero)
        #expect(next.batch(pending: nil, newest: Self.newest, at: .seconds(60))?.last.update == live)
    }

    @Test func takesNoMoreBehindAnUnstoredPositionThanBehindAStoredOne() {
        var next = NextUpload(heartbeat: .seconds(60), at: .zero)
        let older = StoredUpdate(sequence: 8, update: LocationUpdate(.sample(8)))
        let pending = UploadBatch(last: Self.newest, lastIsPending: true, past: [older])
        next.offer(unstored: LocationUpdate(.sample(12)))
        func past(_ limit: Int) -> [StoredUpdate]? {
            next.batch(pending: pending, newest: Self.newest, maximumPastLocations: limit, at: .zero)?.past
        }
        #expect(past(2) == [older, Self.newest])
        #expect(past(1) == [older])
        #expect(past(0) == [])
        next.didDeliver(next.batch(pending: nil, newest: Self.newest, at: .zero) ?? pending, at: .zero)
        #expect(past(1) == [older])
        // Alone it would say nothing new.
        #expect(past(0) == nil)
    }

    /// Its answer may be lost, and Fleet Engine have it all the same.
    @Test func forgetsAnUnstoredPositionOnceANewerOneIsSent() {
        for isDelivered in [false, true] {
            var next = NextUpload(heartbeat: .seconds(60), at: .zero)
            let live = LocationUpdate(.sample(8))
            next.offer(unstored: live)
            let alone = UploadBatch(last: StoredUpdate(sequence: 0, update: live), lastIsPending: false, past: [])
            if isDelivered { next.didDeliver(alone, at: .zero) }
            next.willSend(Self.batch, at: .zero)
            // As when the outbox cannot be asked.
            #expect(next.batch(pending: nil, newest: nil, at: .seconds(60)) == nil)
        }
    }

    @Test func keepsANewerUnstoredPositionWhileAnOlderOneIsSent() {
        var next = NextUpload(heartbeat: .seconds(60), at: .zero)
        let live = LocationUpdate(.sample(12))
        next.offer(unstored: live)
        next.willSend(Self.batch, at: .zero)
        next.didDeliver(Self.batch, at: .zero)
        #expect(next.batch(pending: nil, newest: nil, at: .zero)?.last.update == live)
    }

    /// The outbox could not be told that its newest is wrong.
    @Test func isLedByAnOverrulingUnstoredPositionUntilTheOutboxKnows() {
        var next = NextUpload(heartbeat: .seconds(60), at: .zero)
        func led() -> LocationUpdate? {
            next.batch(pending: Self.batch, newest: Self.newest, at: .zero)?.last.update
        }
        for second in [1.0, 2] {
            let right = LocationUpdate(.sample(second))
            next.offer(unstored: right, overrulingStored: true)
            // The wrong one is on its way; nothing of that takes the right one away.
            next.willSend(Self.batch, at: .zero)
            next.didDeliver(Self.batch, at: .zero)
            #expect(led() == right)
            next.didDeliver(next.batch(pending: nil, newest: nil, at: .zero) ?? Self.batch, at: .zero)
            #expect(led() == right)
        }
        next.forgetUnstored()
        #expect(led() == Self.newest.update)
        next.offer(unstored: LocationUpdate(.sample(3)))
        #expect(led() == Self.newest.update)
    }

    @Test func forgetsAnUnstoredPositionThatIsRefusedOrOverruled() {
        let live = LocationUpdate(.sample(12))
        let front = UploadBatch(last: StoredUpdate(sequence: 0, update: live), lastIsPending: false, past: [])
        for isDelivered in [false, true] {
            var refused = NextUpload(heartbeat: .seconds(60), at: .zero)
            refused.offer(unstored: live)
            if isDelivered { refused.didDeliver(front, at: .zero) }
            var overruled = refused
            refused.didRefuse(front, at: .zero)
            overruled.forgetUnstored()
            #expect(refused.batch(pending: Self.batch, newest: Self.newest, at: .zero) == Self.batch)
            #expect(overruled.batch(pending: Self.batch, newest: Self.newest, at: .zero) == Self.batch)
        }
    }

    @Test func leavesAnOlderUnstoredPositionBehind() {
        var next = NextUpload(heartbeat: .seconds(60), at: .zero)
        next.offer(unstored: LocationUpdate(.sample(8)))
        #expect(next.batch(pending: Self.batch, newest: Self.newest, at: .zero) == Self.batch)
    }
}
