import ReportedText

/// An event of the delivering lane.
package enum UploadEvent: Sendable {
    case started
    /// The outbox has accepted a newer update. With the contents of the next upload, or `nil` if the outbox must be
    /// read for them.
    case updateStored(NextUpload?)
    /// Older updates are pending: an operator has requeued them, or the outbox has accepted what it rejected before.
    case requeued
    /// The outbox could not store the update. `overrulesStored`: all updates that it holds are wrong.
    case updateNotStored(LocationUpdate, overrulesStored: Bool)
    /// No position in memory may lead an upload: they were wrong, or the outbox now holds what overrules them.
    case forgetUnstored
    /// The loop may end once nothing is pending.
    case finishWhenEmpty
    /// The network has returned; the delivery has not been notified yet.
    case networkReturning
    /// The network has returned, and the delivery has been notified.
    case networkReturned
    /// Positions must not be disclosed until `privateModeEnded`.
    case privateModeBegan
    /// `mayBePrivate`: the vehicle may still be in a private zone, which its next fix decides.
    case privateModeEnded(mayBePrivate: Bool)
    /// `dueAt` may have been reached. The state checks the time itself.
    case timeReached
    /// The task is cancelled, and with it the action in progress.
    case cancelled

    // The results of actions:

    case outboxRead(NextUpload)
    case outboxFailed(OutboxError)
    /// There is a permit.
    case prepared
    case notPrepared(DeliveryFault)
    case answered(DeliveryResult)
    /// The outbox has recorded a batch as delivered, or an update as quarantined. With the contents of the next upload,
    /// or `nil` if the outbox must be read for them.
    case resultRecorded(NextUpload?)
    /// The service has answered a presence that was sent by itself.
    case announced(DeliveryOutcome)
}

/// The next step of the upload loop. Another event reports its result, except for the last four.
enum UploadAction: Sendable, Hashable {
    /// Ask the outbox for the contents of the next upload.
    case readOutbox(BatchRequest)
    /// Ask for a permit.
    case prepare
    /// Deliver the batch with the permit.
    case send(UploadBatch, secondsSinceFirstSent: Int?)
    /// Report the vehicle's presence by itself.
    case announce(Presence)
    case acknowledge(UploadBatch, next: BatchRequest)
    case quarantine(StoredUpdate, reason: ReportedText)
    /// Abort the exchange in progress. `answered` reports its result as for any other.
    case abortExchange
    case wait
    /// Abandon the action in progress because of an internal error, and start again.
    case restart
    case finish
}

/// The consequences of an event: reports for the observer, in this order, and the next action. Without an action, the
/// one in progress continues.
struct UploadStep: Sendable, Hashable {
    let reports: [ReportingEvent]
    let action: UploadAction?

    init(_ action: UploadAction? = nil, reporting reports: [ReportingEvent] = []) {
        self.action = action
        self.reports = reports
    }

    /// Returns this step with `earlier` reports before the others.
    func after(_ earlier: ReportingEvent...) -> Self { Self(action, reporting: earlier + reports) }
}
