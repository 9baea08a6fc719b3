import FoundationEssentials
import GNSSReceiver
import LinuxPlatform
import ReportedText
import Testing
import Operations
import WaypostTestSupport

@testable import WaypostCommand

/// How far a replay is, as its progress line says.
@Suite(.timeLimit(.minutes(1))) struct ReplayProgresses {
    @Test(
        arguments: [
            // A paced replay is where its plan is, in a gap of the log, too.
            (10, 100, 10, .times(1), 0.1, 90), (60, 100, 20, .times(1), 0.2, 80), (100, 100, 1, .times(10), 0.1, 9),
            // It is late: what it has read counts.
            (30, 100, 50, .times(10), 0.3, 0),
            (100, 100, 11, .times(10), 1, 0),
            // Without a plan what is read counts.
            (0, 100, 1, .maximum, 0, 0), (25, 100, 1, .maximum, 0.25, 0), (0, 0, 0, .maximum, 1, 0),
        ] as [(Int, Int, Int, ReplaySpeed, Double, Int)])
    func areTrue(reached: Int, length: Int, elapsed: Int, speed: ReplaySpeed, share: Double, left: Int) {
        let progress = ReplayProgress(
            reached: .seconds(reached), of: .seconds(length), elapsed: .seconds(elapsed), speed: speed)
        #expect(abs(progress.share - share) < 1e-9)
        #expect(progress.left == .seconds(left))
    }

    @Test func ofManyVehiclesAreOne() {
        let progress = ReplayProgress(fixes: 200, of: 1000, elapsed: .seconds(10), planned: .seconds(100))
        #expect(abs(progress.share - 0.2) < 1e-9)
        #expect(progress.left == .seconds(90))
    }

    /// A reason stands whole as long as anything else can give way.
    @Test(arguments: [
        (120, "no", "town.nmea  100 %  258 fixes  0 sent  29 pending  0.0/s  (no)"),
        (
            140, "http://127.0.0.1:1/v1/token: no connection: Failed to connect to 127.0.0.1 port 1",
            "town.nmea  100 %  258 fixes  0 sent  29 pending  0.0/s  "
                + "(http://127.0.0.1:1/v1/token: no connection: Failed to connect to 127.0.0.1 port 1)"
        ),
        (
            120, "http://127.0.0.1:1/v1/token: no connection: Failed to connect to 127.0.0.1 port 1",
            "town.nmea  100 %  258 fixes  0 sent  29 pending  0.0/s  (no connection: Failed to connect to 127.0.0.1 port 1)"
        ),
        (
            90, "token endpoint http://127.0.0.1:1/token?v=…: no connection; check the backend",
            "town.nmea  100 %  29 pending  (token endpoint …: no connection; check the backend)"
        ),
        (
            79, "http://127.0.0.1:1/v1/token: no connection: Failed to connect to 127.0.0.1 port 1",
            "100 %  29 pending  (no connection: Failed to connect to 127.0.0.1 port 1)"
        ),
        (
            75, "token endpoint http://127.0.0.1:1/token: no connection: Failed to connect; check authorization.url",
            "100 %  29 pending  (token endpoint …: no connection: Failed to connect)"
        ),
        (
            59, "http://127.0.0.1:1/v1/token: no connection: Failed to connect to 127.0.0.1 port 1",
            "100 %  29 pending  (no connection: Fail…o 127.0.0.1 port 1)"
        ),
        (10, "no connection", "100 %  29 pending  (…)"),
    ])
    func keepTheReason(width: Int, reason: String, text: String) {
        let line = ProgressLine(
            name: "town.nmea",
            progress: ReplayProgress(
                reached: .seconds(100), of: .seconds(100), elapsed: .seconds(10), speed: .times(60)),
            fixes: 258, accepted: 29, delivered: 0, elapsed: .seconds(10), trouble: ReportedText(reason))
        #expect(line.text(width: width) == text)
    }

    /// How requests fare is what a load test is watched for: it stands in 80 columns, of several failures the most
    /// frequent.
    @Test(
        arguments: [
            (
                200, [], nil,
                "town.nmea  20 %  10,000 vehicles  7 pending  985.0 requests/s  p50 2.1 ms  p99 7.0 ms  12 x 503  2 min left"
            ),
            (
                100, [], nil,
                "20 %  10,000 vehicles  7 pending  985.0 requests/s  p50 2.1 ms  p99 7.0 ms  12 x 503  2 min left"
            ),
            (80, [], nil, "20 %  7 pending  985.0 requests/s  p50 2.1 ms  p99 7.0 ms  12 x 503  2 min left"),
            (78, [], nil, "20 %  985.0 requests/s  p50 2.1 ms  p99 7.0 ms  12 x 503  2 min left"),
            (80, [429, 502], nil, "20 %  985.0 requests/s  p50 2.1 ms  p99 7.0 ms  12 x 503, …  2 min left"),
            (40, [], nil, "20 %  985.0 requests/s  p50 2.1 ms  p99 7.0 ms  12 x 503  2 min left"),
            (80, [], "http://h:1: 503 UNAVAILABLE", "town.nmea  20 %  7 pending  12 x 503  (503 UNAVAILABLE)"),
            (60, [429, 502], "http://h:1: 503 UNAVAILABLE", "20 %  7 pending  12 x 503, …  (503 UNAVAILABLE)"),
            (34, [429, 502], "http://h:1: 503 UNAVAILABLE", "20 %  7 pending  (503 UNAVAILABLE)"),
            (28, [], "http://h:1: 503 UNAVAILABLE", "20 %  7 pending  (503 …ABLE)"),
        ] as [(Int, [Int], String?, String)])
    func ofManyVehiclesSayHowRequestsFare(width: Int, others: [Int], reason: String?, text: String) {
        var figures = RequestFigures()
        for _ in 0..<9880 { figures.answered(after: .milliseconds(2)) }
        for _ in 0..<(112 + others.count) { figures.answered(after: .milliseconds(7)) }
        for _ in 0..<12 { figures.failed("503") }
        for status in others { figures.failed("\(status)") }
        let line = ProgressLine(
            name: "town.nmea",
            progress: ReplayProgress(fixes: 200, of: 1000, elapsed: .seconds(30), planned: .seconds(150)),
            fixes: 300_000, accepted: 29_557, delivered: 29_550, elapsed: .seconds(30),
            trouble: reason.map { ReportedText($0) }, fleet: (10_000, 29_550, figures))
        #expect(line.text(width: width) == text)
    }

    /// Where nobody is shown a line, one is told all the same, and how to end it.
    @Test func tellWhatKeepsThemFromTheirEnd() async throws {
        let folder = try TemporaryFolder()
        let config = try ServiceSetup(level: "error").write(in: folder)
        let log = Fixtures.url("nmea/town.nmea").path
        let replay = try RunningProgram(
            [BuiltProgram.waypost, "replay", log, "--config", config, "--speed", "1000"],
            environment: BuiltProgram.environment.merging(["TMPDIR": folder.url.path]) { $1 })
        let line = try #require(await replay.errors.line(saying: "waypost: all of town.nmea is played; "))
        let count = try #require(line.text.firstMatch(of: /until delivered: (\d+) updates\. The last failure: .*:1/)).1
        #expect(line.text.hasSuffix("keep what is pending: Control-C, or kill \(replay.processID)"))
        #expect(await replay.terminate().ending == .exited(143))
        #expect(replay.errors.text.contains("waypost: \(count) updates not delivered, and kept: "))
        #expect(replay.errors.text.components(separatedBy: "still pending").count == 2, "told once, then seldom")
    }

    /// What a terminal shows: `script` gives the program one.
    private func shown(_ command: String) async throws -> String {
        let outcome = try await ChildProcess(
            arguments: ["script", "-qec", command, "/dev/null"],
            environment: BuiltProgram.environment.merging(["PATH": "/usr/bin:/bin"]) { $1 },
            timeLimit: BuiltProgram.hangs,
            outputLimit: 1 << 22
        ).run()
        return String(decoding: outcome.standardOutput, as: UTF8.self)
    }

    @Test func areShownOnATerminal() async throws {
        let bench = try ServiceBench()
        let config = try bench.configure { $0.level = "info" }
        let log = Fixtures.url("nmea/town.nmea").path
        let text = try await shown("'\(BuiltProgram.waypost)' replay '\(log)' --config '\(config)' --speed 300")
        let shares = text.matches(of: /town.nmea  (\d+) %/).compactMap { Int($0.1) }
        #expect(Set(shares).count > 3 && shares == shares.sorted(), "\(text)")
        #expect(text.contains(/[12] s left/), "\(text)")
        // What is logged meanwhile has lines of its own.
        #expect(text.contains("\u{1B}[2K20") && !text.contains(/(?:left|\/s)20\d\d-/), "\(text)")
    }

    @Test(arguments: ["fixes --summary", "map -o /dev/null"])
    func ofReadingAreShownOnATerminal(words: String) async throws {
        let log = Fixtures.url("nmea/town.nmea").path
        let logs = Array(repeating: "'\(log)'", count: 3).joined(separator: " ")
        let command = words.split(separator: " ", maxSplits: 1)
        let text = try await shown("'\(BuiltProgram.waypost)' \(command[0]) \(logs) \(command[1])")
        #expect(text.contains("% of town.nmea (log 2 of 3) read"), "\(text)")
    }
}
