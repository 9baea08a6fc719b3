import FleetEngine
import GNSS
import HTTPMessages
import Testing
import WaypostTestSupport

@testable import LocationReporting

/// What goes out of a private vehicle: that it is offline, and what waits from before.
@Suite struct PrivateUploads {
    private static let newest = StoredUpdate.sample(9)
    private static let waiting = UploadBatch(last: newest, lastIsPending: true, past: [.sample(8)])
    /// Older ones are pending, and the newest is not.
    private static let repetition = UploadBatch(last: newest, lastIsPending: false, past: [.sample(8)])

    private let upload: UploadStateDriver

    init() throws {
        upload = try UploadStateDriver()
        upload.goOn()
        upload.take(.outboxRead(nil, newest: nil))
    }

    private func deliver() {
        upload.take(.answered(.delivered, traffic: HTTPTraffic()))
        upload.take(.told)
    }

    @Test func tellFirstThatItIsOffline() {
        upload.take(.privateModeBegan)
        #expect(upload.action == .tell(.offline))
        upload.take(.stateTold(.delivered))
        #expect(upload.course == .goOn)
        #expect(upload.state.vehicleState == .offline)
        upload.take(.privateModeEnded)
        #expect(upload.state.vehicleState == .online)
    }

    @Test func tellItAgainWhenItWasNotHeard() {
        upload.take(.privateModeBegan)
        upload.take(.stateTold(nil))
        #expect(upload.action == .wait)
        upload.now += .seconds(2)
        upload.take(.timeReached)
        #expect(upload.action == .tell(.offline))
    }

    /// A reload replaces the uploader while the vehicle is private.
    @Test func tellItOnce() {
        #expect(!upload.state.hasToldOffline)
        upload.take(.privateModeGoesOn)
        #expect(upload.course == .goOn)
        #expect(upload.state.hasToldOffline && upload.state.vehicleState == .offline)
        upload.take(.outboxRead(Self.repetition, newest: nil))
        #expect(upload.action == .wait)
    }

    /// The exchange in progress says that it is online, and comes first.
    @Test func tellItAfterWhatIsOnItsWay() {
        upload.take(.accepted(nil))
        upload.send(Self.waiting)
        upload.take(.privateModeBegan)
        guard case .send? = upload.action else { return #expect(Bool(false), "\(String(describing: upload.action))") }
        deliver()
        #expect(upload.action == .tell(.offline))
    }

    /// A batch for which a token is fetched would say that it is online.
    @Test func tellItBeforeWhatWaitsForItsToken() {
        upload.take(.accepted(nil))
        upload.take(.outboxRead(Self.waiting, newest: nil))
        #expect(upload.action == .fetchToken)
        upload.take(.privateModeBegan)
        upload.take(.tokenReceived(UploadStateDriver.token))
        #expect(upload.action == .tell(.offline))
    }

    @Test func takeWhatWaitsFromBeforeAndRepeatNothing() {
        upload.take(.privateModeBegan)
        upload.take(.stateTold(.delivered))
        #expect(upload.send(Self.waiting) == Self.waiting)
        deliver()
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
        upload.take(.stateTold(.delivered))
        upload.goOn()
        upload.take(.outboxFailed(OutboxError(.unusable, "read-only")))
        #expect(upload.action == .wait)
    }

    /// The last position of before is not told again: an ordinary one is next.
    @Test func goOnWithANewPosition() {
        upload.take(.privateModeBegan)
        upload.take(.stateTold(.delivered))
        upload.take(.outboxRead(nil, newest: nil))
        upload.take(.privateModeEnded)
        upload.now += .seconds(100)
        upload.take(.outboxRead(Self.repetition, newest: nil))
        #expect(upload.action == .wait)
        upload.take(.accepted(nil))
        #expect(upload.send(Self.waiting) == Self.waiting)
        #expect(upload.state.vehicleState == .online)
    }
}
