import Conditions
import FleetEngine
import FleetEngineSimulator
import FoundationEssentials
import GNSS
import Glibc
import LinuxPlatform
import ReceiverSimulator
import StrictJSON
import ReportedText
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import SQLiteOutbox

/// `waypost run` as a process, with a receiver on a pseudo-terminal and Fleet Engine on loopback.
@Suite(.serialized, .timeLimit(.minutes(2))) struct RunningService {
    /// An old log isn't a live receiver, so the run ends with an error that names the command for logs.
    @Test func rejectsAnOldLogOnStandardInput() async throws {
        let bench = try ServiceBench()
        let file = try bench.configure { $0.receiver = #"{"type": "stdin"}"# }
        let outcome = try await ChildProcess(
            arguments: [
                "/bin/sh", "-c", "cat \"$1\" | \"$0\" run --config \"$2\"", BuiltProgram.waypost,
                Fixtures.url("nmea/town.nmea").path, file,
            ], environment: ["PATH": "/usr/bin:/bin"].merging(BuiltProgram.environment) { $1 },
            timeLimit: BuiltProgram.hangTimeout, outputLimit: 1 << 20
        ).run()
        let words = String(decoding: outcome.standardError, as: UTF8.self)
        #expect(outcome.ending == .exited(65), "\(words)")
        #expect(
            words.contains(
                "standard input has ended, but none of its fixes was accepted: \(Condition(.dateTooEarly).line); for a recorded log, use waypost replay LOG or receiver.type file"
            ), "\(words)")
        withExtendedLifetime(bench) {}
    }

    /// After a restart, an implausible first position is rejected, and the true one that follows is accepted.
    @Test func judgesItsFirstFixByTheStoredPosition() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let epochs = Array(RecentDrive(epochs: 6))
        for (life, expected) in [epochs[..<3], epochs[3...]].enumerated() {
            let service = try bench.start()
            try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
            if life == 1 {
                var wild = try #require(epochs[2].truth)
                wild.timeOfFix = wild.timeOfFix.advanced(by: .seconds(1))
                let degrees = Int(abs(wild.latitude)) - 1
                let clock = "\(wild.timeOfFix)".dropFirst(11).prefix(8).filter { $0 != ":" }
                let date = "\(wild.timeOfFix)".prefix(10).split(separator: "-")
                let place = "\(degrees)30.0000,N,01130.0000,E"
                try receiver.send(
                    Array(
                        sentence("GPRMC,\(clock).00,A,\(place),,,\(date[2])\(date[1])\(date[0].suffix(2)),,,A")
                            .utf8))
                let address = try await service.statusAddress()
                var isRejected = false
                while !isRejected && !Task.isCancelled {
                    let metrics = await RawExchange.get("/metrics", from: address).text
                    isRejected = metrics.contains("waypost_fixes_rejected_total{reason=\"jump\"} 1\n")
                }
            }
            for epoch in expected {
                try receiver.send(epoch)
                try #require(await bench.arrival(of: epoch) != nil)
            }
            #expect(await service.terminate().ending == .exited(0))
        }
    }

    @Test func deliversEveryAcceptedUpdateDespiteFaults() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start()
        let epochs = Array(RecentDrive(epochs: 50))
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        for epoch in epochs[..<15] {
            try receiver.send(epoch)
            try #require(await bench.arrival(of: epoch) != nil)
        }

        receiver.unplug()
        try #require(await service.errors.line(saying: "Waypost reconnects") != nil)
        try receiver.plugIn()
        try #require(await service.errors.line(saying: "waiting for the first sentence", times: 2) != nil)
        for epoch in epochs[15..<25] {
            try receiver.send(epoch)
            try #require(await bench.arrival(of: epoch) != nil)
        }

        await bench.simulator.beginOutage()
        for (number, epoch) in zip(26..., epochs[25...]) {
            try receiver.send(epoch)
            try #require(await service.errors.line(saying: "accepted update \(number)") != nil)
        }
        try #require(await service.errors.line(saying: "next attempt in") != nil)
        let before = bench.arrivals.lines.count
        await bench.simulator.endOutage()
        try #require(await deliveries(of: service, reach: 50))
        let newest = "\"time\":\"\(epochs[49].time)\""
        // A request that was in progress at the end of the outage may have been made before the newest update was
        // accepted.
        let lasts = bench.arrivals.lines[before...].filter { $0.text.contains("\"kind\":\"last\"") }
        #expect(lasts.prefix(2).contains { $0.text.contains(newest) }, "the live position is not the first")

        #expect(await service.terminate().ending == .exited(0))
        let vehicle = try #require(await bench.vehicle)
        #expect(vehicle.fixTimes.map(\.description) == epochs.map(\.time.description))
        #expect(vehicle.order.lastLocationsBackInTime == 0 && vehicle.order.pastLocationsOutOfOrder == 0)
        #expect(vehicle.locationsWithoutTime == 0)
        let listing = try await BuiltProgram.run(
            ["outbox", "list", "--json", "--config", bench.directory.path("config.json")])
        let ledger = try JSONValue(parsing: listing.standardOutput)
        #expect(ledger["accepted"]?.integerValue == 50 && ledger["delivered"]?.integerValue == 50)
        #expect(ledger["pending"]?.integerValue == 0 && ledger["balances"]?.boolValue == true)
    }

    @Test func deliversUpdatesAcceptedBeforeItWasKilled() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let epochs = Array(RecentDrive(epochs: 12))
        await bench.simulator.beginOutage()
        do {
            let service = try bench.start()
            try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
            for (number, epoch) in zip(1..., epochs) {
                try receiver.send(epoch)
                try #require(await service.errors.line(saying: "accepted update \(number)") != nil)
            }
            service.signal(SIGKILL)
            #expect(await service.end() == .signalled(SIGKILL))
        }
        await bench.simulator.endOutage()
        let service = try bench.start()
        try #require(await deliveries(of: service, reach: 12))
        #expect(await bench.vehicle?.fixTimes.map(\.description) == epochs.map(\.time.description))
        #expect(await bench.vehicle?.order.lastLocationsBackInTime == 0)
        #expect(await service.terminate().ending == .exited(0))
    }

    @Test func survivesATokenEndpointThatAnswersWithAPage() async throws {
        let bench = try ServiceBench()
        let backend = try TokenBackend(of: bench.simulator, pages: 1)
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start {
            $0.tokenURL = backend.url
            $0.level = "info"
        }
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        for epoch in RecentDrive(epochs: 3) {
            try receiver.send(epoch)
            try #require(await bench.arrival(of: epoch) != nil)
        }
        #expect(service.errors.text.contains("gave a page (HTML or XML), not a token"))
        await service.errors.line(saying: "delivery works again")
        #expect(await service.terminate().ending == .exited(0))
    }

    @Test(.enabled(if: TinyFileSystem.isAllowed, "mounting a small file system needs root"))
    func keepsReportingWhileTheDiskIsFull() async throws {
        let bench = try ServiceBench()
        let disk = try TinyFileSystem(at: bench.directory.path("disk"), megabytes: 2)
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start { $0.outbox = "disk/outbox.sqlite" }
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        await bench.simulator.beginOutage()
        var drive = RecentDrive(epochs: 2000)
        var accepted: [DriveEpoch] = []
        var refused: DriveEpoch?
        try disk.fill()
        while refused == nil, let epoch = drive.next() {
            try receiver.send(epoch)
            let (stored, lost) = ("accepted update \(accepted.count + 1) of", "sending from memory only")
            try #require(
                await service.errors.wait { lines in
                    lines.contains { $0.text.contains(stored) || $0.text.contains(lost) }
                })
            if service.errors.text.contains(lost) { refused = epoch } else { accepted.append(epoch) }
        }
        let unstored = try #require(refused)
        await bench.simulator.endOutage()
        #expect(await bench.arrival(of: unstored) != nil, "the live position does not arrive")
        for epoch in accepted { #expect(await bench.arrival(of: epoch) != nil) }
        try disk.free()
        let following = drive.next()
        let next = try #require(following)
        try receiver.send(next)
        #expect(await service.errors.line(saying: "accepted update \(accepted.count + 1)") != nil)
        #expect(await bench.arrival(of: next) != nil)
        #expect(await service.terminate().ending == .exited(0))
    }

    /// While a backup or a user with `sqlite3` locks the outbox, positions arrive in time. They are stored once the
    /// lock is released.
    @Test func keepsReportingWhileAnotherProgramLocksTheOutbox() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start()
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        let epochs = Array(RecentDrive(epochs: 8))
        try receiver.send(epochs[0])
        try #require(await service.errors.line(saying: "accepted update 1") != nil)
        do {
            let other = try SQLiteConnection(path: bench.directory.path("outbox.sqlite"), access: .readWrite)
            try other.execute("BEGIN IMMEDIATE")
            for epoch in epochs[1...6] {
                try receiver.send(epoch)
                #expect(await bench.arrival(of: epoch) != nil, "the position doesn't arrive from memory")
            }
            try other.execute("ROLLBACK")
        }
        #expect(service.errors.text.contains("another program has locked the outbox"))
        #expect(!service.errors.text.contains("disk"), "the disk is not to blame")
        try #require(await service.errors.line(saying: "accepted update 7") != nil)
        try receiver.send(epochs[7])
        try #require(await service.errors.line(saying: "accepted update 8") != nil)
        try #require(await deliveries(of: service, reach: 8))
        #expect(await bench.vehicle?.order.lastLocationsBackInTime == 0)
        #expect(await service.terminate().ending == .exited(0))
    }

    /// If the outbox can't be opened, positions are reported anyway. The outbox is used once it can be opened.
    @Test(
        .enabled(if: TinyFileSystem.isAllowed, "mounting a small file system needs root"),
        arguments: ["read-only", "a directory"])
    func startsWithoutItsOutbox(problem: String) async throws {
        let bench = try ServiceBench()
        let disk = try TinyFileSystem(at: bench.directory.path("disk"), megabytes: 2)
        let store = bench.directory.path("disk/outbox.sqlite")
        switch problem {
        case "read-only": try disk.setReadOnly(true)
        default: try FileSystem.createDirectory(at: store)
        }
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start { $0.outbox = "disk/outbox.sqlite" }
        try #require(await service.errors.line(saying: "; sending from memory only") != nil)
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        var drive = RecentDrive(epochs: 2000)
        for _ in 1...3 {
            let following = drive.next()
            let epoch = try #require(following)
            try receiver.send(epoch)
            try #require(await bench.arrival(of: epoch) != nil)
        }
        switch problem {
        case "read-only": try disk.setReadOnly(false)
        default: try FileManager.default.removeItem(atPath: store)
        }
        while !service.errors.text.contains("outbox accepts updates again"), let epoch = drive.next() {
            try receiver.send(epoch)
            try #require(await bench.arrival(of: epoch) != nil)
        }
        #expect(await service.terminate().ending == .exited(0))
        #expect(service.errors.text.contains("accepted update 1"))
    }

    /// The process was killed, and its log was deleted.
    @Test func reportsAnOutboxWithoutItsLog() async throws {
        let bench = try ServiceBench()
        let path = bench.directory.path("killed.sqlite")
        let killed = OutboxConfiguration(path: path, maximumBytes: 1 << 20)
        for minute in 1...2 {
            let outbox = try await SQLiteOutbox.open(killed)
            let time = UTCTime.system.advanced(by: .seconds(minute * 60 - 600))
            _ = try await outbox.append(LocationUpdate(timeOfFix: time, latitude: 50, longitude: 10))
            _ = try await outbox.maintain()
            if minute == 2 {
                for suffix in ["", ".count"] {
                    try FileManager.default.copyItem(
                        atPath: path + suffix, toPath: bench.directory.path("outbox.sqlite" + suffix))
                }
            }
            try await outbox.close()
        }
        let service = try bench.start()
        #expect(await service.errors.line(saying: "outbox rolled back to an older state") != nil)
        let answer = await RawExchange.get("/status", from: try await service.statusAddress())
        let conditions = try JSONValue(parsing: Array(answer.body.utf8))["conditions"]?.arrayValue
        #expect(conditions?.contains { $0["code"]?.stringValue == "outbox_too_old" } == true, "\(answer.body)")
        #expect(await service.terminate().ending == .exited(0))
    }

    /// The newer release may be installed again, so the file with its updates is left unchanged.
    @Test func sendsFromMemoryIfTheOutboxIsOfANewerRelease() async throws {
        let bench = try ServiceBench()
        let store = bench.directory.path("outbox.sqlite")
        try await SQLiteOutbox.open(OutboxConfiguration(path: store, maximumBytes: 1 << 20)).close()
        do {
            let newer = try SQLiteConnection(path: store, access: .readWrite)
            try newer.execute("CREATE TABLE tracks (id); PRAGMA user_version = 99")
        }
        let before = try Data(contentsOf: URL(filePath: store))
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start()
        let words = "\(store): written by a newer release (its schema version is 99"
        try #require(await service.errors.line(saying: words) != nil)
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        for epoch in RecentDrive(epochs: 3) {
            try receiver.send(epoch)
            #expect(await bench.arrival(of: epoch) != nil)
        }
        #expect(await service.terminate().ending == .exited(0))
        #expect(try Data(contentsOf: URL(filePath: store)) == before)
        #expect(!FileManager.default.fileExists(atPath: store + "-wal"))
    }

    /// Waits until the service has logged the delivery of `count` updates. Returns `false` if that doesn't happen in
    /// time.
    private func deliveries(of service: RunningProgram, reach count: Int) async -> Bool {
        await service.errors.wait { lines in
            lines.reduce(0) { sum, line in
                let number = line.text.firstMatch(of: /debug: delivered (\d+) updates? in/)?.output.1
                return sum + (number.flatMap { Int($0) } ?? 0)
            } >= count
        }
    }
}
