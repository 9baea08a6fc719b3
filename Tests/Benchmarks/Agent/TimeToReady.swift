import BenchmarkReport
import WaypostTestSupport

/// A measurement of the time from the start of the process to `READY=1`. The reference is a program that does nothing.
enum TimeToReady {
    static func measure(in workplace: Workplace, tokenURL: String, engine: StandInFleetEngine) async throws {
        let feed = try EpochFeed()
        let settings = RunningService.Settings(
            name: "start", device: feed.device, endpoint: "http://\(engine.address)", tokenURL: tokenURL)
        var ready = Samples()
        var nothing = Samples()
        // The first start isn't counted: it creates the outbox and reads the binary from the disk.
        for round in 0...20 {
            let service = try await RunningService(settings, in: workplace)
            await service.program.terminate()
            let start = ContinuousClock.now
            try await RunningProgram(["/bin/true"]).end()
            let end = ContinuousClock.now
            if round > 0 {
                ready.append(service.timeToReady)
                nothing.append(start.duration(to: end))
            }
        }
        for (name, share) in [("median", 0.5), ("p95", 0.95)] {
            try BenchmarkCase("agent.time-to-ready.\(name)", ready.percentile(share), "ms").keeping(.atMost(150))
                .against("start and end of /bin/true", limit: nothing.percentile(share)).print()
        }
    }
}
