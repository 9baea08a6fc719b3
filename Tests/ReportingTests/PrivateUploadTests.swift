import GNSS
import ReportedText
import Testing
import WaypostTestSupport

@testable import Reporting

/// What goes out of a private vehicle: that it is offline, and what waits from before.
@Suite struct PrivateUploads {
    private static let newest = StoredUpdate.sample(9)
    private static let waiting = UploadBatch(last: newest, lastIsPending: true, past: [.sample(8)])
    /// Older ones are pending, and the newest is not.
    private static let repetition = UploadBatch(last: newest, lastIsPending: false, past: [.sample(8)])

    private let upload: UploadStateDriver

    init() throws {
        upload = UploadStateDriver()
        upload.goOn()
        upload.take(.outboxRead(nil, newest: nil))
    }

    private func deliver(_ upload: UploadStateDriver) {
        upload.take(.answered(DeliveryResult(.delivered)))
        if case .acknowledge? = upload.action { upload.take(.noted(nil)) }
    }

    @Test func tellFirstThatItIsOffline() {
        upload.take(.privateModeBegan)
        #expect(upload.action == .announce(.offline))
        upload.take(.announced(.delivered))
        #expect(upload.course == .goOn)
        #expect(upload.state.presence == .offline)
        upload.take(.privateModeEnded(mayBePrivate: false))
        #expect(upload.state.presence == .online)
    }

    @Test func tellItAgainWhenItWasNotHeard() {
        upload.take(.privateModeBegan)
        upload.take(.announced(.unanswered(.sample(""))))
        #expect(upload.action == .wait)
        upload.now += .seconds(2)
        upload.take(.timeReached)
        #expect(upload.action == .announce(.offline))
    }

    /// As any request.
    @Test(
        arguments: [
            (.announced(.retry(.sample(""), after: .seconds(120))), .seconds(121)),
            (.announced(.throttled(.sample(""), after: nil)), .seconds(5)),
            (.announced(.prepareAgain(.sample(""))), .seconds(60)),
            (.announced(.held(.sample(""))), .seconds(60)),
            (.announced(.intercepted(.sample(""))), .seconds(1)),
            (.notPrepared(.noPermit(MissingPermit(.unavailable, "", retryAfter: .seconds(90)))), .seconds(91)),
        ] as [(UploadEvent, Duration)])
    func tellItAgainWhenItIsTime(answer: UploadEvent, pause: Duration) {
        upload.take(.privateModeBegan)
        upload.take(answer)
        #expect(upload.dueIn == pause)
    }

    /// It waits for the pace that the server has asked for, also where a heartbeat is overdue.
    @Test func tellItNoSoonerThanTheServerTakesAnything() {
        upload.take(.accepted(nil))
        upload.send(Self.waiting)
        upload.take(.answered(DeliveryResult(.throttled(.sample(""), after: nil))), jitter: 0)
        upload.now += .seconds(58)
        upload.send(Self.waiting)
        upload.take(.answered(DeliveryResult(.throttled(.sample(""), after: nil))), jitter: 0)
        upload.goOn()
        upload.send(Self.waiting)
        upload.take(.answered(DeliveryResult(.unanswered(.sample("")))))
        upload.goOn()
        upload.take(.outboxRead(Self.waiting, newest: nil))
        #expect(upload.action == .wait)
        upload.take(.privateModeBegan)
        for _ in 0..<20 where upload.action == .wait {
            #expect(upload.dueIn ?? .zero > .zero, "it would spin")
            upload.now += upload.dueIn ?? .zero
            upload.take(.timeReached)
        }
        #expect(upload.action == .announce(.offline))
    }

    /// What comes next after a failure waits no longer than after any success.
    @Test func forgetTheFailuresOnceItIsHeard() {
        upload.take(.privateModeBegan)
        for _ in 0..<5 {
            upload.take(.announced(.unanswered(.sample(""))))
            upload.now += .seconds(60)
            upload.take(.timeReached)
        }
        upload.take(.announced(.delivered))
        upload.send(Self.waiting)
        upload.take(.answered(DeliveryResult(.retry(.sample(""), after: nil))))
        #expect(upload.dueIn == .seconds(1))
    }

    /// After a start in a private zone, that the vehicle is in one is known with the first fix.
    @Test func tellNothingOfAVehicleThatMayBePrivate() throws {
        let upload = UploadStateDriver(privacy: .unknown)
        #expect(upload.send(Self.waiting) == Self.waiting)
        #expect(upload.state.presence == .unknown)
        deliver(upload)
        upload.now += .seconds(100)
        for (batch, newest) in [(nil, Self.newest), (Self.repetition, nil)] as [(UploadBatch?, StoredUpdate?)] {
            upload.goOn()
            upload.take(.outboxRead(batch, newest: newest))
            #expect(upload.action == .wait)
        }
        upload.take(.accepted(nil))
        #expect(upload.send(Self.repetition) == Self.repetition)
        #expect(upload.state.presence == .online)
    }

    /// The exchange in progress says that it is online, and comes first.
    @Test func tellItAfterWhatIsOnItsWay() {
        upload.take(.accepted(nil))
        upload.send(Self.waiting)
        upload.take(.privateModeBegan)
        guard case .send? = upload.action else { return #expect(Bool(false), "\(String(describing: upload.action))") }
        deliver(upload)
        #expect(upload.action == .announce(.offline))
    }

    /// A batch for which a token is fetched would say that it is online.
    @Test func tellItBeforeWhatWaitsForItsToken() {
        upload.take(.accepted(nil))
        upload.take(.outboxRead(Self.waiting, newest: nil))
        #expect(upload.action == .prepare)
        upload.take(.privateModeBegan)
        upload.take(.prepared)
        #expect(upload.action == .announce(.offline))
    }

    @Test func takeWhatWaitsFromBeforeAndRepeatNothing() {
        upload.take(.privateModeBegan)
        upload.take(.announced(.delivered))
        #expect(upload.send(Self.waiting) == Self.waiting)
        deliver(upload)
        for (batch, newest) in [(nil, Self.newest), (Self.repetition, nil)] as [(UploadBatch?, StoredUpdate?)] {
            upload.now += .seconds(100)
            upload.goOn()
            upload.take(.outboxRead(batch, newest: newest))
            #expect(upload.action == .wait)
        }
    }

    @Test func repeatNothingFromMemoryEither() {
        upload.take(.offered(Self.newest.update, overrulingStored: false))
        upload.take(.privateModeBegan)
        upload.take(.outboxRead(nil, newest: nil))
        upload.take(.announced(.delivered))
        upload.goOn()
        upload.take(.outboxFailed(OutboxError(.unusable)))
        #expect(upload.action == .wait)
    }

    /// A log that ends in a private zone: nothing comes any more that older updates could go behind.
    @Test func takeWhatWaitsBeforeTheEnd() {
        upload.take(.privateModeBegan)
        upload.take(.announced(.delivered))
        upload.take(.outboxRead(Self.repetition, newest: nil))
        #expect(upload.action == .wait)
        upload.take(.finishWhenEmpty)
        #expect(upload.send(Self.repetition) == Self.repetition)
        #expect(upload.state.presence == .offline)
        deliver(upload)
        upload.take(.outboxRead(nil, newest: nil))
        #expect(upload.action == .finish)
    }

    /// Whoever asks Fleet Engine again now and then asks with what is to be delivered: the newest alone would be a
    /// repetition.
    @Test func takeWhatWaitsAfterAHold() {
        upload.take(.privateModeBegan)
        upload.take(.announced(.delivered))
        upload.take(.finishWhenEmpty)
        upload.send(Self.repetition)
        upload.take(.answered(DeliveryResult(.held(.sample("")))))
        for _ in 0..<2 {
            upload.goOn()
            // The outbox gives the newest alone, and is asked once more.
            upload.take(.outboxRead(UploadBatch(last: Self.newest, lastIsPending: false, past: []), newest: nil))
            #expect(upload.action == .readOutbox(BatchRequest(maximumPastLocations: 1, withBacklog: true)))
            upload.take(.outboxRead(Self.repetition, newest: nil))
            #expect(upload.action == .prepare)
            upload.take(.prepared)
            upload.take(.answered(DeliveryResult(.held(.sample("")))))
        }
    }

    /// The newest goes alone in the end, so that each rejection finds an update.
    @Test(arguments: [.unknown, .inForce(owesOffline: false)] as [UploadPrivacy])
    func findTheUpdateThatIsRejected(privacy: UploadPrivacy) throws {
        let upload = UploadStateDriver(privacy: privacy)
        var sent: [Int] = []
        for _ in 0..<9 {
            upload.goOn()
            guard case .readOutbox(let request)? = upload.action else { break }
            let past = (0..<min(request.maximumPastLocations, 8)).map { StoredUpdate.sample(Int64($0)) }
            upload.take(.outboxRead(UploadBatch(last: Self.newest, lastIsPending: true, past: past), newest: nil))
            if upload.action == .prepare { upload.take(.prepared) }
            sent.append(past.count)
            upload.take(.answered(DeliveryResult(.rejected(.sample("")))))
            if case .quarantine = upload.action { break }
        }
        #expect(sent == [8, 4, 2, 1, 0])
        #expect(upload.action == .quarantine(Self.newest, reason: ""))
    }

    /// The switch is off, and the vehicle may be in a zone.
    @Test func goOnWhereTheVehicleMayBeInAZone() {
        upload.take(.privateModeBegan)
        upload.take(.announced(.delivered))
        upload.take(.outboxRead(nil, newest: Self.newest))
        upload.take(.privateModeEnded(mayBePrivate: true))
        upload.take(.outboxRead(Self.repetition, newest: nil))
        #expect(upload.action == .wait)
        #expect(upload.state.presence == .unknown)
    }

    /// An outbox in memory has no room for the next position before that; what an operator returns is no position.
    @Test func takeWhatWaitsOnceItIsOver() {
        upload.take(.privateModeBegan)
        upload.take(.announced(.delivered))
        upload.take(.outboxRead(Self.repetition, newest: nil))
        upload.take(.privateModeEnded(mayBePrivate: false))
        #expect(upload.send(Self.repetition) == Self.repetition)
        deliver(upload)
        for event in [.requeued, .timeReached] as [UploadEvent] {
            upload.take(.outboxRead(nil, newest: Self.newest))
            #expect(upload.action == .wait)
            upload.now += .seconds(100)
            upload.take(event)
            #expect(upload.course == .goOn)
        }
    }

    /// The last position of before is not told again: an ordinary one is next.
    @Test func goOnWithANewPosition() {
        upload.take(.privateModeBegan)
        upload.take(.announced(.delivered))
        upload.take(.outboxRead(nil, newest: nil))
        upload.take(.privateModeEnded(mayBePrivate: false))
        upload.now += .seconds(100)
        upload.take(.outboxRead(nil, newest: Self.newest))
        #expect(upload.action == .wait)
        upload.take(.accepted(nil))
        #expect(upload.send(Self.waiting) == Self.waiting)
        #expect(upload.state.presence == .online)
    }
}
