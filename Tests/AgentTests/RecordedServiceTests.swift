import FleetEngineSimulator
import FoundationEssentials
import GNSS
import LinuxPlatform
import ReceiverSimulator
import StrictJSON
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// A run of the real service, recorded by `--record`.
@Suite(.serialized, .timeLimit(.minutes(2))) struct RecordedServices {
    /// Records a drive through an outage. Returns the recording's directory and the bytes that the receiver sent.
    private static func recordDrive(on bench: ServiceBench) async throws -> (directory: String, sent: [UInt8]) {
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let place = bench.directory.path("drive")
        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", try bench.configure(), "--record", place],
            environment: BuiltProgram.environment)
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        // The epochs are one minute apart, so that each becomes an update.
        let drive = Array(RecentDrive(epochs: 12 * 12))
        let epochs = stride(from: 0, to: drive.count, by: 12).map { drive[$0] }
        for (number, epoch) in zip(1..., epochs) {
            if number == 5 { await bench.simulator.beginOutage() }
            if number == 8 { await bench.simulator.endOutage() }
            try receiver.send(epoch)
            try #require(await service.errors.line(saying: "accepted update \(number)") != nil)
            if !(5..<8).contains(number) { try #require(await bench.arrival(of: epoch) != nil) }
        }
        #expect(await service.terminate().ending == .exited(0))
        return (place, epochs.flatMap(\.sentences))
    }

    private static func output(of arguments: [String]) async throws -> String {
        let outcome = try await BuiltProgram.run(arguments)
        #expect(outcome.ending == .exited(0), "\(String(decoding: outcome.standardError, as: UTF8.self))")
        return String(decoding: outcome.standardOutput, as: UTF8.self)
    }

    @Test func replayTheSameFixes() async throws {
        let bench = try ServiceBench()
        let (place, sent) = try await Self.recordDrive(on: bench)
        let receiver = place + "/receiver-000001.nmea"
        let recorded = try BoundedFile.contents(of: receiver, limit: 1 << 20)
        let lines = recorded.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let sentences = lines.filter { $0.first != UInt8(ascii: "#") }.joined(separator: [UInt8(ascii: "\n")])
        #expect(Array(sentences) == sent)
        #expect(lines.contains { $0.starts(with: "# \(UTCTime.system)".utf8.prefix(12)) }, "no line contains the time")

        let original = try bench.directory.write(sent, to: "sent.nmea")
        let fixes = try await Self.output(of: ["fixes", receiver])
        #expect(fixes == (try await Self.output(of: ["fixes", original])))
        #expect(fixes.split(separator: "\n").count == 12)

        let config = bench.directory.path("config.json")
        let replay = try JSONValue(
            parsing: Array(try await Self.output(of: ["replay", receiver, "--config", config, "--json"]).utf8))
        #expect(replay["fixes"]?.integerValue == 12 && replay["delivered"]?.integerValue == 12)

        let log = String(
            decoding: try Data(contentsOf: URL(filePath: place + "/log-000001.txt")), as: UTF8.self)
        for words in ["# waypost ", " info: waypost ", " debug: accepted update 12 of 20", " warning: "] {
            #expect(log.contains(words), "\(words) is missing from \(log)")
        }
        #expect(!log.contains("eyJ") && !log.contains("Bearer") && !log.contains("latitude"))
    }

    @Test func reportThatALogIsAlreadyARecording() async throws {
        let bench = try ServiceBench()
        let log = try bench.directory.write(
            Drive(.motorway, start: .system.advanced(by: .seconds(-600)), duration: .seconds(10))
                .flatMap(\.sentences), to: "drive.nmea")
        let config = try bench.configure { $0.receiver = #"{"type": "file", "path": "\#(log)"}"# }
        let place = bench.directory.path("drive")
        let run = try await BuiltProgram.run(["run", "--config", config, "--record", place])
        let words = String(decoding: run.standardError, as: UTF8.self)
        #expect(
            words.contains("only the log of this run is recorded in \(place): \(log) is already a recording"),
            "\(words)")
        #expect(try FileSystem.names(inDirectory: place) == ["log-000001.txt"])
        let replay = try await BuiltProgram.run(["replay", place, "--config", config])
        #expect(replay.ending == .exited(65))
        #expect(
            String(decoding: replay.standardError, as: UTF8.self).contains(
                "a directory; specify the logs in it"))
    }
}
