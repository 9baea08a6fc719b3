import FleetEngine
import GNSS
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import Reporting
import SQLiteOutbox
import Operations

/// `waypost replay`: the pipeline fed from recorded logs, for one vehicle or many.
struct ReplayCommand {
    private let options: ReplayOptions
    private let configuration: Configuration

    init(_ arguments: Arguments) throws {
        options = try ReplayOptions(arguments)
        if arguments.value("--config") == nil, let file = options.logs.first(where: Configuration.isWritten) {
            throw UsageError(
                "\(file) is a configuration, and no log; write --config \(file) beside the log", command: "replay")
        }
        configuration = try arguments.configuration()
    }

    func run() async throws -> ExitStatus {
        try requirePermission()
        if options.hurriesLaps {
            Terminal.say(
                "waypost: from the second lap on each fix carries the moment at which it is read: at this speed the vehicle "
                    + "seems to drive too fast, and most of its fixes are rejected; give --speed 1, or --keep-time")
        }
        let outbox = options.outbox.map { ReplayOutbox(continuing: $0) } ?? ReplayOutbox()
        let replay = try await open(outbox)
        let failure = await replay.run(progress: Terminal.isInteractive && !options.asJSON)
        let isInterrupted = Task.isCancelled
        let (summary, ledger) = try await replay.summary()
        await replay.close()
        let rest = options.fleet.count == 1 ? await outbox.conclude(ledger) : nil
        if options.asJSON {
            try StandardOutput.write(line: summary.json)
        } else if failure == nil || summary.counts.fixes > 0 {
            // Of a file that is no log there is nothing to sum up.
            try StandardOutput.write(line: isInterrupted ? summary.figures : summary.text)
        }
        if let rest { Terminal.say("waypost: \(rest)") }
        if isInterrupted { throw Interruption("\(replay.reached)\(failure.map { "; \($0)" } ?? "")") }
        if let failure { throw failure }
        return summary.isComplete ? .done : .failed
    }

    /// Says what is in the outbox already.
    private func open(_ outbox: ReplayOutbox) async throws -> ReplayRun {
        var configuration = configuration
        configuration.outbox.path = outbox.path
        do {
            let replay = try await ReplayRun(configuration, options)
            let stock = try await replay.stock()
            if let notice = outbox.notice(of: stock.ledger, newest: stock.newest) { Terminal.say("waypost: \(notice)") }
            return replay
        } catch {
            await outbox.remove()
            throw error
        }
    }

    /// Outside of this machine a replay drives a vehicle over other people's maps.
    private func requirePermission() throws {
        let endpoint = configuration.upload.endpoint
        guard !options.isPermitted, !HTTPURL.isLoopback(endpoint.host) else { return }
        let names = try options.fleet.names(for: configuration.vehicle)
        let range = names.count > 1 ? " to \(names[names.count - 1].vehicleID)" : ""
        throw UsageError(
            "replay would drive \(names[0])\(range) over the map of \(endpoint.origin), as if it were on the "
                + "road now; add --yes if it is there for tests, or set upload.endpoint to the address of waypost simulator",
            command: "replay")
    }
}

/// What `waypost replay` was asked for.
struct ReplayOptions: Sendable, Equatable {
    var logs: [String]
    var speed: ReplaySpeed
    var keepsTime = false
    var loops = false
    var fleet = FleetPlan()
    var asJSON = false
    var follows = false
    /// The outbox to be continued; otherwise the replay has one of its own.
    var outbox: String?
    /// Whether the drive may go to another machine.
    var isPermitted = false
    /// In addition to what the configuration says.
    var acceptsMissingChecksum = false

    /// Whether the times of a log that is begun again come closer together than it states them: there is no other time
    /// that is neither in the future nor before what was sent.
    var hurriesLaps: Bool { loops && !keepsTime && speed.stretch < 1 }
}

extension ReplayOptions {
    init(_ arguments: Arguments) throws(UsageError) {
        logs = arguments.operands
        speed = try Self.speed(arguments.value("--speed") ?? "max")
        keepsTime = arguments.has("--keep-time")
        loops = arguments.has("--loop")
        asJSON = arguments.has("--json")
        follows = arguments.has("--follow")
        outbox = arguments.value("--outbox")
        isPermitted = arguments.has("--yes")
        acceptsMissingChecksum = arguments.has("--accept-missing-checksum")
        if follows, loops { throw UsageError("--loop and --follow exclude each other", command: "replay") }
        let others = [(arguments.configurationFile, "the configuration")] + logs.map { ($0, "the log that is played") }
        if let outbox, let (_, role) = others.first(where: { FileSystem.isSameFile($0.0, outbox) }) {
            throw UsageError(
                "--outbox \(outbox) is \(role); name an outbox, or a file that is not there", command: "replay")
        }
        if follows, let log = logs.last { try GrowingLog.require(log, command: "replay") }
        fleet = try FleetPlan(arguments)
        guard fleet.count > 1 else { return }
        for (isGiven, option, why) in [
            (outbox != nil, "--outbox", "many keep their updates in memory"),
            (follows, "--follow", "many read the log into memory"),
        ] where isGiven {
            throw UsageError("\(option) is for one vehicle; \(why)", command: "replay")
        }
    }

    private static func speed(_ text: String) throws(UsageError) -> ReplaySpeed {
        if text == "max" { return .maximum }
        guard let factor = Double(text), factor.isFinite, (0.01...100_000).contains(factor) else {
            throw UsageError("--speed is \(text); use max, or a number from 0.01 to 100000", command: "replay")
        }
        return .times(factor)
    }
}
