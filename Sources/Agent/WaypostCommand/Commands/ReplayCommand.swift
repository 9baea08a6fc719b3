import FleetEngine
import GNSS
import GNSSReceiver
import LinuxPlatform
import LocationReporting
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
            if case .folder? = try? FileSystem.entry(at: log) { return try await replayFlight(in: log) }
        }
        let replay = try await ReplayRun(configuration, options)
        let failure = await replay.run(progress: Terminal.isInteractive && !options.asJSON)
        let summary = try await replay.summary()
        await replay.close()
        if options.asJSON {
            try StandardOutput.write(line: summary.json)
        } else if failure == nil || summary.fixes > 0 {
            try StandardOutput.write(line: summary.text)  // of a log that is none there is nothing to sum up
        }
        if let failure { throw failure }
        // Whoever follows a log ends it himself; what is pending then goes out the next time.
        return summary.isComplete || options.follows && Task.isCancelled ? .done : .failed
    }

    /// A recorded run, decision for decision.
    private func replayFlight(in folder: String) async throws -> ExitStatus {
        let speed = try options.flightSpeed()
        let log = try await onThread(named: "logs") { () -> Result<FlightLog, AgentError> in
            do throws(AgentError) { return .success(try FlightLog(folder: folder)) } catch { return .failure(error) }
        }.get()
        let comparison = try await FlightReplay(log, configuration, factor: speed).run()
        let summary = FlightSummary(log, comparison)
        try StandardOutput.write(line: options.asJSON ? try summary.json : summary.text)
        return comparison.isEqual ? .done : .failed
    }
}
