import FleetEngineSimulator
import FoundationEssentials
import Glibc
import HTTPMessages
import LinuxPlatform
import ReceiverSimulator
import StrictJSON
import Testing
import TimeAndChance
import WaypostTestSupport

@testable import RunRecording

/// A run of the real service is recorded, and played again with nobody there.
@Suite(.serialized, .timeLimit(.minutes(2))) struct RunReenactments {
    /// Drives through an outage and a refused token, and gives the folder with the recording.
    static func record(_ bench: ServiceBench) async throws -> String {
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let place = bench.folder.path("drive")
        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", try bench.configure(), "--record", place],
            environment: BuiltProgram.environment)
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        // A minute apart: whatever a token or the outage takes here, the drive is played faster than it was driven.
        let drive = Array(RecentDrive(epochs: 24 * 12))
        for (number, epoch) in zip(1..., stride(from: 0, to: drive.count, by: 12).map { drive[$0] }) {
            if number == 9 { await bench.simulator.beginOutage() }
            if number == 17 { await bench.simulator.endOutage() }
            try receiver.send(epoch)
            try #require(await service.errors.line(saying: "accepted update \(number)") != nil)
            // The first one waits for its token, and the second is accepted meanwhile: a drive that is played faster.
            if number > 1, !(9..<17).contains(number) { try #require(await bench.arrival(of: epoch) != nil) }
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
        let lines = try String(contentsOf: URL(filePath: place + "/recording-000001.jsonl"), encoding: .utf8)
        #expect(!lines.contains("eyJ") && !lines.contains("Bearer") && !lines.contains("latitude"))
    }

    /// Whether the last request is five seconds ago is a question of milliseconds, which at this speed are none.
    @Test(arguments: [true, false]) func agreesAboutWhatCameTooSoon(isRecorded: Bool) async throws {
        let bench = try ServiceBench()
        let start = UTCTime(millisecondsSince1970: UTCTime.system.millisecondsSince1970 / 1000 * 1000 - 600_000)
        let epochs = Array(Drive(.motorway, start: start, duration: .seconds(40)))
        // The first request began after 1.1 s; the fix of second 5 came too soon, and that of second 6 was reported
        // with the other as its shape point.
        let accepted = isRecorded ? [0] + Array(stride(from: 6, to: 40, by: 5)) : Array(stride(from: 0, to: 40, by: 5))
        let point = epochs[5].time.description
        var events = [
            (0, RecordedEvent.lineOpened), (0, .token(error: nil, took: 1100, lifetime: 3_600_000, after: nil)),
        ]
        for (second, epoch) in epochs.enumerated() {
            let (at, time) = (second * 1000 + 100, epoch.time.description)
            events.append((at, .read(bytes: RecordedNumber(epoch.sentences.count))))
            if isRecorded, second == 5 { events.append((at, .tooSoon(timeOfFix: time))) }
            guard let index = accepted.firstIndex(of: second) else { continue }
            if isRecorded, second == 6 { events.append((at, .accepted(update: 2, timeOfFix: point))) }
            let number = RecordedNumber(index + 1)
            let update = RecordedNumber(index + (isRecorded && index > 0 ? 2 : 1))
            events += [
                (at, .accepted(update: update, timeOfFix: time)), (at + 50, .request(number: number, purpose: .update)),
                (
                    at + 90,
                    .answer(
                        number: number, outcome: "delivered", status: 200, error: nil, took: 40, sent: 1, received: 1,
                        after: nil)
                ),
            ]
        }
        events.append((45_000, .networkReturned))
        let header = RunHeader(run: start.description, isSynchronized: true, version: "0.1.0")
        let lines =
            RecordingLine.bytes(header)
            + events.flatMap { RecordingLine.bytes(RecordingEntry(at: RecordedNumber($0), $1)) }
        try FileManager.default.createDirectory(atPath: bench.folder.path("drive"), withIntermediateDirectories: true)
        _ = try bench.folder.write(lines, to: "drive/recording-000001.jsonl")
        _ = try bench.folder.write(epochs.flatMap(\.sentences), to: "drive/receiver-000001.nmea")
        let outcome = try await BuiltProgram.run(
            [
                "replay", bench.folder.path("drive"), "--config", try bench.configure { $0 = ServiceSetup() },
                "--speed", "9",
            ])
        #expect(outcome.ending == .exited(0), "\(String(decoding: outcome.standardOutput, as: UTF8.self))")
    }

    @Test func takesARecordingThatAPowerCutEnded() async throws {
        let bench = try ServiceBench()
        let place = try await Self.record(bench)
        let path = place + "/recording-000001.jsonl"
        let whole = Array(try Data(contentsOf: URL(filePath: path)))
        let torn = Array(whole.prefix(whole.count * 2 / 3))
        _ = try bench.folder.write(torn, to: "drive/recording-000001.jsonl")
        let run = try RecordedRun(folder: place)
        #expect(run.brokenLines <= 1)
        let recorded = run.entries.count { if case .accepted = $0.event { true } else { false } }
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
        let tags = [
            #""read":{"bytes":NUMBER}"#,
            #""answer":{"number":1,"outcome":"retry","took":NUMBER,"sent":1,"received":1}"#,
            #""answer":{"number":1,"outcome":"retry","took":1,"sent":1,"received":1,"after":NUMBER}"#,
            #""token":{"took":1,"lifetime":NUMBER}"#, #""waiting":{"delay":NUMBER,"reason":"retry"}"#,
            #""accepted":{"update":NUMBER,"timeOfFix":""}"#, #""quarantined":{"update":NUMBER}"#,
            #""evicted":{"total":NUMBER}"#, #""request":{"number":NUMBER,"purpose":"update"}"#,
        ]
        var lines = [#"{"format":1,"isSynchronized":true,"run":"2026-01-05T10:15:30.000Z","version":"0.1.0"}"#]
        for number in numbers {
            lines.append("{\"at\":\(number),\"lineOpened\":{}}")
            lines += tags.map { "{\"at\":1,\($0.replacing("NUMBER", with: number))}" }
        }
        lines += [
            #"{"at":2,"accepted":{"update":1,"timeOfFix":"2026-01-05T10:15:30.000Z"}}"#,
            #"{"at":3,"waiting":{"delay":5,"reason":"retry"}}"#, #"{"at":4,"quarantined":{"update":4398046511103}}"#,
            #"{"at":4,"waiting":{"delay":-4398046511103,"reason":"retry"}}"#,
        ]
        try FileManager.default.createDirectory(atPath: bench.folder.path("drive"), withIntermediateDirectories: true)
        _ = try bench.folder.write(lines.joined(separator: "\n").utf8, to: "drive/recording-000001.jsonl")
        let run = try RecordedRun(folder: bench.folder.path("drive"))
        #expect(run.brokenLines == numbers.count * (tags.count + 1))
        #expect(run.entries.count == 4)
        let outcome = try await BuiltProgram.run(
            ["replay", bench.folder.path("drive"), "--config", try bench.configure { $0 = ServiceSetup() }])
        #expect(outcome.ending == .exited(1), "\(String(decoding: outcome.standardError, as: UTF8.self))")
    }

    /// A log that is read to its end comes as fast as it can be read: there is nothing of it to be played.
    @Test func saysThatALogIsItsOwnRecording() async throws {
        let bench = try ServiceBench()
        let log = try bench.folder.write(
            Drive(.motorway, start: .system.advanced(by: .seconds(-600)), duration: .seconds(10))
                .flatMap(\.sentences), to: "drive.nmea")
        let (config, place) = (
            try bench.configure { $0.receiver = #"{"type": "file", "path": "\#(log)"}"# }, bench.folder.path("drive")
        )
        let run = try await BuiltProgram.run(["run", "--config", config, "--record", place])
        let words = String(decoding: run.standardError, as: UTF8.self)
        #expect(
            words.contains("\(log) is not recorded in \(place): a log that is read to its end is its own"), "\(words)")
        let replay = try await BuiltProgram.run(["replay", place, "--config", config, "--speed", "60"])
        let text = String(decoding: replay.standardOutput, as: UTF8.self)
        #expect(replay.ending == .exited(1))
        #expect(
            text.contains("\nnothing of the receiver is recorded, so that no fix could be played; a log"), "\(text)")
    }

    /// Who copies one file of each number has the times and not the bytes.
    @Test func saysThatTheReceiversPartIsMissing() async throws {
        let bench = try ServiceBench()
        let start = UTCTime.system
        let header = RunHeader(run: start.description, isSynchronized: true, version: "0.1.0")
        let events: [RecordedEvent] = [.lineOpened, .read(bytes: 300), .accepted(update: 1, timeOfFix: "\(start)")]
        let lines = events.flatMap { RecordingLine.bytes(RecordingEntry(at: 1, $0)) }
        try FileManager.default.createDirectory(atPath: bench.folder.path("drive"), withIntermediateDirectories: true)
        _ = try bench.folder.write(RecordingLine.bytes(header) + lines, to: "drive/recording-000001.jsonl")
        let outcome = try await BuiltProgram.run(
            ["replay", bench.folder.path("drive"), "--config", try bench.configure()])
        let text = String(decoding: outcome.standardOutput, as: UTF8.self)
        #expect(text.contains("\nmissing: 300 of 300 bytes of the receiver; put the receiver-*.nmea"), "\(text)")
    }

    @Test(arguments: [
        (["--speed", "max"], "the waits of a run recording take their time"),
        (["--loop"], "--loop is for logs"), (["--speed", "2"], "without a run recording"),
    ])
    func refusesWhatItCannotPlay(options: [String], words: String) async throws {
        let bench = try ServiceBench()
        let outcome = try await BuiltProgram.run(
            ["replay", bench.folder.path(""), "--config", try bench.configure()] + options)
        #expect(outcome.ending == .exited(words.hasPrefix("without") ? 65 : 64))
        #expect(String(decoding: outcome.standardError, as: UTF8.self).contains(words))
    }
}
