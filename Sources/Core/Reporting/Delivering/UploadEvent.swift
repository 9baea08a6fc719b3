import ReportedText

/// What the delivering lane is notified of.
package enum UploadEvent: Sendable {
    case started
    /// The outbox has a newer update, and has answered what the next upload carries; `nil`: it must be asked.
    case accepted(NextUpload?)
    /// The outbox has again what was quarantined, or has accepted what it did not before.
    case requeued
    /// The outbox could not take this update; `overrulingStored` when what it holds is wrong besides.
    case offered(LocationUpdate, overrulingStored: Bool)
    /// The positions in memory were wrong, or the outbox knows better now: none of them is to lead any more.
    case forgetUnstored
    /// Once nothing is pending, the loop may end.
    case finishWhenEmpty
    /// The network has returned; the delivery has not been notified yet.
    case networkReturning
    /// The network has returned, and the delivery has been notified.
    case networkReturned
    /// Nothing is to be told of where the vehicle is, until the other comes.
    case privateModeBegan
    /// `mayBePrivate`: the vehicle may be in a private zone all the same, which its next fix says.
    case privateModeEnded(mayBePrivate: Bool)
    /// Perhaps `dueAt` is reached; perhaps too soon.
    case timeReached
    /// The task is cancelled, and with it whatever is in progress.
    case cancelled
    // How each action ends.
    case outboxRead(NextUpload)
    case outboxFailed(OutboxError)
    /// There is a permit.
    case prepared
    case notPrepared(DeliveryFault)
    case answered(DeliveryResult)
    /// The outbox has noted what became of a batch, and has answered what the next upload carries; `nil`: it must be
    /// asked.
    case noted(NextUpload?)
    /// What the service made of the vehicle's presence.
    case announced(DeliveryOutcome)
}

/// What the upload loop does next. Except for the last four, another event reports how it ended.
enum UploadAction: Sendable, Hashable {
    /// Ask the outbox what the next upload carries.
    case readOutbox(BatchRequest)
    /// Ask for a permit.
    case prepare
    /// Deliver with the permit.
    case send(UploadBatch, secondsSinceFirstSent: Int?)
    /// Report the vehicle's presence by itself.
    case announce(Presence)
    case acknowledge(UploadBatch, next: BatchRequest)
    case quarantine(StoredUpdate, reason: ReportedText)
    /// Abort the exchange in progress; its end is reported as if it had not been aborted.
    case abortExchange
    case wait
    /// Forget what is in progress, because of an internal error, and start again.
    case restart
    case finish
}

/// What follows from an event: what the observer hears, in this order, and then the action; without one, whatever
/// is in progress continues.
struct UploadStep: Sendable, Hashable {
    let reports: [ReportingEvent]
    let action: UploadAction?

    init(_ action: UploadAction? = nil, reporting reports: [ReportingEvent] = []) {
        self.action = action
        self.reports = reports
    }

    /// The same after `earlier` reports.
    func after(_ earlier: ReportingEvent...) -> Self { Self(action, reporting: earlier + reports) }
}
