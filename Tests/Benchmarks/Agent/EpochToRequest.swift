import BenchmarkReport
import WaypostTestSupport

/// A measurement of the time from the last byte of an epoch on the line to the request at the server. It includes
/// decoding, decisions, the commit, packing and sending.
///
/// The reference is the sum of the unavoidable parts: an epoch read from a terminal, a commit that reaches the disk,
/// and a request on an open connection to the same server.
enum EpochToRequest {
    private static let updates = 1020
    /// The number of epochs before the measurement, in which the receiver's last sentence is learned and the
    /// connection is opened.
    private static let warmUp = 20
    private static let pause = Duration.milliseconds(10)

    /// Measures the service and the references in turn, so that other load on disk and processor affects all of them
    /// alike.
    static func measure(in workplace: Workplace, tokenURL: String, engine: StandInFleetEngine) async throws {
        var feed = try EpochFeed()
        let settings = RunningService.Settings(
            name: "latency", device: feed.device, endpoint: "http://\(engine.address)", tokenURL: tokenURL,
            intervalSeconds: 5)
        let service = try await RunningService(settings, in: workplace)
        try await feed.waitForReader()
        let line = try BareLine()
        let commit = try BareCommit(path: workplace.path("bare.sqlite"))
        let request = try BareRequest(to: engine)
        var (agent, lines, commits, requests) = (Samples(), Samples(), Samples(), Samples())
        for number in 0..<updates {
            let epoch = try feed.epoch(after: 5)
            let latency = try await latency(of: epoch, from: feed, to: engine)
            try await Task.sleep(for: pause)
            let bareLine = try await line.latency(of: epoch)
            try await Task.sleep(for: pause)
            let bareCommit = try commit.latency()
            try await Task.sleep(for: pause)
            let bareRequest = try await request.latency()
            try await Task.sleep(for: pause)
            guard number >= warmUp else { continue }
            agent.append(latency)
            lines.append(bareLine)
            commits.append(bareCommit)
            requests.append(bareRequest)
        }
        await service.program.terminate()
        try report(agent: agent, lines: lines, commits: commits, requests: requests)
    }

    /// Returns the time from before `epoch` is written to the line until the server has its request.
    private static func latency(
        of epoch: [UInt8], from feed: EpochFeed, to engine: StandInFleetEngine
    ) async throws -> Duration {
        let before = engine.arrivals.count
        let sent = ContinuousClock.now
        try feed.send(epoch)
        return sent.duration(to: try await engine.arrivalTime(ofRequestAfter: before))
    }

    private static func report(
        agent: Samples, lines: Samples, commits: Samples, requests: Samples
    ) throws {
        let bare = lines + commits + requests
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            let limit = bare.percentile(share)
            var line = BenchmarkCase("agent.epoch-to-request.\(name)", agent.percentile(share), "ms")
            if share > 0.9 { line = line.keeping(.atMost(min(5, limit * 1.7))) }
            try line.against("one bare read, one durable SQLite commit, one bare request", limit: limit)
                .addingFigure("line", value: lines.percentile(share)).addingFigure(
                    "commit", value: commits.percentile(share)
                ).addingFigure(
                    "request", value: requests.percentile(share)
                )
                .addingFigure("p90", value: agent.percentile(0.9))
                .addingFigure("most", value: agent.percentile(1)).addingFigure("updates", value: Double(agent.count))
                .print()
        }
    }
}
