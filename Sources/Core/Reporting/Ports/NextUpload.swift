/// A request to the outbox for the contents of the next upload, within limits.
package struct BatchRequest: Sendable, Hashable {
    /// The maximum number of updates in addition to the newest one.
    package var maximumPastLocations: Int
    /// Whether the upload may carry the backlog, or only the newest update and its shape points.
    package var withBacklog: Bool

    package init(maximumPastLocations: Int, withBacklog: Bool) {
        self.maximumPastLocations = maximumPastLocations
        self.withBacklog = withBacklog
    }
}

/// The contents of the next upload, as the outbox returns them.
package struct NextUpload: Sendable, Hashable {
    /// The newest update together with pending updates; `nil` if nothing is pending.
    package var batch: UploadBatch?
    /// The newest update ever accepted, delivered or not, except a quarantined one; `nil` for a new outbox.
    package var newest: StoredUpdate?

    package init(_ batch: UploadBatch?, newest: StoredUpdate?) {
        self.batch = batch
        self.newest = newest
    }
}

/// The result of an append.
package struct AppendResult: Sendable, Hashable {
    package var stored: StoredUpdate
    /// The answer to the append's `BatchRequest`; `nil` without a request, or if reading failed.
    package var next: NextUpload?

    package init(_ stored: StoredUpdate, next: NextUpload?) {
        self.stored = stored
        self.next = next
    }
}
