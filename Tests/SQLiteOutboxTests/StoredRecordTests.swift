import LyingDisk
import ReportedText
import Reporting
import Testing
import TimeAndChance

@testable import SQLiteOutbox

@Suite struct StoredRecord {
    @Test func hasTheChecksumOfTheCatalogue() {
        var checksum = CRC32()
        checksum.update("123456789".utf8)
        #expect(checksum.value == 0xcbf4_3926)  // the check value of CRC-32/ISO-HDLC
    }

    @Test func isSmallAsReceiversStatePositions() {
        var update = LocationUpdate(
            timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 48.117_321_9, longitude: 11.516_666_6)
        update.speedMetersPerSecond = 12.345
        update.headingDegrees = 271
        update.altitudeMeters = 545.4
        update.horizontalAccuracyMeters = 2.5
        let stored = StoredUpdate(sequence: 1_000_000, update: update)
        #expect(UpdateRecord(stored, newestSequence: 1_000_000).bytes.count == 33)
    }

    @Test func comesBackFromItsBytes() throws {
        var chance = SplitMix64(seed: 5)
        for sequence in 1...2000 as ClosedRange<Int64> {
            var update = LocationUpdate(
                timeOfFix: UTCTime(millisecondsSince1970: .random(in: -1 << 60...1 << 60, using: &chance)),
                latitude: .random(in: -90...90, using: &chance), longitude: .random(in: -180...180, using: &chance))
            if Bool.random(using: &chance) { update.latitude = (update.latitude * 1e7).rounded() / 1e7 }
            if Bool.random(using: &chance) { update.altitudeMeters = .random(in: -500...9000, using: &chance) }
            if Bool.random(using: &chance) { update.speedMetersPerSecond = .random(in: 0...80, using: &chance) }
            if Bool.random(using: &chance) { update.headingDegrees = .random(in: 0..<360, using: &chance) }
            if Bool.random(using: &chance) { update.horizontalAccuracyMeters = 2.5 }
            let stored = StoredUpdate(sequence: sequence, update: update)
            let record = UpdateRecord(stored, newestSequence: .random(in: 1...sequence, using: &chance))
            #expect(UpdateRecord(record.bytes[...], sequence: sequence) == record)
            #expect(UpdateRecord(record.bytes[...], sequence: sequence + 1) == nil)
        }
    }

    @Test func isRefusedWhenAnyByteIsWrong() {
        let stored = StoredUpdate(sequence: 7, update: sample(7))
        let bytes = UpdateRecord(stored, newestSequence: 7).bytes
        for index in bytes.indices {
            for change in [0x01, 0x80, 0xff] as [UInt8] {
                var damaged = bytes
                damaged[index] ^= change
                #expect(UpdateRecord(damaged[...], sequence: 7) == nil)
            }
        }
        for count in 0..<bytes.count { #expect(UpdateRecord(bytes[..<count], sequence: 7) == nil) }
    }

    /// Whatever the store writes it can read: the bounds of the one lie within those of the other.
    @Test func comesBackWithTheLargestNumbers() {
        let limit = OutboxCounters.Limit.record
        let edges = [0, 1, 2, 1 << 51, 1 << 52, limit - 1, limit]
        for sequence in edges.dropFirst() {
            let stored = StoredUpdate(sequence: sequence, update: sample(1))
            for newest in edges {
                let record = UpdateRecord(stored, newestSequence: newest)
                #expect(UpdateRecord(record.bytes[...], sequence: sequence) == record)
            }
            let quarantined = QuarantinedUpdate(stored: stored, reason: "400")
            #expect(QuarantinedUpdate(quarantined.bytes[...], sequence: sequence) == quarantined)
        }
        var chance = SplitMix64(seed: 1)
        func any() -> Int64 {
            Bool.random(using: &chance)
                ? edges[Int.random(in: edges.indices, using: &chance)] : .random(in: 0...limit, using: &chance)
        }
        for _ in 0..<2000 {
            var counters = OutboxCounters(lastSequence: any(), pending: any(), delivered: any(), revision: any())
            counters.quarantined.count = any()
            for reason in EvictionReason.allCases { counters.evictions[reason].count = any() }
            for step in ThinningStep.allCases { counters.thinning.advance(step, to: any()) }
            counters.newest = StoredUpdate(sequence: any(), update: sample(7))
            counters.newestDelivered = StoredUpdate(sequence: max(1, any()), update: sample(8))
            #expect(counters.isPlausible(upTo: limit))
            let record = LedgerRecord(counters, oldestPending: any())
            #expect(LedgerRecord(record.bytes[...]) == record)
        }
    }

    @Test func ofTheLedgerComesBackFromItsBytes() {
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
        let record = LedgerRecord(counters, oldestPending: 9)
        #expect(LedgerRecord(record.bytes[...]) == record)
        #expect(record.bytes.count < 400, "ledger and update share a page of 1 KiB")
    }
}
