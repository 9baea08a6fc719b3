import GNSS
import ReportedText
import Testing
import WaypostTestSupport

@testable import Reporting

/// The uploads of a private vehicle: its offline presence, and updates that were already pending.
@Suite struct PrivateUploads {
    private static let newest = StoredUpdate.sample(9)
    private static let pendingBatch = UploadBatch(last: newest, lastIsPending: true, past: [.sample(8)])
    /// Older updates are pending, but not the newest.
    private static let repetition = UploadBatch(last: newest, lastIsPending: false, past: [.sample(8)])

    private let upload: UploadStateDriver

    init() throws {
        upload = UploadStateDriver()
        upload.runToNextRead()
        upload.handle(.outboxRead(nil, newest: nil))
    }

    private func becomePrivate() {
        upload.handle(.privateModeBegan)
        upload.handle(.announced(.delivered))
    }

    private func deliver(_ upload: UploadStateDriver) {
        upload.handle(.answered(DeliveryResult(.delivered)))
        if case .acknowledge? = upload.action { upload.handle(.resultRecorded(nil)) }
    }

    @Test func announceOfflineFirst() {
        upload.handle(.privateModeBegan)
        #expect(upload.action == .announce(.offline))
        upload.handle(.announced(.delivered))
        #expect(upload.nextStep == .readNext)
        #expect(upload.state.presence == .offline)
        upload.handle(.privateModeEnded(mayBePrivate: false))
        #expect(upload.state.presence == .online)
    }

    @Test func announceOfflineAgainAfterAFailure() {
        upload.handle(.privateModeBegan)
        upload.handle(.announced(.unanswered(.sample(""))))
        #expect(upload.action == .wait)
        upload.now += .seconds(2)
        upload.handle(.timeReached)
        #expect(upload.action == .announce(.offline))
    }

    /// The answer to the announcement, and the pause before the next one, which is the same as for any request.
    @Test(
        arguments: [
            (.announced(.retry(.sample(""), after: .seconds(120))), .seconds(121)),
            (.announced(.throttled(.sample(""), after: nil)), .seconds(5)),
            (.announced(.prepareAgain(.sample(""))), .seconds(60)),
            (.announced(.held(.sample(""))), .seconds(60)),
            (.announced(.intercepted(.sample(""))), .seconds(1)),
            (.notPrepared(.noPermit(MissingPermit(.unavailable, "", retryAfter: .seconds(90)))), .seconds(91)),
        ] as [(UploadEvent, Duration)])
    func announceOfflineAgainAfterThePause(answer: UploadEvent, pause: Duration) {
        upload.handle(.privateModeBegan)
        upload.handle(answer)
        #expect(upload.dueIn == pause)
    }

    /// The announcement keeps the interval of a throttled delivery even if a heartbeat is overdue.
    @Test func keepTheIntervalOfAThrottledDelivery() {
        upload.handle(.updateStored(nil))
        upload.send(Self.pendingBatch)
        upload.handle(.answered(DeliveryResult(.throttled(.sample(""), after: nil))), jitter: 0)
        upload.now += .seconds(58)
        upload.send(Self.pendingBatch)
        upload.handle(.answered(DeliveryResult(.throttled(.sample(""), after: nil))), jitter: 0)
        upload.runToNextRead()
        upload.send(Self.pendingBatch)
        upload.handle(.answered(DeliveryResult(.unanswered(.sample("")))))
        upload.runToNextRead()
        upload.handle(.outboxRead(Self.pendingBatch, newest: nil))
        #expect(upload.action == .wait)
        upload.handle(.privateModeBegan)
        for _ in 0..<20 where upload.action == .wait {
            #expect(upload.dueIn ?? .zero > .zero, "the loop would spin")
            upload.now += upload.dueIn ?? .zero
            upload.handle(.timeReached)
        }
        #expect(upload.action == .announce(.offline))
    }

    /// A failure after the announcement is followed by the initial delay again.
    @Test func forgetFailuresAfterTheAnnouncement() {
        upload.handle(.privateModeBegan)
        for _ in 0..<5 {
            upload.handle(.announced(.unanswered(.sample(""))))
            upload.now += .seconds(60)
            upload.handle(.timeReached)
        }
        upload.handle(.announced(.delivered))
        upload.send(Self.pendingBatch)
        upload.handle(.answered(DeliveryResult(.retry(.sample(""), after: nil))))
        #expect(upload.dueIn == .seconds(1))
    }

    /// After a start, only the first fix shows whether the vehicle is in a private zone.
    @Test func discloseNothingWhileTheVehicleMayBePrivate() throws {
        let upload = UploadStateDriver(privacy: .unknown)
        #expect(upload.send(Self.pendingBatch) == Self.pendingBatch)
        #expect(upload.state.presence == .unknown)
        deliver(upload)
        upload.now += .seconds(100)
        for (batch, newest) in [(nil, Self.newest), (Self.repetition, nil)] as [(UploadBatch?, StoredUpdate?)] {
            upload.runToNextRead()
            upload.handle(.outboxRead(batch, newest: newest))
            #expect(upload.action == .wait)
        }
        upload.handle(.updateStored(nil))
        #expect(upload.send(Self.repetition) == Self.repetition)
        #expect(upload.state.presence == .online)
    }

    /// The exchange in progress, which reports the vehicle online, is completed first.
    @Test func announceOfflineAfterTheExchangeInProgress() {
        upload.handle(.updateStored(nil))
        upload.send(Self.pendingBatch)
        upload.handle(.privateModeBegan)
        guard case .send? = upload.action else { return #expect(Bool(false), "\(String(describing: upload.action))") }
        deliver(upload)
        #expect(upload.action == .announce(.offline))
    }

    /// A batch that waits for its token would report the vehicle online.
    @Test func announceOfflineBeforeABatchThatWaitsForItsToken() {
        upload.handle(.updateStored(nil))
        upload.handle(.outboxRead(Self.pendingBatch, newest: nil))
        #expect(upload.action == .prepare)
        upload.handle(.privateModeBegan)
        upload.handle(.prepared)
        #expect(upload.action == .announce(.offline))
    }

    @Test func deliverPendingUpdatesAndRepeatNothing() {
        becomePrivate()
        #expect(upload.send(Self.pendingBatch) == Self.pendingBatch)
        deliver(upload)
        for (batch, newest) in [(nil, Self.newest), (Self.repetition, nil)] as [(UploadBatch?, StoredUpdate?)] {
            upload.now += .seconds(100)
            upload.runToNextRead()
            upload.handle(.outboxRead(batch, newest: newest))
            #expect(upload.action == .wait)
        }
    }

    @Test func repeatNothingFromMemory() {
        upload.handle(.updateNotStored(Self.newest.update, overrulesStored: false))
        upload.handle(.privateModeBegan)
        upload.handle(.outboxRead(nil, newest: nil))
        upload.handle(.announced(.delivered))
        upload.runToNextRead()
        upload.handle(.outboxFailed(OutboxError(.unusable)))
        #expect(upload.action == .wait)
    }

    /// A log ends in a private zone, so there will be no newer position to lead the older updates.
    @Test func deliverPendingUpdatesBeforeTheEnd() {
        becomePrivate()
        upload.handle(.outboxRead(Self.repetition, newest: nil))
        #expect(upload.action == .wait)
        upload.handle(.finishWhenEmpty)
        #expect(upload.send(Self.repetition) == Self.repetition)
        #expect(upload.state.presence == .offline)
        deliver(upload)
        upload.handle(.outboxRead(nil, newest: nil))
        #expect(upload.action == .finish)
    }

    /// A probe carries one pending update, because the newest position alone would be a repetition.
    @Test func deliverPendingUpdatesAfterAHold() {
        becomePrivate()
        upload.handle(.finishWhenEmpty)
        upload.send(Self.repetition)
        upload.handle(.answered(DeliveryResult(.held(.sample("")))))
        for _ in 0..<2 {
            upload.runToNextRead()
            // The outbox returns only the newest update, and is read again.
            upload.handle(.outboxRead(UploadBatch(last: Self.newest, lastIsPending: false, past: []), newest: nil))
            #expect(upload.action == .readOutbox(BatchRequest(maximumPastLocations: 1, withBacklog: true)))
            upload.handle(.outboxRead(Self.repetition, newest: nil))
            #expect(upload.action == .prepare)
            upload.handle(.prepared)
            upload.handle(.answered(DeliveryResult(.held(.sample("")))))
        }
    }

    /// The newest update is finally sent alone, so that repeated rejections single out one update.
    @Test(arguments: [.unknown, .on(isOfflinePending: false)] as [UploadPrivacy])
    func findTheRejectedUpdate(privacy: UploadPrivacy) throws {
        let upload = UploadStateDriver(privacy: privacy)
        var sent: [Int] = []
        for _ in 0..<9 {
            upload.runToNextRead()
            guard case .readOutbox(let request)? = upload.action else { break }
            let past = (0..<min(request.maximumPastLocations, 8)).map { StoredUpdate.sample(Int64($0)) }
            upload.handle(.outboxRead(UploadBatch(last: Self.newest, lastIsPending: true, past: past), newest: nil))
            if upload.action == .prepare { upload.handle(.prepared) }
            sent.append(past.count)
            upload.handle(.answered(DeliveryResult(.rejected(.sample("")))))
            if case .quarantine = upload.action { break }
        }
        #expect(sent == [8, 4, 2, 1, 0])
        #expect(upload.action == .quarantine(Self.newest, reason: ""))
    }

    @Test func waitIfTheVehicleMayBeInAZone() {
        becomePrivate()
        upload.handle(.outboxRead(nil, newest: Self.newest))
        upload.handle(.privateModeEnded(mayBePrivate: true))
        upload.handle(.outboxRead(Self.repetition, newest: nil))
        #expect(upload.action == .wait)
        #expect(upload.state.presence == .unknown)
    }

    /// Otherwise, an outbox in memory that is full of pending updates would have no room for the next position.
    /// Requeued updates are not new positions.
    @Test func deliverPendingUpdatesAfterPrivateMode() {
        becomePrivate()
        upload.handle(.outboxRead(Self.repetition, newest: nil))
        upload.handle(.privateModeEnded(mayBePrivate: false))
        #expect(upload.send(Self.repetition) == Self.repetition)
        deliver(upload)
        for event in [.requeued, .timeReached] as [UploadEvent] {
            upload.handle(.outboxRead(nil, newest: Self.newest))
            #expect(upload.action == .wait)
            upload.now += .seconds(100)
            upload.handle(event)
            #expect(upload.nextStep == .readNext)
        }
    }

    /// The last position before private mode isn't repeated. The next upload is an ordinary one.
    @Test func continueWithANewPosition() {
        becomePrivate()
        upload.handle(.outboxRead(nil, newest: nil))
        upload.handle(.privateModeEnded(mayBePrivate: false))
        upload.now += .seconds(100)
        upload.handle(.outboxRead(nil, newest: Self.newest))
        #expect(upload.action == .wait)
        upload.handle(.updateStored(nil))
        #expect(upload.send(Self.pendingBatch) == Self.pendingBatch)
        #expect(upload.state.presence == .online)
    }
}
