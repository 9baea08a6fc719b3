import Reporting
import LyingDisk
import ReportedText
import Testing
import TimeAndRandomness

@testable import SQLiteOutbox

/// Writing and reading of rows.
@Suite struct StoredRows {
    /// Reads the row back from its values.
    private func read(_ row: StoredRow, as sequence: Int64? = nil) -> StoredRow? {
        StoredRow(sequence ?? row.sequence) { row.values[$0] }
    }

    @Test func haveTheStandardChecksum() {
        var checksum = CRC32()
        for byte in "123456789".utf8 { checksum.update(byte) }
        #expect(checksum.value == 0xcbf4_3926)  // the check value of CRC-32/ISO-HDLC
        var chance = SplitMix64(seed: 3)
        var eightAtOnce = checksum
        for _ in 0..<100 {
            let number = Int64.random(in: .min ... .max, using: &chance)
            eightAtOnce.update(number)
            for index in 0..<8 as Range<Int64> { checksum.update(UInt8(truncatingIfNeeded: number >> (8 * index))) }
            #expect(eightAtOnce.value == checksum.value)
        }
    }

    /// Ledger, live update and ten shape points share a page of 1 KiB, which also has a header and two bytes per row.
    @Test func fitAPageWithTenShapePoints() {
        var counters = OutboxCounters(lastSequence: 20_000_011, pending: 11, delivered: 19_999_000, revision: 1_000_000)
        counters.evictions[.thinned] = UpdateTally(
            count: 1000, timesOfFix: sample(1).timeOfFix...sample(1000).timeOfFix)
        counters.newest = StoredUpdate(sequence: 20_000_011, update: sample(11))
        counters.newestDelivered = StoredUpdate(sequence: 20_000_000, update: sample(0))
        counters.lastDelivery = sample(1).timeOfFix
        let ledger = LedgerRecord(counters, oldestPending: 20_000_001).row
        let points = (1...10).map { second in
            let update = sample(second)
            let point = LocationUpdate(
                timeOfFix: update.timeOfFix, latitude: update.latitude, longitude: update.longitude)
            return UpdateRecord(
                StoredUpdate(sequence: 20_000_000 + Int64(second), update: point), isShapePoint: true)
        }
        var live = sample(11)
        live.altitudeMeters = 545.4
        let update = UpdateRecord(StoredUpdate(sequence: 20_000_011, update: live))
        let rows = [ledger] + points.map(\.row) + [update.row]
        #expect(rows.reduce(8) { $0 + 2 + $1.cell.count } <= 1024)
        #expect(update.row.cell.count == 43)
    }

    @Test func areRestoredFromTheirValues() throws {
        var chance = SplitMix64(seed: 5)
        func number(in range: ClosedRange<Int>) -> Double { Double(Int.random(in: range, using: &chance)) }
        for sequence in 1...2000 as ClosedRange<Int64> {
            var update = LocationUpdate(
                timeOfFix: UTCTime(millisecondsSince1970: .random(in: -1 << 60...1 << 60, using: &chance)),
                latitude: number(in: -900_000_000...900_000_000) / 1e7,
                longitude: number(in: -1_800_000_000...1_800_000_000) / 1e7)
            if Bool.random(using: &chance) { update.altitudeMeters = number(in: -50_000...900_000) / 100 }
            if Bool.random(using: &chance) { update.speedMetersPerSecond = number(in: 0...8000) / 100 }
            if Bool.random(using: &chance) { update.headingDegrees = .random(in: 0..<360, using: &chance) }
            if Bool.random(using: &chance) { update.horizontalAccuracyMeters = 2.5 }
            let record = UpdateRecord(
                StoredUpdate(sequence: sequence, update: update), isShapePoint: .random(using: &chance))
            #expect(read(record.row).flatMap { UpdateRecord($0) } == record)
            #expect(read(record.row, as: sequence + 1) == nil)
        }
    }

    /// Reads through SQLite, and from the bytes of the file.
    @Test func areRestoredFromTheFile() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        var update = sample(1)
        update.latitude = 48
        update.longitude = -0.0
        update.speedMetersPerSecond = 0
        update.altitudeMeters = -123_456
        _ = try outbox.append(update, with: [sample(0)])
        try outbox.quarantine(StoredUpdate(sequence: 1, update: sample(0)), reason: "400: naïve")
        _ = try outbox.maintain()
        try outbox.close()
        let again = try directory.open()
        let record = try #require(try again.store?.rows.oldest(limit: 5).first)
        #expect(record.stored.update == update && !record.isShapePoint)
        var found: [Int64: StoredRow] = [:]
        try RowScan.scan(path: directory.store, on: SystemDisk()) { found[$0.sequence] = $0 }
        #expect(found[2].flatMap { UpdateRecord($0) } == record)
        let quarantined = QuarantinedUpdate(
            stored: StoredUpdate(sequence: 1, update: sample(0)), reason: "400: naïve", isShapePoint: true)
        #expect(found[1].flatMap { QuarantinedUpdate($0) } == quarantined)
        #expect(
            found[0].flatMap { LedgerRecord($0) }?.counters.ledger == Ledger(accepted: 2, pending: 1, quarantined: 1))
    }

    @Test func areRejectedWhenAnyValueIsWrong() {
        let row = UpdateRecord(StoredUpdate(sequence: 7, update: sample(7))).row
        let values = row.values
        #expect(StoredRow(7) { values[$0] }?.values == values)
        for index in values.indices.dropFirst() {
            for change in [nil, .null, .integer(3), .text([55])] as [StoredValue?] {
                let damaged = StoredRow(7) { $0 == index ? change : values[$0] }
                #expect(change == values[index] || damaged == nil)
            }
        }
    }

    /// The limits for writing are within those for reading, so the store can read whatever it writes.
    @Test func areRestoredWithTheLargestNumbers() {
        let limit = OutboxCounters.Limit.record
        let edges = [0, 1, 2, 1 << 51, 1 << 52, limit - 1, limit]
        for sequence in edges.dropFirst() {
            let stored = StoredUpdate(sequence: sequence, update: sample(1))
            let record = UpdateRecord(stored)
            #expect(read(record.row).flatMap { UpdateRecord($0) } == record)
            let quarantined = QuarantinedUpdate(stored: stored, reason: "400")
            #expect(read(quarantined.row).flatMap { QuarantinedUpdate($0) } == quarantined)
        }
        var chance = SplitMix64(seed: 1)
        func randomNumber() -> Int64 {
            Bool.random(using: &chance)
                ? edges[Int.random(in: edges.indices, using: &chance)] : .random(in: 0...limit, using: &chance)
        }
        for _ in 0..<2000 {
            var counters = OutboxCounters(
                lastSequence: randomNumber(), pending: randomNumber(), delivered: randomNumber(),
                revision: randomNumber())
            counters.quarantined.count = randomNumber()
            for reason in EvictionReason.allCases { counters.evictions[reason].count = randomNumber() }
            for step in ThinningStep.allCases { counters.thinning.advance(step, to: randomNumber()) }
            counters.newest = StoredUpdate(sequence: randomNumber(), update: sample(7))
            counters.newestDelivered = StoredUpdate(sequence: max(1, randomNumber()), update: sample(8))
            #expect(counters.isPlausible(upTo: limit))
            let record = LedgerRecord(counters, oldestPending: randomNumber())
            #expect(read(record.row).flatMap { LedgerRecord($0) } == record)
        }
    }

    @Test func ledgerRowsAreRestoredFromTheirValues() {
        var counters = OutboxCounters(lastSequence: 1 << 40, pending: 3, delivered: 1 << 39)
        for (index, reason) in EvictionReason.allCases.enumerated() {
            counters.evictions[reason].add(sample(index).timeOfFix)
            counters.evictions[reason].add(sample(10 * index).timeOfFix)
        }
        counters.evictions[.damage].count = 4
        counters.quarantined.add(sample(77).timeOfFix)
        counters.thinning.advance(.third, to: 5000)
        counters.revision = 12_345
        counters.newestDelivered = StoredUpdate(sequence: 12, update: sample(12))
        counters.lastDelivery = sample(13).timeOfFix
        let record = LedgerRecord(counters, oldestPending: 9)
        #expect(read(record.row).flatMap { LedgerRecord($0) } == record)
        #expect(record.row.cell.count < 600, "ledger and update share a page of 1 KiB")
    }
}
