/// The updates that one upload carries.
package struct UploadBatch: Sendable, Hashable {
    /// The update with the newest fix, which is the live position. It is sent as `lastLocation`.
    package let last: LocationUpdate
    /// The row of `last` in the outbox; `nil` if it is only in memory.
    package let stored: StoredUpdate?
    /// Whether `last` is pending in the outbox. If not, it leads the batch anyway, so that no older position becomes
    /// the live position.
    package let lastIsPending: Bool
    /// Older pending updates, in the order of their fixes. They are sent as `pastLocations`.
    package let past: [StoredUpdate]

    /// Creates a batch that is led by an update from the outbox.
    package init(last: StoredUpdate, lastIsPending: Bool, past: [StoredUpdate]) {
        self.last = last.update
        stored = last
        self.lastIsPending = lastIsPending
        self.past = past
    }

    /// Creates a batch that is led by a position that is only in memory, so the outbox won't record its delivery.
    package init(unstored: LocationUpdate, past: [StoredUpdate]) {
        last = unstored
        stored = nil
        lastIsPending = false
        self.past = past
    }

    /// The pending updates in this batch, which a successful upload delivers.
    package var pending: [StoredUpdate] { lastIsPending ? past + [stored].compactMap(\.self) : past }
}
