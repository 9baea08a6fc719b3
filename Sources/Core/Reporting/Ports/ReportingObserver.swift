package import GNSS
package import ReportedText
package import TimeAndRandomness

/// A receiver of reporting events. It is called from many tasks, and must return at once.
package protocol ReportingObserver: Sendable {
    func observe(_ event: ReportingEvent)
}

/// An event in the pipeline from fix to delivery, for logs, metrics and status.
package enum ReportingEvent: Sendable, Hashable {
    case receiver(ReceiverState)
    case receiverWarning(ReceiverWarning)
    /// The satellites in the receiver's view.
    case sky(Sky)
    case progress(reached: Duration, of: Duration)
    case fix(Fix)
    case rejected(Fix, FixRejection)
    /// The fix was due by its time, but too little time had passed since the request with the last position.
    case tooSoon(Fix)
    /// Positions are not disclosed from now on.
    case privateModeBegan
    case privateModeEnded
    /// A fix was dropped because the vehicle is private.
    case withheld
    /// The update is in the outbox.
    case accepted(StoredUpdate)
    /// The outbox did not accept the update. It is sent from memory while it is the newest, and is stored later unless
    /// the process ends first.
    case notStored(LocationUpdate, OutboxError)
    /// The oldest updates that the outbox did not accept were dropped, because the queue in memory is full.
    case dropped(count: Int)
    /// A request is about to be sent.
    case uploading(UploadBatch)
    case delivered(UploadBatch, traffic: Traffic, took: Duration)
    /// A request failed after the time `took`, which is `nil` if the request reported only the vehicle's presence.
    case failed(DeliveryOutcome, traffic: Traffic, took: Duration? = nil)
    /// No permit could be obtained, so nothing was sent.
    case notPrepared(DeliveryFault)
    case outboxFailed(OutboxError)
    /// Nothing will be sent for `delay`.
    case waiting(delay: Duration)
    case quarantined(StoredUpdate, reason: ReportedText)
    /// The time of the service's clock, as reported in its answer to a delivery.
    case serverTime(UTCTime)
    /// An event wasn't valid in the current phase, which is a bug in Waypost. Delivery starts again from the outbox.
    case internalError(InternalError)
    /// There is nothing to send: every accepted update has been delivered or quarantined, or is in an outbox that can't
    /// be read.
    case idle
    /// The vehicle's presence was reported without a position.
    case announced(Presence, traffic: Traffic)
}

/// A bug in Waypost that was detected at run time.
package struct InternalError: Error, Sendable, Hashable {
    /// The name of the event's enumeration case.
    package let event: String
    /// The name of the phase in which the event occurred, such as `idle`.
    package let phase: String
}
