import Glibc
import LinuxPlatform

/// Simulates many days of driving, with Waypost's real components in a simulated world.
///
///     scripts/simulate campaign --hours 10000 --seed 1 [--world-hours 24] [--without KIND,...] [--threads 2]
///     scripts/simulate planted [--planted NAME] [--hours 1000] [--seed 1]
///     scripts/simulate world --seed N --hours 24 [--without KIND,...] [--planted NAME] [--trace]
@main enum SimulationCommand {
    static func main() async {
        ensureDeterministicHashing()
        do {
            let options = try SimulationOptions(CommandLine.arguments.dropFirst())
            let succeeded =
                switch options.command {
                case .campaign: try await runCampaign(options)
                case .planted: try await findPlantedBugs(options)
                case .world: try runWorld(options)
                }
            exit(succeeded ? 0 : 1)
        } catch {
            print("DeliverySimulation: \(error)")
            exit(64)
        }
    }

    /// Makes the order of sets and dictionaries the same in every process. Swift reads the variable before `main`, so
    /// the program re-executes itself.
    private static func ensureDeterministicHashing() {
        guard unsafe getenv("SWIFT_DETERMINISTIC_HASHING") == nil else { return }
        unsafe setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
        unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
    }

    /// Runs a campaign. Returns whether no law was broken and every kind of fault occurred.
    private static func runCampaign(_ options: SimulationOptions) async throws -> Bool {
        let start = ContinuousClock.now
        let reports = try await Campaign(options).run(progress: showProgress)
        let summary = CampaignSummary(reports, elapsed: ContinuousClock.now - start)
        print(summary)
        guard let failed = reports.last, failed.violation != nil else {
            let isComplete = summary.hours < 1000 || summary.missingFaults.subtracting(options.excludedFaults).isEmpty
            if !isComplete { print("never occurred: \(summary.missingFaults.map(\.name).sorted())") }
            return isComplete
        }
        try printFailure(failed)
        return false
    }

    /// Prints the progress after every 1 % of the worlds, if standard error is a terminal.
    private static func showProgress(done: Int, all: Int) {
        guard StandardError.isTerminal, done % max(1, all / 100) == 0 else { return }
        StandardError.writeNow(Array("\r\(done) of \(all) worlds\(done == all ? "\n" : "")".utf8))
    }

    private static func printFailure(_ failed: WorldReport) throws {
        print("BROKEN \(failed.violation?.description ?? "")")
        print("  replay: scripts/simulate world \(failed.scenario.arguments)   (trace hash \(hex(failed.hash)))")
        guard var shrinker = Shrinker(failed) else { return }
        try shrinker.run()
        print("  shrunk: scripts/simulate world \(shrinker.report.scenario.arguments) --trace")
        print("          \(shrinker.report.violation?.description ?? "")")
    }

    /// Runs a campaign for each planted bug. Returns whether every bug was found.
    private static func findPlantedBugs(_ options: SimulationOptions) async throws -> Bool {
        var isEachFound = true
        for bug in options.bug.map({ [$0] }) ?? PlantedBug.allCases {
            var campaign = Campaign(options)
            campaign.bug = bug
            let reports = try await campaign.run()
            let hours = reports.reduce(0) { $0 + $1.hours }
            let name = bug.rawValue.padded(to: 26)
            if let violation = reports.last?.violation {
                print("\(name) found after \(decimal(hours).leftPadded(to: 7)) h by \(violation.law.rawValue)")
            } else {
                print("\(name) NOT found in \(decimal(hours)) h")
                isEachFound = false
            }
        }
        return isEachFound
    }

    /// Runs one world. Returns whether no law was broken.
    private static func runWorld(_ options: SimulationOptions) throws -> Bool {
        let scenario = Scenario(
            seed: options.seed, hours: options.hours ?? Campaign.defaultWorldHours,
            excludedFaults: options.excludedFaults,
            bug: options.bug)
        let report = try WorldReport(of: scenario, output: options.printsEvents ? { print($0) } : nil)
        print("faults: \(report.faultKinds.map(\.name).joined(separator: " "))")
        print(report.violation.map { "BROKEN \($0)" } ?? "all laws held for \(decimal(report.hours)) h")
        print("trace hash \(hex(report.hash))")
        return report.violation == nil
    }

    private static func hex(_ value: UInt64) -> String { String(value, radix: 16) }
}

func decimal(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    func leftPadded(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
