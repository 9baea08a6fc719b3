/// An update with its place in the order of acceptance.
package struct StoredUpdate: Sendable, Hashable {
    /// Counts accepted updates from 1, without gaps, for the life of the store.
    package let sequence: Int64
    package let update: LocationUpdate

    package init(sequence: Int64, update: LocationUpdate) {
        (self.sequence, self.update) = (sequence, update)
    }
}
