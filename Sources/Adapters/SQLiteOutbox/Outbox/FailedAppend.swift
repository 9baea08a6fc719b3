import Reporting

/// The updates of an append that failed, although the disk may contain its commit. When the store is reopened, it
/// becomes known whether the disk does.
///
/// The caller has kept these updates and appends them again, followed by newer ones. Those that are already in the
/// store must not be accepted a second time.
struct FailedAppend {
    var updates: [LocationUpdate] = []
    private var alreadyStored: [StoredUpdate] = []

    /// Records which of the updates are among `rows`, the rows that the store has in addition to the expected ones.
    /// Stops at the first update that isn't among them.
    mutating func resolve(in rows: [StoredUpdate]) {
        for update in updates {
            guard let row = rows.first(where: { $0.update.place == update.place }) else { break }
            alreadyStored.append(StoredUpdate(sequence: row.sequence, update: update))
        }
        updates = []
    }

    /// Returns the updates at the beginning of `appended` that the store already contains.
    func storedUpdates(among appended: [LocationUpdate]) -> [StoredUpdate] {
        appended.starts(with: alreadyStored.map(\.update)) ? alreadyStored : []
    }
}
