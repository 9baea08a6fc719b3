/// The updates that one upload carries.
package struct UploadBatch: Sendable, Hashable {
    /// The newest update by time of fix: the live position, sent as `lastLocation`.
    package let last: LocationUpdate
    /// The row of `last` in the outbox; `nil` if it is only in memory.
    package let stored: StoredUpdate?
    /// Whether `last` is pending. If it isn't, it is repeated so that no older position takes its place.
    package let lastIsPending: Bool
    /// Older pending updates in order of time of fix, sent as `pastLocations`.
    package let past: [StoredUpdate]

    /// Creates a batch led by an update of the outbox.
    package init(last: StoredUpdate, lastIsPending: Bool, past: [StoredUpdate]) {
        self.last = last.update
        stored = last
        self.lastIsPending = lastIsPending
        self.past = past
    }

    /// Creates a batch led by a position that is only in memory, so that nothing is acknowledged for it.
    package init(unstored: LocationUpdate, past: [StoredUpdate]) {
        last = unstored
        stored = nil
        lastIsPending = false
        self.past = past
    }

    /// The updates that a successful upload delivers.
    package var pending: [StoredUpdate] { lastIsPending ? past + [stored].compactMap(\.self) : past }
}
