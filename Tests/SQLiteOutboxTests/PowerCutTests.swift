import FoundationEssentials
import LyingDisk
import Testing
import WaypostTestSupport

@testable import SQLiteOutbox

/// `make power-test` sets the number of cuts.
@Suite(.enabled(if: !Sanitizer.isActive, "computes for a long time on one thread"))
struct PowerCuts {
    private static let cuts = ProcessInfo.processInfo.environment["POWER_CUTS"].flatMap { Int($0) }

    /// Runs two thirds of the cuts, with full durability.
    @Test func loseNoUpdates() throws {
        try cutPower(times: Self.cuts.map { $0 - $0 / 3 } ?? 80, durability: .full)
    }

    /// Runs a third of the cuts, with economic durability.
    @Test func loseAtMostTheUpdatesOfAWindow() throws {
        try cutPower(times: Self.cuts.map { $0 / 3 } ?? 40, durability: .economy)
    }

    private func cutPower(times count: Int, durability: OutboxDurability) throws {
        var remaining = count
        var cuts = 0
        var accepted = Int64(0)
        var repeated = 0
        var lost = 0
        while remaining > 0 {
            var trial = try PowerTrial(seed: UInt64(remaining), durability: durability)
            try trial.run(cuts: min(remaining, 40))
            remaining -= 40
            cuts = cuts + trial.cuts
            accepted = accepted + trial.accepted
            repeated = repeated + trial.repeated
            lost += trial.lost
        }
        print("power cuts, \(durability): \(cuts); accepted \(accepted), lost \(lost), repeated \(repeated)")
    }

    /// A disk that ignores syncs fails the trial, which shows that the trial works.
    @Test func loseUpdatesOnADiskThatIgnoresSyncs() throws {
        var trial = try PowerTrial(seed: 1)
        trial.disk.ignoresSync = true
        #expect(throws: BrokenPromise.self) { try trial.run(cuts: 40) }
    }

    @Test func cutsDuringTheFirstOpeningLeaveAWorkingStore() throws {
        let calls = try EachCall(files: [:], promises: Promises()).cutPower { directory, disk, promises in
            let outbox = try directory.open(on: disk)
            try promises.append(sample(1), to: outbox)
            try outbox.close()
        }
        #expect(calls > 10)
    }

    @Test func cutsDuringAReplacementLoseNoUpdates() throws {
        var store = try EachCall.closedStore(rows: 300)
        store.isDamaged = true
        store.files["outbox.sqlite"]?.replaceSubrange(0..<1024, with: repeatElement(0, count: 1024))
        let calls = try store.cutPower { directory, disk, _ in
            let outbox = try directory.open(on: disk)
            #expect(directory.recoveries.count == 1)
            try outbox.close()
        }
        #expect(calls > 10)
    }

    @Test func cutsDuringACheckpointLoseNoUpdates() throws {
        let calls = try EachCall.closedStore(rows: 200).cutPower(step: 3) { directory, disk, promises in
            let outbox = try directory.open(on: disk)
            for second in 1...60 { try promises.append(sample(90_000 + second), to: outbox) }
            try outbox.close()
        }
        #expect(calls > 150)
    }

    @Test func cutsDuringACompactionLoseNoUpdates() throws {
        let backlog = try EachCall.backlog(rows: 28_000, pending: 1500)
        let calls = try backlog.cutPower(step: Self.cuts == nil ? 97 : 7) { directory, disk, promises in
            let outbox = try directory.open(on: disk)
            let before = disk.counts[.truncate, default: 0]
            try promises.deliver(from: outbox, maximumPastLocations: 1400)
            try outbox.close()
            #expect(disk.isOff || disk.counts[.truncate, default: 0] > before, "the file is compacted")
        }
        #expect(calls > 200)
    }
}
