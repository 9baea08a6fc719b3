import BenchmarkReport
import HTTPMessages
import LinuxPlatform

/// From the last byte of an epoch on the line to the request at the server: decoded, judged, durable, packed, sent.
///
/// Beside it the two things in it that cannot be left out: a commit that reaches the disk, and a request on an open
/// connection to the same server.
enum EpochToRequest {
    private static let updates = 320
    /// Until the receiver's last sentence is learned and the connection is open.
    private static let warmUp = 20
    private static let pause = Duration.milliseconds(20)

    static func measure(_ workplace: Workplace, tokenURL: String, engine: LoopbackFleetEngine) async throws {
        let agent = try await agentLatency(workplace, tokenURL, engine)
        let commits = try await BareCommit.latency(
            path: workplace.path("bare.sqlite"), count: updates - warmUp, pause: pause)
        let requests = try await BareRequest.latency(to: engine, count: updates - warmUp, pause: pause)
        let both = commits + requests
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            var line = BenchmarkCase("agent.epoch-to-request.\(name)", agent.percentile(share), "ms")
            if share > 0.9 { line = line.keeping(.atMost(5)) }
            try line.against("one durable SQLite commit, then one bare request", both.percentile(share))
                .with("commit", commits.percentile(share)).with("request", requests.percentile(share))
                .with("p90", agent.percentile(0.9))
                .with("most", agent.percentile(1)).with("updates", Double(agent.count)).print()
        }
    }

    private static func agentLatency(
        _ workplace: Workplace, _ tokenURL: String, _ engine: LoopbackFleetEngine
    ) async throws -> Samples {
        var feed = try EpochFeed()
        let settings = RunningService.Settings(
            name: "latency", device: feed.device, endpoint: "http://\(engine.address)", tokenURL: tokenURL,
            intervalSeconds: 5)
        let service = try RunningService(settings, in: workplace)
        try await feed.waitForReader()
        var samples = Samples()
        for number in 0..<updates {
            let epoch = try feed.epoch(after: 5)
            let before = engine.count
            let sent = ContinuousClock.now
            try feed.send(epoch)
            let arrival = try await engine.arrival(after: before)
            if number >= warmUp { samples.append(sent.duration(to: arrival)) }
            try await Task.sleep(for: pause)
        }
        service.program.stop()
        return samples
    }
}
