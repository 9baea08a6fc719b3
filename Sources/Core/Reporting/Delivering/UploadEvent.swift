import ReportedText

/// An event that the delivery lane handles.
package enum UploadEvent: Sendable {
    case started
    /// The outbox has accepted a newer update. The value is the contents of the next upload, or `nil` if the outbox
    /// must be read for them.
    case updateStored(NextUpload?)
    /// Older updates are pending: an operator has requeued them, or the outbox has stored updates that it could not
    /// store before.
    case requeued
    /// The outbox could not store the update. `overrulesStored` says whether all updates in the outbox are known to be
    /// wrong.
    case updateNotStored(LocationUpdate, overrulesStored: Bool)
    /// Positions in memory must no longer lead an upload, because they were wrong or updates in the outbox overrule
    /// them.
    case forgetUnstored
    /// The delivery loop may end once nothing is pending.
    case finishWhenEmpty
    /// The network has returned, and the reporter is about to notify `Delivery`.
    case willNotifyOfNetworkReturn
    /// The network has returned, and the reporter has notified `Delivery`.
    case networkReturned
    /// Positions must not be disclosed until `privateModeEnded`.
    case privateModeBegan
    /// Private mode has ended. `mayBePrivate` says whether the vehicle may still be in a private zone. If it may be,
    /// the next fix decides.
    case privateModeEnded(mayBePrivate: Bool)
    /// `dueAt` may have been reached. The state checks the time itself.
    case timeReached
    /// The task has been cancelled, including the action in progress.
    case cancelled

    // The remaining events are the results of actions.

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

/// The next action of the delivery loop. The result of each action except the last four is reported by an event.
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
    /// Abort the exchange in progress. The event `answered` then reports the result of the exchange, as usual.
    case abortExchange
    case wait
    /// Abandon the action in progress because of an internal error, and start again.
    case restart
    case finish
}

/// The consequences of an event: the reports to the observer, in order, and the next action. If the next action is
/// `nil`, the action in progress continues.
struct UploadStep: Sendable, Hashable {
    let reports: [ReportingEvent]
    let action: UploadAction?

    init(_ action: UploadAction? = nil, reporting reports: [ReportingEvent] = []) {
        self.action = action
        self.reports = reports
    }

    /// Returns this step with the `earlier` reports placed before the step's own.
    func reportingFirst(_ earlier: ReportingEvent...) -> Self { Self(action, reporting: earlier + reports) }
}
