/// How much the next upload may carry.
package struct BatchRequest: Sendable, Hashable {
    /// The maximum number of older updates.
    package var maximumPastLocations: Int
    /// Whether the backlog may go out, or the newest update and its shape points alone.
    package var withBacklog: Bool

    package init(maximumPastLocations: Int, withBacklog: Bool) {
        self.maximumPastLocations = maximumPastLocations
        self.withBacklog = withBacklog
    }
}

/// What the outbox has for the next upload.
package struct NextUpload: Sendable, Hashable {
    /// The newest update with pending ones; `nil` when nothing is pending.
    package var batch: UploadBatch?
    /// The newest update ever accepted, delivered or not, unless it is in quarantine; `nil` for a new outbox.
    package var newest: StoredUpdate?

    package init(_ batch: UploadBatch?, newest: StoredUpdate?) {
        self.batch = batch
        self.newest = newest
    }
}

/// What an append has led to.
package struct AppendedUpdate: Sendable, Hashable {
    package var stored: StoredUpdate
    /// The answer to the append's `BatchRequest`; `nil` without one, or if it could not be read.
    package var next: NextUpload?

    package init(_ stored: StoredUpdate, next: NextUpload?) {
        self.stored = stored
        self.next = next
    }
}
