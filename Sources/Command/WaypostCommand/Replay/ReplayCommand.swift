import FleetEngine
import GNSS
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import Reporting
import SQLiteOutbox
import Operations

/// `waypost replay`: feeds recorded logs to the reporting pipeline, as one vehicle or as many.
struct ReplayCommand {
    private let options: ReplayOptions
    private let configuration: Configuration

    init(_ arguments: Arguments) throws {
        options = try ReplayOptions(arguments)
        configuration = try arguments.configuration()
    }

    func run() async throws -> ExitStatus {
        try requirePermission()
        if options.acceleratesLaps {
            Terminal.say(
                "waypost: from the second lap on, each fix has the time at which it is read, so at this speed most fixes "
                    + "are rejected as too fast; use --speed 1 or --keep-time")
        }
        let outbox = options.outbox.map { ReplayOutbox(continuing: $0) } ?? ReplayOutbox()
        let replay = try await prepareRun(with: outbox)
        let failure = await replay.run(showingProgress: Terminal.isInteractive && !options.asJSON)
        let isInterrupted = Task.isCancelled
        let (summary, ledger) = try await replay.summary()
        await replay.close()
        let rest = options.fleet.count == 1 ? await outbox.removeIfDelivered(ledger) : nil
        if options.asJSON {
            try StandardOutput.write(line: summary.json)
        } else if failure == nil || summary.counts.fixes > 0 {
            // Nothing is written if the replay failed before the first fix, for example because a file isn't a log.
            try StandardOutput.write(line: isInterrupted ? summary.figures : summary.text)
        }
        if let rest { Terminal.say("waypost: \(rest)") }
        if isInterrupted { throw Interruption("\(replay.reached)\(failure.map { "; \($0)" } ?? "")") }
        if let failure { throw failure }
        return summary.isComplete ? .done : .failed
    }

    /// Prepares and returns the replay, and reports the updates that are already in the outbox.
    private func prepareRun(with outbox: ReplayOutbox) async throws -> ReplayRun {
        var configuration = configuration
        configuration.outbox.path = outbox.path
        do {
            let replay = try await ReplayRun(configuration, options)
            let contents = try await replay.outboxContents()
            if let notice = outbox.notice(of: contents.ledger, newest: contents.newest) {
                Terminal.say("waypost: \(notice)")
            }
            return replay
        } catch {
            await outbox.remove()
            throw error
        }
    }

    /// Throws if the endpoint is on another machine and `--yes` is missing, because the vehicle would appear on
    /// people's maps.
    private func requirePermission() throws {
        let endpoint = configuration.upload.endpoint
        guard !options.allowsOtherMachines, !HTTPURL.isLoopback(endpoint.host) else { return }
        let names = try options.fleet.names(for: configuration.vehicle)
        let range = names.count > 1 ? " to \(names[names.count - 1].vehicleID)" : ""
        throw UsageError(
            "replay would show \(names[0])\(range) at \(endpoint.origin) as if it were on the road now; add --yes if it is "
                + "a test vehicle, or set upload.endpoint to the address of waypost simulator",
            command: "replay")
    }
}

/// The options of `waypost replay`.
struct ReplayOptions: Sendable, Equatable {
    var logs: [String]
    var speed: ReplaySpeed
    var keepsTime = false
    var loops = false
    var fleet = FleetPlan()
    var asJSON = false
    var follows = false
    /// The path of the outbox to continue; `nil` for a temporary outbox.
    var outbox: String?
    /// Whether updates may be sent to another machine.
    var allowsOtherMachines = false
    /// Whether sentences without a checksum are accepted even if the configuration doesn't accept them.
    var acceptsMissingChecksum = false

    /// Whether the fixes of later laps must follow each other faster than in the log. Otherwise, their times would be
    /// in the future, or before times that have already been sent.
    var acceleratesLaps: Bool { loops && !keepsTime && speed.stretch < 1 }
}

extension ReplayOptions {
    init(_ arguments: Arguments) throws(UsageError) {
        logs = arguments.operands
        speed = try Self.parsedSpeed(arguments.value("--speed") ?? "max")
        keepsTime = arguments.has("--keep-time")
        loops = arguments.has("--loop")
        asJSON = arguments.has("--json")
        follows = arguments.has("--follow")
        outbox = arguments.value("--outbox")
        allowsOtherMachines = arguments.has("--yes")
        acceptsMissingChecksum = arguments.has("--accept-missing-checksum")
        if follows, loops { throw UsageError("--loop and --follow exclude each other; remove one", command: "replay") }
        let others = [(arguments.configurationFile, "the configuration")] + logs.map { ($0, "the log") }
        if let outbox, let (_, role) = others.first(where: { FileSystem.isSameFile($0.0, outbox) }) {
            throw UsageError(
                "--outbox \(outbox) is \(role); use an outbox or a new file", command: "replay")
        }
        if follows, let log = logs.last { try GrowingLog.require(log, command: "replay") }
        fleet = try FleetPlan(arguments)
        guard fleet.count > 1 else { return }
        for (isGiven, option, why) in [
            (outbox != nil, "--outbox", "several vehicles keep their updates in memory"),
            (follows, "--follow", "several vehicles read the log into memory"),
        ] where isGiven {
            throw UsageError("\(option) is for one vehicle; \(why)", command: "replay")
        }
    }

    private static func parsedSpeed(_ text: String) throws(UsageError) -> ReplaySpeed {
        if text == "max" { return .maximum }
        guard let factor = Double(text), factor.isFinite, (0.01...100_000).contains(factor) else {
            throw UsageError("--speed is \(text); use max, or a number from 0.01 to 100000", command: "replay")
        }
        return .times(factor)
    }
}
