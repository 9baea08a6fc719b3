import FleetEngine
import GNSS
import GNSSReceiver
import LinuxPlatform
import LocationReporting
import RunRecording
import Waypost

/// `waypost replay`: the pipeline fed from recorded logs, for one vehicle or many.
struct ReplayCommand {
    private let options: ReplayOptions
    private let configuration: Configuration

    init(_ arguments: Arguments) throws {
        options = try ReplayOptions(arguments)
        configuration = try Configuration(file: arguments.value("--config") ?? "")
    }

    func run() async throws -> ExitStatus {
        for log in options.logs {
            if case .folder? = try? FileSystem.entry(at: log) { return try await replayRun(in: log) }
        }
        let replay = try await ReplayRun(configuration, options)
        let failure = await replay.run(progress: Terminal.isInteractive && !options.asJSON)
        let summary = try await replay.summary()
        await replay.close()
        if options.asJSON {
            try StandardOutput.write(line: summary.json)
        } else if failure == nil || summary.fixes > 0 {
            try StandardOutput.write(line: summary.text)  // of a file that is no log there is nothing to sum up
        }
        if let failure { throw failure }
        // Whoever follows a log ends it himself; what is pending then goes out the next time.
        return summary.isComplete || options.follows && Task.isCancelled ? .done : .failed
    }

    /// A recorded run, decision for decision.
    private func replayRun(in folder: String) async throws -> ExitStatus {
        let speed = try options.recordingSpeed()
        let run = try await onThread(named: "logs") {
            Result { () throws(RecordingError) in try RecordedRun(folder: folder) }
        }.get()
        let comparison = try await RunReenactment(run: run, configuration: configuration, speed: speed).compare()
        let summary = RunReenactmentSummary(run: run, comparison: comparison)
        try StandardOutput.write(line: options.asJSON ? try summary.json : summary.text)
        return comparison.isEqual ? .done : .failed
    }
}

/// What `waypost replay` was asked for.
struct ReplayOptions: Sendable, Equatable {
    var logs: [String]
    var speed: ReplaySpeed
    /// Otherwise logs are played as fast as can be, and a run recording as it was.
    private var speedIsGiven: Bool
    var keepsTime: Bool
    var loops: Bool
    var vehicles: Int
    var asJSON: Bool
    var follows: Bool
    /// In addition to what the configuration says.
    var acceptsMissingChecksum: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        logs = arguments.operands
        speed = try Self.speed(arguments.value("--speed") ?? "max")
        speedIsGiven = arguments.value("--speed") != nil
        keepsTime = arguments.has("--keep-time")
        loops = arguments.has("--loop")
        asJSON = arguments.has("--json")
        follows = arguments.has("--follow")
        acceptsMissingChecksum = arguments.has("--accept-missing-checksum")
        if follows, loops { throw UsageError("--loop and --follow exclude each other", command: "replay") }
        if follows, let log = logs.last { try GrowingLog.require(log, command: "replay") }
        let count = arguments.value("--vehicles") ?? "1"
        guard let vehicles = Int(count), (1...1000).contains(vehicles) else {
            throw UsageError("--vehicles is \(count); use 1 to 1000", command: "replay")
        }
        self.vehicles = vehicles
    }

    /// One vehicle at `speed`.
    init(logs: [String], speed: ReplaySpeed) {
        (self.logs, self.speed, speedIsGiven) = (logs, speed, true)
        (keepsTime, loops, vehicles, asJSON) = (false, false, 1, false)
        (follows, acceptsMissingChecksum) = (false, false)
    }

    /// How much faster than it was a run recording is played.
    func recordingSpeed() throws(UsageError) -> Double {
        guard logs.count == 1 else {
            throw UsageError("a run recording is replayed alone: name one folder", command: "replay")
        }
        for (isGiven, option) in [
            (keepsTime, "--keep-time"), (loops, "--loop"), (follows, "--follow"), (vehicles > 1, "--vehicles"),
        ] where isGiven {
            throw UsageError("\(option) is for logs; a run recording is played as it was", command: "replay")
        }
        guard speedIsGiven else { return 1 }
        guard case .times(let factor) = speed else {
            throw UsageError(
                "--speed max is for logs; the waits of a run recording take their time: use a number, as 60",
                command: "replay")
        }
        return factor
    }

    private static func speed(_ text: String) throws(UsageError) -> ReplaySpeed {
        if text == "max" { return .maximum }
        guard let factor = Double(text), factor.isFinite, (0.01...100_000).contains(factor) else {
            throw UsageError("--speed is \(text); use max, or a number from 0.01 to 100000", command: "replay")
        }
        return .times(factor)
    }
}
