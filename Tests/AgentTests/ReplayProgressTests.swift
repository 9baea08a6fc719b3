import FoundationEssentials
import GNSSReceiver
import LinuxPlatform
import ReportedText
import Testing
import Operations
import WaypostTestSupport

@testable import Replay

@Suite(.timeLimit(.minutes(1))) struct ReplayProgresses {
    @Test(
        arguments: [
            // A paced replay follows its plan, even in a gap of the log.
            (10, 100, 10, .times(1), 0.1, 90), (60, 100, 20, .times(1), 0.2, 80), (100, 100, 1, .times(10), 0.1, 9),
            // A replay that is late counts the part that it has read.
            (30, 100, 50, .times(10), 0.3, 0),
            (100, 100, 11, .times(10), 1, 0),
            // Without a plan, the share is the part of the log that has been read.
            (0, 100, 1, .maximum, 0, 0), (25, 100, 1, .maximum, 0.25, 0), (0, 0, 0, .maximum, 1, 0),
        ] as [(Int, Int, Int, ReplaySpeed, Double, Int)])
    func giveTheShareAndTheTimeLeft(
        reached: Int, length: Int, elapsed: Int, speed: ReplaySpeed, share: Double, secondsLeft: Int
    ) {
        let progress = ReplayProgress(
            reached: .seconds(reached), of: .seconds(length), elapsed: .seconds(elapsed), speed: speed)
        #expect(abs(progress.share - share) < 1e-9)
        #expect(progress.remaining == .seconds(secondsLeft))
    }

    @Test func progressOfManyVehiclesIsCombined() {
        let progress = ReplayProgress(fixes: 200, of: 1000, elapsed: .seconds(10), planned: .seconds(100))
        #expect(abs(progress.share - 0.2) < 1e-9)
        #expect(progress.remaining == .seconds(90))
    }

    @Test(arguments: [
        (120, "100 %  29 pending  no connection: Failed to connect to 127.0.0.1 port 1"),
        (40, "100 %  29 pending  no connection: Failed"),
        (30, "100 %  29 pending  no connect…"),
    ])
    func showTheFailureAsFarAsItFits(width: Int, text: String) {
        let reason = width == 40 ? "no connection: Failed" : "no connection: Failed to connect to 127.0.0.1 port 1"
        let line = ProgressLine(
            name: "town.nmea",
            progress: ReplayProgress(
                reached: .seconds(100), of: .seconds(100), elapsed: .seconds(10), speed: .times(60)),
            fixes: 258, accepted: 29, delivered: 0, elapsed: .seconds(10), trouble: ReportedText(reason))
        #expect(line.text(width: width) == text)
    }

    @Test(
        arguments: [
            (
                200,
                "town.nmea  20 %  10,000 vehicles  7 pending  985.0 requests/s  p50 2.1 ms  p99 7.0 ms  12 x 503  2 min left"
            ),
            (80, "20 %  7 pending  985.0 requests/s  p50 2.1 ms  p99 7.0 ms  12 x 503  2 min left"),
            (78, "20 %  985.0 requests/s  p50 2.1 ms  p99 7.0 ms  12 x 503  2 min left"),
            (40, "20 %  985.0 requests/s  p50 2.1 ms  p99 7.0 ms  12 x 503  2 min left"),
        ] as [(Int, String)])
    func progressOfManyVehiclesShowsTheirRequests(width: Int, text: String) {
        var figures = RequestFigures()
        for _ in 0..<9880 { figures.countAnswer(after: .milliseconds(2)) }
        for _ in 0..<112 { figures.countAnswer(after: .milliseconds(7)) }
        for _ in 0..<12 { figures.countFailure("503") }
        let line = ProgressLine(
            name: "town.nmea",
            progress: ReplayProgress(fixes: 200, of: 1000, elapsed: .seconds(30), planned: .seconds(150)),
            fixes: 300_000, accepted: 29_557, delivered: 29_550, elapsed: .seconds(30), trouble: nil,
            fleet: (10_000, 29_550, figures))
        #expect(line.text(width: width) == text)
    }

    /// If there is no terminal, a line says why the replay doesn't end, and how to end it.
    @Test func nameThePendingUpdatesThatDelayTheirEnd() async throws {
        let directory = try TemporaryDirectory()
        let config = try ServiceSetup(level: "error").write(in: directory)
        let log = Fixtures.url("nmea/town.nmea").path
        let replay = try RunningProgram(
            [BuiltProgram.waypost, "replay", log, "--config", config, "--speed", "1000"],
            environment: BuiltProgram.environment.merging(["TMPDIR": directory.url.path]) { $1 })
        let line = try #require(await replay.errors.line(saying: "waypost: all of town.nmea has been played, but "))
        let count = try #require(line.text.firstMatch(of: /but (\d+) updates are still pending: .*:1/)).1
        #expect(line.text.hasSuffix("or kill \(replay.processID), to end the replay and keep the pending updates"))
        #expect(await replay.terminate().ending == .exited(143))
        #expect(replay.errors.text.contains("waypost: \(count) updates not delivered, but kept; "))
        #expect(replay.errors.text.components(separatedBy: "still pending").count == 2, "repeated too soon")
    }

    /// Returns the output on a terminal, which `script` provides.
    private func terminalOutput(_ command: String) async throws -> String {
        let outcome = try await ChildProcess(
            arguments: ["script", "-qec", command, "/dev/null"],
            environment: BuiltProgram.environment.merging(["PATH": "/usr/bin:/bin"]) { $1 },
            timeLimit: BuiltProgram.hangTimeout,
            outputLimit: 1 << 22
        ).run()
        return String(decoding: outcome.standardOutput, as: UTF8.self)
    }

    @Test func areShownOnATerminal() async throws {
        let bench = try ServiceBench()
        let config = try bench.configure { $0.level = "info" }
        let log = Fixtures.url("nmea/town.nmea").path
        let text = try await terminalOutput(
            "'\(BuiltProgram.waypost)' replay '\(log)' --config '\(config)' --speed 300")
        let shares = text.matches(of: /town.nmea  (\d+) %/).compactMap { Int($0.1) }
        #expect(Set(shares).count > 3 && shares == shares.sorted(), "\(text)")
        #expect(text.contains(/[12] s left/), "\(text)")
        // Log lines don't share a line with the progress.
        #expect(text.contains("\u{1B}[2K20") && !text.contains(/(?:left|\/s)20\d\d-/), "\(text)")
    }

    @Test(arguments: ["fixes --summary", "map -o /dev/null"])
    func progressOfReadingIsShownOnATerminal(commandLine: String) async throws {
        let log = Fixtures.url("nmea/town.nmea").path
        let logs = Array(repeating: "'\(log)'", count: 3).joined(separator: " ")
        let command = commandLine.split(separator: " ", maxSplits: 1)
        let text = try await terminalOutput("'\(BuiltProgram.waypost)' \(command[0]) \(logs) \(command[1])")
        #expect(text.contains("% of town.nmea (log 2 of 3) read"), "\(text)")
    }
}
