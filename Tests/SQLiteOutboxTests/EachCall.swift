import LyingDisk
import Reporting
import Testing

@testable import SQLiteOutbox

/// A piece of work on a store, repeated with a power cut at each of its calls to the disk.
struct EachCall {
    /// The files of the store on which the work starts.
    var files: [String: [UInt8]]
    let promises: Promises
    /// Whether opening must replace the store.
    var isDamaged = false

    /// Runs `work` with a power cut at each of its calls to the disk. Returns the number of calls.
    func cutPower(
        step: Int = 1, _ work: (StoreDirectory, LyingDisk, inout Promises) throws -> Void
    ) throws -> Int {
        for number in stride(from: 1, to: 100_000, by: step) {
            let directory = try StoreDirectory()
            for (name, bytes) in files { try directory.write(bytes, to: name) }
            let disk = directory.lyingDisk(seed: UInt64(number))
            disk.schedule(DiskFault(.powerCut, at: number))
            var promises = promises
            do { try work(directory, disk, &promises) } catch let error as OutboxError {
                try #require(disk.isOff, "call \(number): the work failed before the power cut: \(error)")
            }
            guard disk.isOff else { return number - 1 }
            disk.powerOn()
            let before = directory.recoveries
            let outbox = try directory.open(on: disk)
            try promises.check(outbox, isReopened: true)
            if !isDamaged { try #require(directory.recoveries == before, "call \(number): a power cut isn't damage") }
            try promises.append(sample(86_000), to: outbox)
        }
        return 100_000
    }

    /// Returns a store that was used and closed.
    static func closedStore(rows: Int) throws -> EachCall {
        let directory = try StoreDirectory()
        var promises = Promises()
        let outbox = try directory.open()
        for second in 1...rows { try promises.append(sample(second), to: outbox) }
        for _ in 1...3 { try promises.deliver(from: outbox, maximumPastLocations: rows / 10) }
        try outbox.close()
        return EachCall(files: ["outbox.sqlite": try directory.read("outbox.sqlite")], promises: promises)
    }

    /// Returns a store that accepted `rows` updates, of which the last `pending` are still pending.
    static func backlog(rows: Int, pending: Int) throws -> EachCall {
        let directory = try StoreDirectory()
        try directory.buildBacklog(rows)
        let outbox = try directory.open()
        while try outbox.ledger().pending > Int64(pending) {
            let count = min(3000, Int(try outbox.ledger().pending) - pending)
            try outbox.deliverBatch(maximumPastLocations: count)
        }
        var promises = Promises(accepted: Int64(rows))
        try promises.adopt(outbox)
        try outbox.close()
        return EachCall(files: ["outbox.sqlite": try directory.read("outbox.sqlite")], promises: promises)
    }
}
