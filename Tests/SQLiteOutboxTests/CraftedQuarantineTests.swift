import ReportedText
import Reporting
import Testing
import TimeAndRandomness

@testable import SQLiteOutbox

/// Crafted rows in quarantine. Each of them is damage that is repaired at the start, before any request for quarantined
/// updates.
@Suite struct CraftedQuarantine {
    struct CraftedRows: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        /// The quarantined updates that a reader still shows.
        var readable: [Int64] = [4, 6, 10]

        init(_ description: String, _ sql: String, readable: [Int64] = [4, 6, 10]) {
            testDescription = description
            self.sql = sql
            self.readable = readable
        }
    }

    private static func row(_ sequence: Int64, _ change: (inout LocationUpdate) -> Void = { _ in }) -> String {
        var update = sample(4)
        change(&update)
        let stored = StoredUpdate(sequence: sequence, update: update)
        return QuarantinedUpdate(stored: stored, reason: "400").row.sql
    }

    private static func moved(
        _ update: LocationUpdate, latitude: Double, longitude: Double
    ) -> LocationUpdate {
        LocationUpdate(timeOfFix: update.timeOfFix, latitude: latitude, longitude: longitude)
    }

    // The tables are separate constants, because Swift 6.2 can't infer the type of their sum.

    /// Rows that replace update 6.
    private static let impossiblePositions: [CraftedRows] = [Double.infinity, 1e308, 180.1, -180.1].flatMap { number in
        let changes: [(String, (inout LocationUpdate) -> Void)] = [
            ("latitude", { $0 = moved($0, latitude: number, longitude: 10) }),
            ("longitude", { $0 = moved($0, latitude: 53, longitude: number) }),
        ]
        return changes.map { CraftedRows("\($0) \(number)", row(6, $1), readable: [4, 10]) }
    }

    private static let impossibleTimes: [CraftedRows] = [Int64.max, .min, (1 << 60) + 1, -(1 << 60) - 1].map { time in
        CraftedRows("time \(time)", row(6) { $0.timeOfFix = UTCTime(millisecondsSince1970: time) }, readable: [4, 10])
    }

    private static let invalidValues: [CraftedRows] = ["'text'", "1.5", "x''", "zeroblob(300000)", "NULL"].flatMap {
        value in
        ["time_ms", "latitude_e7", "altitude_cm", "checksum"].map {
            CraftedRows(
                "\($0) \(value)", "UPDATE quarantine SET \($0) = \(value) WHERE sequence = 6", readable: [4, 10])
        }
    }

    private static let impossibleSequences: [CraftedRows] = [(1 << 53) + 1, Int64.max, -1, .min].map {
        CraftedRows("sequence \($0)", row($0))
    }

    private static let sequencesBeyondTheLast: [CraftedRows] = [Int64(12), 1 << 51, 1 << 53].map {
        CraftedRows("sequence beyond the last, \($0)", row($0), readable: [4, 6, 10, $0])
    }

    private static let otherRows: [CraftedRows] = [
        CraftedRows("heading 360", row(6) { $0.headingDegrees = 360 }, readable: [4, 10]),
        CraftedRows("a row not counted", row(5), readable: [4, 5, 6, 10]),
        CraftedRows(
            "ten rows not counted", (20...29).map { row($0) }.joined(separator: ";"),
            readable: [4, 6, 10] + Array(20...29)),
        CraftedRows("also pending", "DELETE FROM quarantine WHERE sequence = 4;" + row(11), readable: [6, 10, 11]),
    ]

    private static let all: [CraftedRows] = [
        impossiblePositions, impossibleTimes, invalidValues, impossibleSequences, sequencesBeyondTheLast, otherRows,
    ].flatMap { $0 }

    @Test(arguments: all) func isRepairedAtTheStart(rows: CraftedRows) throws {
        let directory = try StoreDirectory()
        let first = try directory.open()
        for second in 1...10 { _ = try first.append(sample(second)) }
        for sequence in [4, 6, 10] as [Int64] {
            try first.quarantine(StoredUpdate(sequence: sequence, update: sample(Int(sequence))), reason: "400")
        }
        try first.deliverBatch()
        _ = try first.append(sample(11))
        try first.close()
        try directory.execute(rows.sql)

        // A reader shows the readable rows, and reports that others are unreadable.
        let found = try OutboxReader(path: directory.store).quarantined()
        #expect(found.updates.map(\.stored.sequence) == rows.readable)
        if rows.readable.count < 3 {
            #expect(found.damage == OutboxError(.damaged, path: directory.store, .rowUnreadable(6)))
        }
        // A tool leaves the repair to the service.
        var settings = directory.configuration()
        settings.repairsDamage = false
        let error = #expect(throws: OutboxError.self) { try OutboxEngine(settings) }
        #expect(error?.code == .damaged)

        let outbox = try directory.open()
        #expect(directory.recoveries.count == 1)
        #expect(try outbox.ledger().balances)
        #expect(try outbox.pendingUpdates().contains { $0.update == sample(11) })
        try outbox.close()
        // The service has repaired the quarantine.
        #expect(try OutboxReader(path: directory.store).quarantined().damage == nil)
        let tool = try OutboxEngine(settings)
        _ = try tool.carryOut(QuarantineRequest(.requeue, nil))
        _ = try tool.carryOut(QuarantineRequest(.discard, nil))
        #expect(try tool.ledger().quarantined == 0)
        try tool.close()
        let last = try directory.open()
        while try last.ledger().pending > 0 { try last.deliverBatch() }
        #expect(try last.ledger().balances)
        #expect(directory.recoveries.count == 1)
    }
}
