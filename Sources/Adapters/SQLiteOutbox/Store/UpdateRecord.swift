import Reporting
import TimeAndChance

/// A row of a pending update.
struct UpdateRecord: Sendable, Hashable {
    let stored: StoredUpdate
    /// The sequence of the newest update by time of fix once this one was accepted, usually its own. With it an append
    /// needs no change of the ledger's row, and opening finds the newest without reading the backlog.
    let newestSequence: Int64
    /// Whether it is a shape point of the update that follows it.
    let isShapePoint: Bool

    init(_ stored: StoredUpdate, newestSequence: Int64, isShapePoint: Bool = false) {
        self.stored = stored
        self.newestSequence = newestSequence
        self.isShapePoint = isShapePoint
    }

    /// Returns `nil` if `row` isn't one of a pending update.
    init?(_ row: StoredRow) {
        guard row.state == .pending, let stored = StoredUpdate(row) else { return nil }
        let newest = row[.newest]
        guard newest == .null || newest.integer.map(StoredRow.plausibleCounts.contains) == true else { return nil }
        self.init(stored, newestSequence: newest.integer ?? row.sequence, isShapePoint: row.isShapePoint)
    }

    var row: StoredRow {
        var row = StoredRow(stored.sequence)
        row.set(stored.update)
        row.isShapePoint = isShapePoint
        if newestSequence != stored.sequence { row[.newest] = .integer(newestSequence) }
        return row
    }
}

extension StoredUpdate {
    /// Returns `nil` if `row` isn't an update's.
    init?(_ row: StoredRow) {
        guard StoredRow.plausibleSequences.contains(row.sequence), let update = LocationUpdate(row) else { return nil }
        self.init(sequence: row.sequence, update: update)
    }
}

extension StoredRow {
    /// Whether it is the row of a shape point.
    var isShapePoint: Bool {
        get { self[.kind] == .integer(1) }
        set { self[.kind] = .integer(newValue ? 1 : 0) }
    }

    mutating func set(_ update: LocationUpdate) {
        self[.time] = .integer(update.timeOfFix.millisecondsSince1970)
        self[.latitude] = .real(of: update.latitude)
        self[.longitude] = .real(of: update.longitude)
        self[.altitude] = .real(of: update.altitudeMeters)
        self[.speed] = .real(of: update.speedMetersPerSecond)
        self[.heading] = update.headingDegrees.map { .integer(Int64($0)) } ?? .null
        self[.accuracy] = .real(of: update.horizontalAccuracyMeters)
    }
}

extension LocationUpdate {
    /// Returns `nil` if the values can't be those of a vehicle's position.
    init?(_ row: StoredRow) {
        guard let time = row[.time].integer, StoredRow.plausibleTimes.contains(time),
            let latitude = row[.latitude].real, abs(latitude) <= 90,
            let longitude = row[.longitude].real, abs(longitude) <= 180,
            [row[.altitude], row[.speed], row[.accuracy]].allSatisfy({
                $0 == .null || abs($0.real ?? .infinity) <= Self.maximumNumber
            }),
            row[.heading] == .null || 0..<360 ~= row[.heading].integer ?? -1
        else { return nil }
        self.init(
            timeOfFix: UTCTime(millisecondsSince1970: time), latitude: latitude, longitude: longitude)
        altitudeMeters = row[.altitude].real
        speedMetersPerSecond = row[.speed].real
        headingDegrees = row[.heading].integer.map { Int($0) }
        horizontalAccuracyMeters = row[.accuracy].real
    }

    /// A larger number may become infinite when it is rounded for the wire.
    private static let maximumNumber = 1e300
}
