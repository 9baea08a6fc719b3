import Conditions
import FleetEngine
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import Replay
import Reporting
import SQLiteOutbox
import Operations

/// `waypost replay`: feeds recorded logs to the reporting pipeline, as one vehicle or as many.
struct ReplayCommand {
    private let options: ReplayOptions
    private let configuration: Configuration
    private let asJSON: Bool
    /// The path of the outbox to continue; `nil` for a temporary outbox.
    private let outboxPath: String?
    /// Whether updates may be sent to another machine.
    private let allowsOtherMachines: Bool

    init(_ arguments: Arguments) throws {
        options = try ReplayOptions(arguments)
        asJSON = arguments.has("--json")
        outboxPath = arguments.value("--outbox")
        allowsOtherMachines = arguments.has("--yes")
        configuration = try arguments.configuration()
    }

    func run() async throws -> ExitStatus {
        do { return try await replay() } catch let error as InvalidVehicleID {
            throw UsageError(error.description, command: "replay")
        }
    }

    private func replay() async throws -> ExitStatus {
        try requirePermission()
        if options.acceleratesLaps {
            Terminal.say(
                "waypost: from the second lap on, each fix has the time at which it is read, so at this speed most fixes "
                    + "are rejected as too fast; use --speed 1 or --keep-time")
        }
        let outbox = outboxPath.map { ReplayOutbox(continuing: $0) } ?? ReplayOutbox()
        let replay = try await prepareRun(with: outbox)
        let failure = await replay.run(showingProgress: Terminal.isInteractive && !asJSON)
        let isInterrupted = Task.isCancelled
        let (summary, ledger) = try await replay.summary()
        await replay.close()
        let rest = options.fleet.count == 1 ? await outbox.removeIfDelivered(ledger) : nil
        if asJSON {
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
            let replay = try await ReplayRun(configuration, options) { Terminal.say("waypost: \($0)") }
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
        guard !allowsOtherMachines, !HTTPURL.isLoopback(endpoint.host) else { return }
        let names = try options.fleet.names(for: configuration.vehicle)
        let range = names.count > 1 ? " to \(names[names.count - 1].vehicleID)" : ""
        throw UsageError(
            "replay would show \(names[0])\(range) at \(endpoint.origin) as if it were on the road now; add --yes if it is "
                + "a test vehicle, or set upload.endpoint to the address of waypost simulator",
            command: "replay")
    }
}

extension ReplayRun {
    /// Runs the replay to its end, and reports its progress on standard error.
    func run(showingProgress showsProgress: Bool) async -> AgentError? {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await reportProgress(drawing: showsProgress) }
            defer { group.cancelAll() }  // removes the progress line
            return await run()
        }
    }

    /// Redraws the progress line until cancelled. If everything has been played but updates can't be delivered, also
    /// reports why the replay doesn't end.
    private func reportProgress(drawing: Bool) async {
        var remindedAt: Duration?
        while true {
            await clock.sleep(for: .milliseconds(250))
            guard !Task.isCancelled else { break }
            if remindedAt.map({ clock.now - $0 >= ActiveConditions.reminderInterval }) ?? true,
                let reminder = await reminder()
            {
                remindedAt = clock.now
                Terminal.say("waypost: \(reminder)")
            }
            if drawing { Terminal.draw(progressLine(width: Terminal.width)) }
        }
        if drawing { Terminal.draw("") }
    }
}

extension ReplayOptions {
    init(_ arguments: Arguments) throws(UsageError) {
        self.init(logs: arguments.operands, speed: try Self.parsedSpeed(arguments.value("--speed") ?? "max"))
        keepsTime = arguments.has("--keep-time")
        loops = arguments.has("--loop")
        follows = arguments.has("--follow")
        acceptsMissingChecksum = arguments.has("--accept-missing-checksum")
        if follows, loops { throw UsageError("--loop and --follow exclude each other; remove one", command: "replay") }
        let others = [(arguments.configurationFile, "the configuration")] + logs.map { ($0, "the log") }
        let outbox = arguments.value("--outbox")
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

extension FleetPlan {
    private static let maximumCount = 100_000
    private static let maximumNumber = 999_999_999

    init(_ arguments: Arguments) throws(UsageError) {
        self.init()
        count = try Self.wholeNumber(for: "--vehicles", in: arguments, range: 1...Self.maximumCount) ?? 1
        firstNumber = try Self.wholeNumber(for: "--first-vehicle", in: arguments, range: 0...Self.maximumNumber) ?? 1
        guard firstNumber <= Self.maximumNumber - (count - 1) else {
            throw Self.usageError(
                "--first-vehicle is \(firstNumber), so the last of \(count) vehicles would have a number above \(Self.maximumNumber)"
            )
        }
        if let text = arguments.value("--vehicle-id") {
            do { pattern = try VehiclePattern(text) } catch { throw Self.usageError("--vehicle-id \(text) \(error)") }
        } else if count == 1, arguments.value("--first-vehicle") != nil {
            pattern = VehiclePattern.numbered
        }
        if count > 1, let pattern, !pattern.hasNumber {
            throw Self.usageError(
                "--vehicle-id \(pattern) gives \(count) vehicles the same id; add %d, or %05d for five digits")
        }
        spreadSeconds = try Self.number(for: "--spread-seconds", in: arguments, upTo: 86_400)
        if spreadSeconds != nil, arguments.value("--vehicles") == nil {
            throw Self.usageError("--spread-seconds spreads the starts of several vehicles; add --vehicles N")
        }
        spreadMeters = try Self.number(for: "--spread-meters", in: arguments, upTo: 1_000_000) ?? 0
    }

    private static func wholeNumber(
        for option: String, in arguments: Arguments, range: ClosedRange<Int>
    ) throws(UsageError) -> Int? {
        guard let text = arguments.value(option) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw usageError("\(option) is \(text); use \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func number(
        for option: String, in arguments: Arguments, upTo limit: Double
    ) throws(UsageError) -> Double? {
        guard let text = arguments.value(option) else { return nil }
        guard let value = Double(text), (0...limit).contains(value) else {
            throw usageError("\(option) is \(text); use a number from 0 to \(Int(limit))")
        }
        return value
    }

    private static func usageError(_ problem: String) -> UsageError { UsageError(problem, command: "replay") }
}
