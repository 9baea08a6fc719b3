package import GNSS
package import ReportedText
package import TimeAndChance

/// Hears what happens; called from many tasks, must return at once.
package protocol ReportingObserver: Sendable {
    func observe(_ event: ReportingEvent)
}

/// What happens on the way of a fix, for logs, metrics and status.
package enum ReportingEvent: Sendable, Hashable {
    case receiver(ReceiverState)
    case receiverWarning(ReceiverWarning)
    /// The satellites that the receiver sees.
    case sky(Sky)
    case progress(reached: Duration, of: Duration)
    case fix(Fix)
    case rejected(Fix, FixRejection)
    /// The fix was due by its time, but the request with the last position is not long enough ago.
    case tooSoon(Fix)
    /// From now on nothing is told of where the vehicle is.
    case privateModeBegan
    case privateModeEnded
    /// A fix came of which nothing is told.
    case withheld
    /// The update is in the outbox.
    case accepted(StoredUpdate)
    /// The outbox did not accept the update; it is sent from memory while it is the newest, and stored later if the
    /// process lives until then.
    case notStored(LocationUpdate, OutboxError)
    /// The oldest of the updates that the outbox did not accept were dropped, because memory holds no more.
    case dropped(count: Int)
    /// A request is about to go out.
    case uploading(UploadBatch)
    case delivered(UploadBatch, traffic: Traffic, took: Duration)
    /// An attempt failed; `traffic` is what it cost, `took` the time to its end, `nil` for a presence by itself.
    case failed(DeliveryOutcome, traffic: Traffic, took: Duration? = nil)
    /// There is no permit to deliver with.
    case notPrepared(DeliveryFault)
    case outboxFailed(OutboxError)
    /// Nothing is sent for `delay`.
    case waiting(delay: Duration)
    case quarantined(StoredUpdate, reason: ReportedText)
    /// What the service's clock says, as its answer to a delivery states.
    case serverTime(UTCTime)
    /// An event that doesn't fit what is in progress: a bug of Waypost. Delivery starts again from the outbox.
    case internalError(InternalError)
    /// Nothing is left to send that can be read: everything accepted is delivered or quarantined, or waits in an outbox
    /// that does not answer.
    case idle
    /// The vehicle's presence was reported by itself.
    case announced(Presence, traffic: Traffic)
}

/// A bug of Waypost that it has noticed itself.
package struct InternalError: Error, Sendable, Hashable {
    /// The event's name in the code.
    package let event: String
    /// The name of what was in progress.
    package let phase: String
}
