import Reporting
import TimeAndRandomness

/// A pending update, as it is stored in a row.
struct UpdateRecord: Sendable, Hashable {
    let stored: StoredUpdate
    /// Whether the update is a shape point, which shows the track up to the update that follows it.
    let isShapePoint: Bool

    init(_ stored: StoredUpdate, isShapePoint: Bool = false) {
        self.stored = stored
        self.isShapePoint = isShapePoint
    }

    /// Reads a pending update from a row. Returns `nil` if the row contains something else.
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
    /// Reads a pending or quarantined update from a row. Returns `nil` if the row contains something else.
    init?(_ row: StoredRow) {
        guard StoredRow.plausibleSequences.contains(row.sequence), let update = LocationUpdate(row) else { return nil }
        self.init(sequence: row.sequence, update: update)
    }
}

extension StoredRow {
    var isShapePoint: Bool {
        get { self[.kind] == 1 }
        set { self[.kind] = newValue ? 1 : 0 }
    }

    mutating func set(_ update: LocationUpdate) {
        self[.time] = update.timeOfFix.millisecondsSince1970
        self[.latitude] = Self.unitCount(of: update.latitude, unitsPerOne: LocationUpdate.unitsPerDegree)
        self[.longitude] = Self.unitCount(of: update.longitude, unitsPerOne: LocationUpdate.unitsPerDegree)
        self[.altitude] = Self.unitCount(of: update.altitudeMeters, unitsPerOne: LocationUpdate.unitsPerMeter)
        self[.speed] = Self.unitCount(of: update.speedMetersPerSecond, unitsPerOne: LocationUpdate.unitsPerMeter)
        self[.heading] = update.headingDegrees.map { Int64($0) }
        self[.accuracy] = Self.unitCount(of: update.horizontalAccuracyMeters, unitsPerOne: LocationUpdate.unitsPerMeter)
    }

    /// Returns `value` as a rounded number of units, of which there are `unitsPerOne` in 1. Returns `nil` if `value` is
    /// `nil` or too large.
    private static func unitCount(of value: Double?, unitsPerOne: Double) -> Int64? {
        value.flatMap { Int64(exactly: ($0 * unitsPerOne).rounded()) }
    }

    /// Returns the angle in `column` in degrees. Returns `nil` if there is none, or if it isn't between -`limit` and
    /// `limit`.
    fileprivate func degrees(_ column: Column, upTo limit: Int64) -> Double? {
        let units = Int64(LocationUpdate.unitsPerDegree)
        guard let count = self[column], -limit * units...limit * units ~= count else { return nil }
        return Double(count) / LocationUpdate.unitsPerDegree
    }

    /// Returns the value of `column` in metres, or in metres per second for a speed; `nil` for NULL.
    fileprivate func meters(_ column: Column) -> Double? {
        self[column].map { Double($0) / LocationUpdate.unitsPerMeter }
    }
}

extension LocationUpdate {
    /// Reads the position from a row. Returns `nil` if the values are impossible for a vehicle's position.
    init?(_ row: StoredRow) {
        guard let time = row[.time], StoredRow.plausibleTimes.contains(time),
            let latitude = row.degrees(.latitude, upTo: 90), let longitude = row.degrees(.longitude, upTo: 180),
            0..<360 ~= row[.heading] ?? 0
        else { return nil }
        self.init(
            timeOfFix: UTCTime(millisecondsSince1970: time), latitude: latitude, longitude: longitude)
        altitudeMeters = row.meters(.altitude)
        speedMetersPerSecond = row.meters(.speed)
        headingDegrees = row[.heading].map { Int($0) }
        horizontalAccuracyMeters = row.meters(.accuracy)
    }
}
