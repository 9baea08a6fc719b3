import Testing
import WaypostTestSupport

@testable import Reporting

/// What an upload loop knows of the one in whose place it delivers, as after a reload.
@Suite struct SucceedingUploads {
    private let former: UploadStateDriver
    private let successor: UploadStateDriver

    init() throws {
        (former, successor) = (UploadStateDriver(), UploadStateDriver(privacy: .asBefore))
        former.goOn()
    }

    /// The position of that second leads, and is taken.
    private func deliver(_ second: Int64, by upload: UploadStateDriver) {
        upload.send(UploadBatch(last: .sample(second), lastIsPending: true, past: []))
        upload.take(.answered(DeliveryResult(.delivered)))
        upload.take(.noted)
        upload.take(.outboxRead(nil, newest: .sample(second)))
    }

    private func begin() {
        successor.succeed(former)
        successor.take(.started)
    }

    @Test func repeatThePositionWhenItIsTime() {
        deliver(9, by: former)
        former.now += .seconds(59)
        begin()
        successor.take(.outboxRead(nil, newest: .sample(9)))
        #expect(successor.dueIn == .seconds(1))
        successor.now += .seconds(1)
        successor.take(.timeReached)
        successor.take(.outboxRead(nil, newest: .sample(9)))
        successor.take(.prepared)
        guard case .send(let batch, let seconds)? = successor.action else {
            return #expect(Bool(false), "\(String(describing: successor.action))")
        }
        #expect(batch.last == StoredUpdate.sample(9).update)
        #expect(seconds == 60)
    }

    /// The outbox was full when that position came, and knows only the one before.
    @Test func neverGoBehindAPositionOfMemory() {
        former.take(.offered(StoredUpdate.sample(9).update, overrulingStored: false))
        former.take(.outboxFailed(OutboxError(.unusable, "full")))
        former.take(.prepared)
        former.take(.answered(DeliveryResult(.delivered)))
        begin()
        let sent = successor.send(UploadBatch(last: .sample(8), lastIsPending: true, past: []))
        #expect(sent?.last == StoredUpdate.sample(9).update)
        #expect(sent?.pending == [.sample(8)])
    }

    @Test func knowWhenThePositionWasSent() {
        deliver(9, by: former)
        let sentAt = former.now
        former.now += .seconds(3)
        begin()
        #expect(successor.state.timeSinceSent(StoredUpdate.sample(9).update, at: sentAt + .seconds(4)) == .seconds(4))
    }

    /// What the successor was told before the one before had ended.
    @Test func believeWhatIsNewer() {
        former.take(.offered(StoredUpdate.sample(8).update, overrulingStored: false))
        successor.take(.forgetUnstored)
        successor.take(.offered(StoredUpdate.sample(9).update, overrulingStored: false))
        begin()
        successor.take(.outboxFailed(OutboxError(.unusable, "full")))
        successor.take(.prepared)
        guard case .send(let batch, _)? = successor.action else {
            return #expect(Bool(false), "\(String(describing: successor.action))")
        }
        #expect(batch.last == StoredUpdate.sample(9).update)
    }
}
