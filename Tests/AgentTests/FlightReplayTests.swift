import FleetEngineSimulator
import FoundationEssentials
import Glibc
import LinuxPlatform
import ReceiverSimulator
import StrictJSON
import Testing
import WaypostTestSupport

@testable import Waypost

/// Which decisions count as the same.
@Suite struct FlightComparing {
    static func accepted(_ number: Int64, _ time: String, at: Int = 0) -> FlightEntry {
        FlightEntry(at: at).with(\.accepted, number).with(\.timeOfFix, time)
    }
    static func waiting(_ delay: Int, _ reason: String = "retry", at: Int = 0) -> FlightEntry {
        FlightEntry(at: at).with(\.waiting, delay).with(\.reason, reason)
    }

    /// Recorded, replayed, and the differences, as `kind number recorded|replayed`.
    @Test(
        arguments: [
            ([accepted(1, "a"), waiting(10)], [waiting(10), accepted(1, "a")], []),  // each kind by itself
            ([accepted(41, "a"), accepted(42, "b")], [accepted(1, "a"), accepted(2, "b")], []),
            ([accepted(1, "a")], [accepted(1, "b")], ["updates 1 accepted, fix of a|accepted, fix of b"]),
            ([waiting(10), waiting(20)], [waiting(10)], ["waits 2 20 ms (retry)|none"]),
            ([waiting(1000)], [waiting(1240)], []),  // threads are not as fast each time
            ([waiting(1000)], [waiting(1260)], ["waits 1 1000 ms (retry)|1260 ms (retry)"]),
            ([waiting(20_000)], [waiting(22_000)], []),
            ([waiting(10)], [waiting(10, "hold")], ["waits 1 10 ms (retry)|10 ms (hold)"]),
            ([waiting(10)], [waiting(10), waiting(30)], ["waits 2 none|30 ms (retry)"]),
            ([waiting(10)], [waiting(10), waiting(30, at: 1001)], []),  // after the recording's end
            ([waiting(10, at: 999)], [waiting(10, at: 1500)], []),  // late, and yet the same
            (
                [accepted(41, "a"), FlightEntry(at: 0).with(\.quarantined, 41)],
                [accepted(1, "a"), FlightEntry(at: 0).with(\.quarantined, 1)], []
            ),
            (
                [FlightEntry(at: 0).with(\.notStored, "full")], [accepted(1, "a")],
                ["updates 1 not stored (full)|accepted, fix of a"]
            ),
        ] as [([FlightEntry], [FlightEntry], [String])])
    func tellsDifferences(recorded: [FlightEntry], replayed: [FlightEntry], differences: [String]) {
        let comparison = FlightComparison(recorded: recorded, replayed: replayed, end: 1000)
        let found = comparison.kinds.flatMap { kind in
            kind.differences.map { "\(kind.name) \($0.number) \($0.recorded ?? "none")|\($0.replayed ?? "none")" }
        }
        #expect(found == differences)
        #expect(comparison.isEqual == differences.isEmpty)
    }
}

/// A run of the real service is recorded, and played again with nobody there.
@Suite(.serialized, .timeLimit(.minutes(2))) struct FlightReplaying {
    /// Drives through an outage and a refused token, and gives the folder with the recording.
    static func record(_ bench: ServiceBench) async throws -> String {
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let place = bench.folder.path("flight")
        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", try bench.configure(), "--record", place],
            environment: BuiltProgram.environment)
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        for (number, epoch) in zip(1..., RecentDrive(epochs: 24)) {
            if number == 9 { await bench.simulator.beginOutage() }
            if number == 17 { await bench.simulator.endOutage() }
            try receiver.send(epoch)
            try #require(await service.errors.line(saying: "accepted update \(number)") != nil)
            if !(9..<17).contains(number) { try #require(await bench.arrival(of: epoch) != nil) }
            if number == 16 { try #require(await service.errors.line(saying: "next attempt in", times: 5) != nil) }
        }
        #expect(await service.terminate().ending == .exited(0))
        return place
    }

    @Test func decidesAsRecordedWithNobodyThere() async throws {
        let bench = try ServiceBench(faults: [("--token-outage", "2")])
        let place = try await Self.record(bench)
        let config = try bench.configure { $0 = ServiceSetup() }  // nobody answers there
        let words = ["replay", place, "--config", config, "--speed", "1", "--json"]
        let outcome = try await BuiltProgram.run(words)
        let said = String(decoding: outcome.standardOutput, as: UTF8.self)
        #expect(outcome.ending == .exited(0), "\(said)")
        let page = try JSONValue(parsing: outcome.standardOutput)
        let kinds = try #require(page["decisions"]?.arrayValue)
        #expect(kinds[0]["recorded"]?.integerValue == 24 && kinds[0]["replayed"]?.integerValue == 24)
        #expect(kinds[1]["recorded"]?.integerValue ?? 0 >= 5)

        // Another setup decides otherwise, and the replay says where.
        let other = try bench.configure {
            $0 = ServiceSetup()
            $0.retryDelay = 60
        }
        let differing = try await BuiltProgram.run(["replay", place, "--config", other, "--speed", "1"])
        #expect(differing.ending == .exited(1))
        let text = String(decoding: differing.standardOutput, as: UTF8.self)
        #expect(text.contains("updates: 24 recorded, 24 replayed, as recorded") && text.contains("differ"), "\(text)")

        // As ever, the receiver's part is a log.
        let fixes = try await BuiltProgram.run(["fixes", place + "/receiver-000001.nmea"])
        #expect(String(decoding: fixes.standardOutput, as: UTF8.self).split(separator: "\n").count == 24)
        // And nothing in it is secret.
        let lines = try String(contentsOf: URL(filePath: place + "/flight-000001.jsonl"), encoding: .utf8)
        #expect(!lines.contains("eyJ") && !lines.contains("Bearer") && !lines.contains("latitude"))
    }

    @Test func takesARecordingThatAPowerCutEnded() async throws {
        let bench = try ServiceBench()
        let place = try await Self.record(bench)
        let path = place + "/flight-000001.jsonl"
        let whole = Array(try Data(contentsOf: URL(filePath: path)))
        let torn = Array(whole.prefix(whole.count * 2 / 3))
        _ = try bench.folder.write(torn, to: "flight/flight-000001.jsonl")
        let log = try FlightLog(folder: place)
        #expect(log.brokenLines <= 1)
        let recorded = log.entries.filter { $0.accepted != nil }.count
        #expect(recorded > 0 && recorded < 24)
        let config = try bench.configure { $0 = ServiceSetup() }
        // What came within a second is played within five: a busy machine keeps up with that.
        let outcome = try await BuiltProgram.run(["replay", place, "--config", config, "--speed", "0.2"])
        let said = String(decoding: outcome.standardOutput, as: UTF8.self)
        #expect(outcome.ending == .exited(0), "\(said)")
        #expect(said.contains("updates: \(recorded) recorded"))
    }

    /// Whoever made the folder: numbers that no run comes to are those of a line that is none.
    @Test func passesOverNumbersThatNoRunHas() async throws {
        let bench = try ServiceBench()
        let numbers = ["9223372036854775807", "-9223372036854775808", "4398046511104"]
        let keys = ["read", "took", "after", "lifetime", "waiting", "accepted", "quarantined", "evicted", "number"]
        var lines = [#"{"at":0,"flight":1,"run":"2026-01-05T10:15:30.000Z"}"#]
        for number in numbers {
            lines.append("{\"at\":\(number),\"line\":\"opened\"}")
            lines += keys.map { "{\"at\":1,\"token\":\"fetched\",\"request\":\"update\",\"\($0)\":\(number)}" }
        }
        lines += [
            #"{"at":2,"accepted":1,"timeOfFix":"2026-01-05T10:15:30.000Z"}"#, #"{"at":3,"waiting":5}"#,
            #"{"at":4,"quarantined":4398046511103}"#, #"{"at":4,"waiting":-4398046511103}"#,
        ]
        try FileManager.default.createDirectory(atPath: bench.folder.path("flight"), withIntermediateDirectories: true)
        _ = try bench.folder.write(lines.joined(separator: "\n").utf8, to: "flight/flight-000001.jsonl")
        let log = try FlightLog(folder: bench.folder.path("flight"))
        #expect(log.brokenLines == numbers.count * (keys.count + 1))
        #expect(log.entries.count == 4)
        let outcome = try await BuiltProgram.run(
            ["replay", bench.folder.path("flight"), "--config", try bench.configure { $0 = ServiceSetup() }])
        #expect(outcome.ending == .exited(1), "\(String(decoding: outcome.standardError, as: UTF8.self))")
    }

    @Test(arguments: [
        (["--speed", "max"], "the waits of a flight recording take their time"),
        (["--loop"], "--loop is for logs"), (["--speed", "2"], "without a flight recording"),
    ])
    func refusesWhatItCannotPlay(options: [String], words: String) async throws {
        let bench = try ServiceBench()
        let outcome = try await BuiltProgram.run(
            ["replay", bench.folder.path(""), "--config", try bench.configure()] + options)
        #expect(outcome.ending == .exited(words.hasPrefix("without") ? 65 : 64))
        #expect(String(decoding: outcome.standardError, as: UTF8.self).contains(words))
    }
}
