import LocationReporting

/// An append that failed: its commit may be found on the disk when the store is opened again. A caller that has kept
/// the updates appends them again, with others after them, and they are there already.
struct FailedAppend {
    var updates: [LocationUpdate] = []
    private var found: [LocationUpdate] = []

    /// Notes that the first `count` are in the store.
    mutating func wasFound(_ count: Int) {
        found += updates.prefix(count)
        updates = []
    }

    func countStored(of appended: [LocationUpdate]) -> Int { appended.starts(with: found) ? found.count : 0 }
}
