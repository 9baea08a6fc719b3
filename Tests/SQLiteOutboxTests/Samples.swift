import Reporting
import TimeAndChance

@testable import SQLiteOutbox

/// An update as a receiver gives it, `second` seconds into the day.
func sample(_ second: Int) -> LocationUpdate {
    var update = LocationUpdate(
        timeOfFix: UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: second * 1000),
        latitude: 48.1173 + Double(second) * 0.0001, longitude: 11.516_666_666_666_667)
    update.speedMetersPerSecond = 12.345
    update.headingDegrees = second % 360
    update.altitudeMeters = second % 2 == 0 ? 545.4 : nil
    update.horizontalAccuracyMeters = 2.5
    return update
}

/// The same on a way that turns back at every update, a kilometre from side to side.
func zigzag(_ second: Int) -> LocationUpdate {
    var update = sample(second)
    update.longitude += second % 2 == 0 ? 0.0135 : 0
    return update
}

extension OutboxEngine {
    /// Everything pending, as an uploader would find it.
    func pendingUpdates() throws -> [StoredUpdate] {
        let all = try nextBatch(maximumPastLocations: 1_000_000)?.pending ?? []
        return all.sorted { $0.sequence < $1.sequence }
    }

    /// The sequences of those in quarantine whose rows are kept.
    func quarantinedSequences() throws(OutboxError) -> [Int64] {
        try perform { store throws(StoreError) in try store.rows.quarantined().map(\.stored.sequence) }
    }

    /// Makes the store full at that many pages of 1 KiB, as a full disk does, until it is opened anew.
    func limitPages(to count: Int) throws { try store?.connection.execute("PRAGMA max_page_count = \(count)") }

    /// Delivers the next batch.
    func deliverBatch(maximumPastLocations: Int = 50) throws {
        if let batch = try nextBatch(maximumPastLocations: maximumPastLocations) { try acknowledge(batch) }
    }
}
