import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

@testable import LyingDisk

/// A directory on a lying disk, removed when this object is released.
private final class Bench {
    private let temporary: TemporaryDirectory
    let disk: LyingDisk

    init(seed: UInt64 = 1) throws {
        temporary = try TemporaryDirectory()
        disk = LyingDisk(directory: temporary.url.path, seed: seed)
    }

    var directory: String { temporary.url.path }
    var database: String { directory + "/a.sqlite" }

    func open() throws -> Database { try Database(database, on: disk) }
}

@Suite struct LyingDiskConduct {
    @Test func keepsSynchronizedBytesAndMayLoseTheRest() throws {
        let bench = try Bench()
        var counts: Set<Int64> = []
        for round in 1...20 {
            if let database = try? bench.open() {
                try? database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
                try? database.execute("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY)")
                try? database.execute("INSERT INTO rows VALUES (\(round * 100))")
                try? database.execute("PRAGMA synchronous = OFF; INSERT INTO rows VALUES (\(round * 100 + 1))")
                bench.disk.powerCut()
            }
            bench.disk.powerOn()
            let database = try bench.open()
            #expect(try database.integer("SELECT count(*) FROM rows WHERE id = \(round * 100)") == 1)
            counts.insert(try database.integer("SELECT count(*) FROM rows WHERE id = \(round * 100 + 1)"))
        }
        #expect(counts == [0, 1])
    }

    @Test func failsEveryCallWhileThePowerIsOff() throws {
        let bench = try Bench()
        let database = try bench.open()
        try database.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY); INSERT INTO rows VALUES (1)")
        bench.disk.powerCut()
        let before = try FileSystem.read(100_000, at: 0, of: bench.database)
        #expect(throws: DatabaseError.self) { try database.execute("INSERT INTO rows VALUES (2)") }
        #expect(throws: DatabaseError.self) { try bench.open().execute("SELECT * FROM rows") }
        #expect(throws: SystemError.self) { try bench.disk.entry(at: bench.database) }
        #expect(throws: SystemError.self) { try bench.disk.rename(bench.database, to: bench.database + "2") }
        #expect(try FileSystem.read(100_000, at: 0, of: bench.database) == before)
        bench.disk.powerOn()
        #expect(try bench.open().integer("SELECT count(*) FROM rows") == 1)
    }

    @Test(arguments: [0.0, 1.0])
    func keepsOrUndoesNameChangesThatWereNotSynchronized(share: Double) throws {
        let bench = try Bench()
        let (one, two, three) = (bench.directory + "/one", bench.directory + "/two", bench.directory + "/three")
        for path in [one, two] { try bench.disk.createFile(at: path) }
        try bench.disk.synchronizeDirectory(at: bench.directory)
        try bench.disk.rename(one, to: two)
        try bench.disk.createFile(at: three)
        bench.disk.powerCut(keeping: share)
        bench.disk.powerOn()
        let names = try FileSystem.names(inDirectory: bench.directory).sorted()
        #expect(names == (share == 0 ? ["one", "two"] : ["three", "two"]))
    }

    @Test func rejectsWritesBeyondItsCapacityUntilHealed() throws {
        let bench = try Bench()
        let database = try bench.open()
        try database.execute("CREATE TABLE rows (body BLOB)")
        bench.disk.capacity = 64 * 1024
        let error = #expect(throws: DatabaseError.self) {
            for _ in 1...100 { try database.execute("INSERT INTO rows VALUES (zeroblob(4000))") }
        }
        #expect(error?.code == 13)  // SQLITE_FULL
        #expect(throws: SystemError.self) { try bench.disk.reserve(64 * 1024, at: bench.directory + "/reserve") }
        bench.disk.heal()
        try database.execute("INSERT INTO rows VALUES (zeroblob(100000))")
    }

    @Test func failsTheChosenCallOnceOrForever() throws {
        let bench = try Bench()
        let database = try bench.open()
        try database.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY)")
        bench.disk.schedule(DiskFault(.error(DiskErrno.inputOutput), at: 1, of: .sync))
        #expect(throws: DatabaseError.self) { try database.execute("INSERT INTO rows VALUES (1)") }
        try database.execute("INSERT INTO rows VALUES (2)")
        #expect(bench.disk.faults.isEmpty)
        bench.disk.schedule(DiskFault(.error(DiskErrno.noSpace), at: 1, of: .write, lasts: true))
        for _ in 1...3 {
            let error = #expect(throws: DatabaseError.self) { try database.execute("INSERT INTO rows VALUES (3)") }
            #expect(error?.code == 13)
        }
        bench.disk.heal()
        try database.execute("INSERT INTO rows VALUES (3)")
    }

    @Test func rejectsWritesWhileReadOnly() throws {
        let bench = try Bench()
        try bench.open().execute("CREATE TABLE rows (id INTEGER PRIMARY KEY)")
        bench.disk.isReadOnly = true
        let database = try bench.open()
        #expect(try database.integer("SELECT count(*) FROM rows") == 0)
        #expect(throws: DatabaseError.self) { try database.execute("INSERT INTO rows VALUES (1)") }
        #expect(throws: SystemError.self) { try bench.disk.createFile(at: bench.directory + "/new") }
    }

    @Test func givesTheSameResultForTheSameSeed() throws {
        func files(seed: UInt64) throws -> [UInt8] {
            let bench = try Bench(seed: seed)
            let database = try bench.open()
            try database.execute("CREATE TABLE rows (body BLOB); PRAGMA synchronous = OFF")
            for byte in 1...9 { try database.execute("INSERT INTO rows VALUES (zeroblob(\(byte * 1000)))") }
            bench.disk.powerCut(keeping: 0.5)
            return try FileSystem.read(1_000_000, at: 0, of: bench.database)
        }
        #expect(try files(seed: 5) == files(seed: 5))
        #expect(try files(seed: 5) != files(seed: 6))
    }

    @Test func handlesThousandsOfCommits() throws {
        let bench = try Bench()
        let database = try bench.open()
        try database.execute("PRAGMA journal_mode = WAL; CREATE TABLE rows (id INTEGER PRIMARY KEY)")
        for _ in 1...3000 { try database.execute("INSERT INTO rows VALUES (NULL)") }
        #expect(bench.disk.counts[.sync, default: 0] >= 3000)
    }
}
