import Reporting

/// An append that failed: its commit may be found on the disk when the store is opened again. A caller that has kept
/// the updates appends them again, with others after them, and they are there already.
struct FailedAppend {
    var updates: [LocationUpdate] = []
    private var found: [StoredUpdate] = []

    /// Notes which of the first updates are among `rows`, those that the store holds unexpectedly.
    mutating func resolve(in rows: [StoredUpdate]) {
        for update in updates {
            guard let row = rows.first(where: { $0.update.place == update.place }) else { break }
            found.append(StoredUpdate(sequence: row.sequence, update: update))
        }
        updates = []
    }

    /// The updates that `appended` begins with and the store holds already.
    func found(among appended: [LocationUpdate]) -> [StoredUpdate] {
        appended.starts(with: found.map(\.update)) ? found : []
    }
}
