import Reporting

/// An append that failed, although its commit may be found on the disk when the store is opened again.
///
/// A caller that has kept the updates appends them again, with others after them; those in the store must not be
/// accepted twice.
struct FailedAppend {
    var updates: [LocationUpdate] = []
    private var found: [StoredUpdate] = []

    /// Notes which of the first updates are among `rows`, the unexpected rows of the store.
    mutating func resolve(in rows: [StoredUpdate]) {
        for update in updates {
            guard let row = rows.first(where: { $0.update.place == update.place }) else { break }
            found.append(StoredUpdate(sequence: row.sequence, update: update))
        }
        updates = []
    }

    /// The updates at the beginning of `appended` that the store already has.
    func found(among appended: [LocationUpdate]) -> [StoredUpdate] {
        appended.starts(with: found.map(\.update)) ? found : []
    }
}
