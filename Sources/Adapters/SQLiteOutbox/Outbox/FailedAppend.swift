import Reporting

/// A failed append whose commit may still be found on the disk when the store is reopened.
///
/// A caller that has kept the updates appends them again, followed by newer ones. Updates that are in the store must
/// not be accepted twice.
struct FailedAppend {
    var updates: [LocationUpdate] = []
    private var found: [StoredUpdate] = []

    /// Records how many of the updates, from the first one on, are among `rows`, the unexpected rows of the store.
    mutating func resolve(in rows: [StoredUpdate]) {
        for update in updates {
            guard let row = rows.first(where: { $0.update.place == update.place }) else { break }
            found.append(StoredUpdate(sequence: row.sequence, update: update))
        }
        updates = []
    }

    /// Returns the updates at the beginning of `appended` that the store already has.
    func storedUpdates(among appended: [LocationUpdate]) -> [StoredUpdate] {
        appended.starts(with: found.map(\.update)) ? found : []
    }
}
