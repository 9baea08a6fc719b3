import BenchmarkReport
import FleetEngine
import FleetEngineSimulator
import FoundationEssentials
import Glibc
import HTTPService
import LinuxPlatform
import WaypostTestSupport

/// Measures the cost of the installed service: size, start time, memory, processor time, latency and network bytes.
///
/// Usage: `AgentBenchmark [BINARY] [PENDING]`. The binary defaults to `$WAYPOST` or `build/waypost`, the backlog to
/// 1,000,000 updates. Prints one JSON object per case (`BenchmarkCase`). Works in a directory below the current one,
/// which is kept after a failure. `docs/benchmarks.md` describes each case.
@main enum AgentBenchmark {
    static func main() async throws {
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        let binary = arguments.first ?? ProcessInfo.processInfo.environment["WAYPOST"] ?? "build/waypost"
        let workplace = try Workplace(binary: binary)
        do {
            try await measure(in: workplace, pending: arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000_000)
        } catch {
            StandardError.writeNow(
                Array("AgentBenchmark: \(error); all files are kept in \(workplace.directory.path)\n".utf8))
            exit(1)
        }
        try workplace.remove()
    }

    private static func measure(in workplace: Workplace, pending: Int) async throws {
        let answer = ServedResponse(
            status: 200, contentType: "application/json", StandInFleetEngine.vehicleAnswer)
        let engine = try StandInFleetEngine { _, _ in answer }
        let simulator = try FleetEngineSimulator()
        let endpoint = try await Endpoint(engine, in: workplace)
        try await withThrowingTaskGroup { group in
            group.addTask { await engine.service.run() }
            group.addTask { await simulator.run() }
            let tokenURL = simulator.tokenURL(for: .onDemandTrips)
            try InstalledSize.measure(in: workplace)
            try await TimeToReady.measure(in: workplace, tokenURL: tokenURL, engine: engine)
            try await EpochToRequest.measure(in: workplace, tokenURL: tokenURL, engine: engine)
            try await UnderWay.measure(in: workplace, tokenURL: tokenURL, endpoint: endpoint)
            try await LargeBacklog.measure(in: workplace, tokenURL: tokenURL, endpoint: endpoint, pending: pending)
            try await BytesPerUpdate.measure(
                in: workplace, token: RealSizedToken.make(with: simulator), endpoint: endpoint)
            group.cancelAll()
        }
    }
}
