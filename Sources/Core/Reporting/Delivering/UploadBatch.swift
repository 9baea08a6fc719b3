/// What one upload carries.
package struct UploadBatch: Sendable, Hashable {
    /// The newest update there is by time of fix, the live position; goes out as `lastLocation`.
    package let last: LocationUpdate
    /// The same as the outbox has it; `nil` for a position that is in memory only.
    package let stored: StoredUpdate?
    /// Whether `last` has still to be delivered; otherwise it is repeated, so that no older position takes its place.
    package let lastIsPending: Bool
    /// Older pending updates, in order of time of fix; go out as `pastLocations`.
    package let past: [StoredUpdate]

    /// A batch led by an update of the outbox.
    package init(last: StoredUpdate, lastIsPending: Bool, past: [StoredUpdate]) {
        self.last = last.update
        stored = last
        self.lastIsPending = lastIsPending
        self.past = past
    }

    /// A batch led by a position that is in memory only: nothing is acknowledged for that.
    package init(unstored: LocationUpdate, past: [StoredUpdate]) {
        last = unstored
        stored = nil
        lastIsPending = false
        self.past = past
    }

    /// What a success delivers.
    package var pending: [StoredUpdate] { lastIsPending ? past + [stored].compactMap(\.self) : past }
}
