import ReportedText

/// An event of the delivery lane.
package enum UploadEvent: Sendable {
    case started
    /// The outbox has accepted a newer update. The value is the contents of the next upload, or `nil` if the outbox
    /// must be read for them.
    case updateStored(NextUpload?)
    /// Older updates are pending: an operator has requeued them, or the outbox has accepted updates that it rejected
    /// before.
    case requeued
    /// The outbox could not store the update. `overrulesStored`: whether all updates in the outbox are wrong.
    case updateNotStored(LocationUpdate, overrulesStored: Bool)
    /// Positions in memory must no longer lead an upload: they were wrong, or updates in the outbox overrule them.
    case forgetUnstored
    /// The loop may end once nothing is pending.
    case finishWhenEmpty
    /// The network has returned; the delivery has not been notified yet.
    case networkReturning
    /// The network has returned, and the delivery has been notified.
    case networkReturned
    /// Positions must not be disclosed until `privateModeEnded`.
    case privateModeBegan
    /// `mayBePrivate`: whether the vehicle may still be in a private zone, which its next fix decides.
    case privateModeEnded(mayBePrivate: Bool)
    /// `dueAt` may have been reached. The state checks the time itself.
    case timeReached
    /// The task has been cancelled, including the action in progress.
    case cancelled

    // The results of actions:

    case outboxRead(NextUpload)
    case outboxFailed(OutboxError)
    /// A permit has been obtained.
    case prepared
    case notPrepared(DeliveryFault)
    case answered(DeliveryResult)
    /// The outbox has recorded a batch as delivered, or an update as quarantined. The value is the contents of the next
    /// upload, or `nil` if the outbox must be read for them.
    case resultRecorded(NextUpload?)
    /// The service has answered a request that reported only the vehicle's presence.
    case announced(DeliveryOutcome)
}

/// The next action of the delivery loop. An event reports its result, except for the last four actions.
enum UploadAction: Sendable, Hashable {
    /// Ask the outbox for the contents of the next upload.
    case readOutbox(BatchRequest)
    /// Ask for a permit.
    case prepare
    /// Deliver the batch with the permit.
    case send(UploadBatch, secondsSinceFirstSent: Int?)
    /// Report the vehicle's presence without a position.
    case announce(Presence)
    case acknowledge(UploadBatch, next: BatchRequest)
    case quarantine(StoredUpdate, reason: ReportedText)
    /// Abort the exchange in progress. `answered` reports its result, as it does for any other exchange.
    case abortExchange
    case wait
    /// Abandon the action in progress because of an internal error, and start again.
    case restart
    case finish
}

/// The consequences of an event: reports for the observer, in this order, and the next action. If there is none, the
/// action in progress continues.
struct UploadStep: Sendable, Hashable {
    let reports: [ReportingEvent]
    let action: UploadAction?

    init(_ action: UploadAction? = nil, reporting reports: [ReportingEvent] = []) {
        self.action = action
        self.reports = reports
    }

    /// Returns this step with the `earlier` reports before its own.
    func reportingFirst(_ earlier: ReportingEvent...) -> Self { Self(action, reporting: earlier + reports) }
}
