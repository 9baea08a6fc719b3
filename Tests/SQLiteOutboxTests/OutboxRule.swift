import ReportedText
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// A rule that every outbox obeys. `check` tests it on an empty outbox.
struct OutboxRule: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let check: @Sendable (any Outbox) async throws -> Void

    init(_ description: String, _ check: @escaping @Sendable (any Outbox) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    static let all: [OutboxRule] = [
        OutboxRule("an empty outbox has nothing to upload") { outbox in
            let batch = try await outbox.nextBatch(maximumPastLocations: 5)
            let newest = try await outbox.newest()
            let ledger = try await outbox.ledger()
            #expect(batch == nil)
            #expect(newest == nil)
            #expect(ledger == Ledger())
        },
        OutboxRule("sequences count from 1 without gaps") { outbox in
            for second in 1...5 {
                let stored = try await outbox.append(sample(second))
                #expect(stored == StoredUpdate(sequence: Int64(second), update: sample(second)))
            }
            #expect(try await outbox.ledger() == Ledger(accepted: 5, pending: 5))
        },
        OutboxRule("the newest update goes first, with the oldest updates in order of time") { outbox in
            for second in [3, 1, 2, 9, 4] { try await outbox.append(sample(second)) }
            let batch = try #require(try await outbox.nextBatch(maximumPastLocations: 3))
            #expect(batch.last == sample(9))
            #expect(batch.lastIsPending)
            #expect(batch.past.map(\.update) == [sample(1), sample(2), sample(3)])
        },
        OutboxRule("shape points are separate updates, with the sequences just before that of their update") { outbox in
            try await outbox.append(sample(1))
            let shape = [sample(3), sample(5)]
            let stored = try await outbox.append(sample(9), with: shape, overrulingEarlier: false)
            #expect(stored == StoredUpdate(sequence: 4, update: sample(9)))
            #expect(try await outbox.ledger() == Ledger(accepted: 4, pending: 4))
            #expect(try await outbox.newest() == stored)
            let batch = try #require(try await outbox.nextBatch(maximumPastLocations: 5))
            #expect(batch.past.map(\.update) == [sample(1)] + shape)
            try await outbox.acknowledge(batch)
            #expect(try await outbox.ledger() == Ledger(accepted: 4, delivered: 4))
        },
        OutboxRule("shape points go with their update, before any backlog, which may have to wait") { outbox in
            for second in 1...5 { try await outbox.append(sample(second)) }
            try await outbox.append(sample(9), with: [sample(7), sample(8)], overrulingEarlier: false)
            func past(_ limit: Int, withBacklog: Bool) async throws -> [LocationUpdate]? {
                try await outbox.nextBatch(maximumPastLocations: limit, withBacklog: withBacklog)?.past.map(\.update)
            }
            #expect(try await past(8, withBacklog: false) == [sample(7), sample(8)])
            #expect(try await past(3, withBacklog: true) == [sample(1), sample(7), sample(8)])
            #expect(try await past(1, withBacklog: true) == [sample(7)])
            #expect(try await past(0, withBacklog: true) == [])
            let batch = try #require(try await outbox.nextBatch(maximumPastLocations: 8, withBacklog: false))
            try await outbox.acknowledge(batch)
            #expect(try await past(8, withBacklog: false) == [])
            #expect(try await past(8, withBacklog: true) == (1...5).map { sample($0) })
            // The shape points of an update that is no longer the newest are a backlog.
            try await outbox.append(sample(12), with: [sample(11)], overrulingEarlier: false)
            try await outbox.append(sample(13))
            #expect(try await past(8, withBacklog: false) == [])
        },
        OutboxRule("a delivered newest update is repeated while a backlog drains") { outbox in
            for second in 1...4 { try await outbox.append(sample(second)) }
            try await outbox.acknowledge(try #require(try await outbox.nextBatch(maximumPastLocations: 1)))
            let batch = try #require(try await outbox.nextBatch(maximumPastLocations: 5))
            #expect(batch.last == sample(4))
            #expect(!batch.lastIsPending)
            #expect(batch.pending.map(\.update) == [sample(2), sample(3)])
            #expect(try await outbox.ledger() == Ledger(accepted: 4, delivered: 2, pending: 2))
        },
        OutboxRule("an acknowledged live update is no longer pending") { outbox in
            try await outbox.append(sample(1))
            try await outbox.acknowledge(try #require(try await outbox.nextBatch(maximumPastLocations: 5)))
            #expect(try await outbox.nextBatch(maximumPastLocations: 5) == nil)
            #expect(try await outbox.ledger() == Ledger(accepted: 1, delivered: 1))
            #expect(try await outbox.newest()?.update == sample(1))
            try await outbox.append(sample(2))
            #expect(try await outbox.ledger() == Ledger(accepted: 2, delivered: 1, pending: 1))
        },
        OutboxRule("an update that overrules a wrong time is the newest, even after its delivery") { outbox in
            try await outbox.append(sample(900))
            try await outbox.acknowledge(try #require(try await outbox.nextBatch(maximumPastLocations: 5)))
            try await outbox.append(sample(5), overrulingEarlier: true)
            let batch = try #require(try await outbox.nextBatch(maximumPastLocations: 5))
            #expect(batch.last == sample(5))
            #expect(batch.lastIsPending)
            try await outbox.acknowledge(batch)
            #expect(try await outbox.newest()?.update == sample(5))
            try await outbox.append(sample(6))
            #expect(try await outbox.nextBatch(maximumPastLocations: 5)?.last == sample(6))
            #expect(try await outbox.ledger() == Ledger(accepted: 3, delivered: 2, pending: 1))
        },
        OutboxRule("a repeated acknowledgement has no effect") { outbox in
            for second in 1...3 { try await outbox.append(sample(second)) }
            let batch = try #require(try await outbox.nextBatch(maximumPastLocations: 5))
            for _ in 1...3 { try await outbox.acknowledge(batch) }
            #expect(try await outbox.ledger() == Ledger(accepted: 3, delivered: 3))
        },
        OutboxRule("a late update is never sent as the last one") { outbox in
            try await outbox.append(sample(5))
            try await outbox.acknowledge(try #require(try await outbox.nextBatch(maximumPastLocations: 5)))
            try await outbox.append(sample(3))
            let batch = try #require(try await outbox.nextBatch(maximumPastLocations: 5))
            #expect(batch.last == sample(5))
            #expect(!batch.lastIsPending)
            #expect(batch.past.map(\.update) == [sample(3)])
        },
        OutboxRule("of two updates with the same time, the one accepted later is the newest") { outbox in
            for _ in 1...2 { try await outbox.append(sample(7)) }
            #expect(try await outbox.newest()?.sequence == 2)
        },
        OutboxRule("quarantine sets an update aside, once") { outbox in
            for second in 1...3 { try await outbox.append(sample(second)) }
            let poison = StoredUpdate(sequence: 2, update: sample(2))
            for _ in 1...2 { try await outbox.quarantine(poison, reason: "400 INVALID_ARGUMENT") }
            #expect(try await outbox.ledger() == Ledger(accepted: 3, pending: 2, quarantined: 1))
            let batch = try #require(try await outbox.nextBatch(maximumPastLocations: 5))
            #expect(batch.pending.map(\.sequence) == [1, 3])
        },
        OutboxRule("a quarantined newest update is never repeated") { outbox in
            for second in [1, 2, 3] { try await outbox.append(sample(second)) }
            try await outbox.quarantine(StoredUpdate(sequence: 3, update: sample(3)), reason: "400")
            let batch = try #require(try await outbox.nextBatch(maximumPastLocations: 5))
            #expect(batch.last == sample(2))
            #expect(batch.lastIsPending)
            #expect(batch.past.map(\.update) == [sample(1)])
        },
        OutboxRule("if the newest update is quarantined, the newest delivered one is repeated") { outbox in
            try await outbox.append(sample(5))
            try await outbox.acknowledge(try #require(try await outbox.nextBatch(maximumPastLocations: 5)))
            try await outbox.append(sample(1))
            let poison = try await outbox.append(sample(9))
            try await outbox.quarantine(poison, reason: "400")
            let batch = try #require(try await outbox.nextBatch(maximumPastLocations: 5))
            #expect(batch.last == sample(5))
            #expect(!batch.lastIsPending)
            #expect(batch.past.map(\.update) == [sample(1)])
        },
        OutboxRule("a limit of 0 yields no past locations") { outbox in
            for second in 1...3 { try await outbox.append(sample(second)) }
            let batch = try #require(try await outbox.nextBatch(maximumPastLocations: 0))
            #expect(batch.pending.map(\.sequence) == [3])
        },
        OutboxRule("every rounded number is restored exactly") { outbox in
            var update = LocationUpdate(
                timeOfFix: UTCTime(millisecondsSince1970: -1), latitude: -89.9999999, longitude: -0.000_000_1)
            update.altitudeMeters = -412.31
            update.speedMetersPerSecond = 0.01
            update.horizontalAccuracyMeters = 20_000_000.01
            update.headingDegrees = 359
            try await outbox.append(update)
            #expect(try await outbox.nextBatch(maximumPastLocations: 1)?.last == update)
        },
    ]
}
