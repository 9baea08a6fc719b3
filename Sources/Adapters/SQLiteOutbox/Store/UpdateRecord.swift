import Reporting
import TimeAndChance

/// A row of a pending update.
struct UpdateRecord: Sendable, Hashable {
    let stored: StoredUpdate
    /// Whether the update is a shape point of the one that follows it.
    let isShapePoint: Bool

    init(_ stored: StoredUpdate, isShapePoint: Bool = false) {
        self.stored = stored
        self.isShapePoint = isShapePoint
    }

    /// Returns `nil` if `row` isn't a pending update's.
    init?(_ row: StoredRow) {
        guard !row.isQuarantined, let stored = StoredUpdate(row) else { return nil }
        self.init(stored, isShapePoint: row.isShapePoint)
    }

    var row: StoredRow {
        var row = StoredRow(stored.sequence)
        row.set(stored.update)
        row.isShapePoint = isShapePoint
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
    /// Whether the row is a shape point's.
    var isShapePoint: Bool {
        get { self[.kind] == .integer(1) }
        set { self[.kind] = .integer(newValue ? 1 : 0) }
    }

    mutating func set(_ update: LocationUpdate) {
        self[.time] = .integer(update.timeOfFix.millisecondsSince1970)
        self[.latitude] = .count(in: update.latitude, unitsPerOne: LocationUpdate.unitsPerDegree)
        self[.longitude] = .count(in: update.longitude, unitsPerOne: LocationUpdate.unitsPerDegree)
        self[.altitude] = .count(in: update.altitudeMeters, unitsPerOne: LocationUpdate.unitsPerMeter)
        self[.speed] = .count(in: update.speedMetersPerSecond, unitsPerOne: LocationUpdate.unitsPerMeter)
        self[.heading] = update.headingDegrees.map { .integer(Int64($0)) } ?? .null
        self[.accuracy] = .count(in: update.horizontalAccuracyMeters, unitsPerOne: LocationUpdate.unitsPerMeter)
    }

    /// The value of `column` in degrees; `nil` if it isn't an angle up to `limit`.
    fileprivate func degrees(_ column: Column, upTo limit: Int64) -> Double? {
        let units = Int64(LocationUpdate.unitsPerDegree)
        guard let count = self[column].integer, -limit * units...limit * units ~= count else { return nil }
        return Double(count) / LocationUpdate.unitsPerDegree
    }

    /// The value of `column` in metres or metres per second; `nil` if it has none.
    fileprivate func meters(_ column: Column) -> Double? {
        self[column].integer.map { Double($0) / LocationUpdate.unitsPerMeter }
    }
}

extension LocationUpdate {
    /// Returns `nil` if the values can't be those of a vehicle's position.
    init?(_ row: StoredRow) {
        guard let time = row[.time].integer, StoredRow.plausibleTimes.contains(time),
            let latitude = row.degrees(.latitude, upTo: 90), let longitude = row.degrees(.longitude, upTo: 180),
            [row[.altitude], row[.speed], row[.accuracy]].allSatisfy({ $0 == .null || $0.integer != nil }),
            row[.heading] == .null || 0..<360 ~= row[.heading].integer ?? -1
        else { return nil }
        self.init(
            timeOfFix: UTCTime(millisecondsSince1970: time), latitude: latitude, longitude: longitude)
        altitudeMeters = row.meters(.altitude)
        speedMetersPerSecond = row.meters(.speed)
        headingDegrees = row[.heading].integer.map { Int($0) }
        horizontalAccuracyMeters = row.meters(.accuracy)
    }
}
