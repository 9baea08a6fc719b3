import BenchmarkReport
import FoundationEssentials
import WaypostTestSupport

/// A measurement of the memory and processor time of a service that has been running for a while.
enum UnderWay {
    private static let updates = 300
    private static let secondsAtOneHertz = 30

    static func measure(in workplace: Workplace, tokenURL: String, endpoint: Endpoint) async throws {
        var feed = try EpochFeed()
        let settings = RunningService.Settings(
            name: "under-way", device: feed.device, endpoint: endpoint.address, tokenURL: tokenURL,
            caFile: endpoint.caFile)
        let service = try await RunningService(settings, in: workplace)
        try await feed.waitForReader()
        for _ in 0..<updates {
            try feed.send(feed.epoch(after: 10))
            try await Task.sleep(for: .milliseconds(10))
        }
        try await measureProcessorTime(of: service, sendingFrom: &feed)
        try await measureResidentMemory(of: service, curlEndpoint: endpoint)
        let ledger = try await service.stop(settings, in: workplace)
        guard ledger.delivered > updates * 3 / 4 else {
            throw BenchmarkError("only \(ledger.delivered) of \(updates) updates were delivered: \(service.logTail)")
        }
    }

    /// Sends epochs in real time, to the service and to `cat` as the reference.
    private static func measureProcessorTime(
        of service: RunningService, sendingFrom feed: inout EpochFeed
    ) async throws {
        let copy = try EpochFeed()
        try copy.setRawMode()
        let reader = try RunningProgram(["/bin/sh", "-c", "exec cat \"$0\" >/dev/null", copy.device])
        try await copy.waitForReader()
        let agentBefore = try ProcessFigures.processorTime(of: service.program.processID)
        let readerBefore = try ProcessFigures.processorTime(of: reader.processID)
        let start = ContinuousClock.now
        for second in 1...secondsAtOneHertz {
            let epoch = try feed.epoch(after: 1)
            try feed.send(epoch)
            try copy.send(epoch)
            try await Task.sleep(until: start.advanced(by: .seconds(second)), clock: .continuous)
        }
        let passed = start.duration(to: ContinuousClock.now)
        let agent = try ProcessFigures.processorTime(of: service.program.processID) - agentBefore
        let bare = try ProcessFigures.processorTime(of: reader.processID) - readerBefore
        reader.kill()
        try BenchmarkCase("agent.processor-at-1-hertz", agent / passed * 100, "% of a core").keeping(.atMost(0.2))
            .against("cat reading the same line", limit: bare / passed * 100).print()
    }

    private static func measureResidentMemory(of service: RunningService, curlEndpoint: Endpoint) async throws {
        let processID = service.program.processID
        let curl = try await CurlCommand.residentMemory(whileWaitingFor: curlEndpoint)
        try BenchmarkCase("agent.resident", ProcessFigures.memory("VmRSS", of: processID), "MiB").keeping(.atMost(22))
            .against("curl waiting for an answer over TLS", limit: curl)
            .addingFigure("anonymous", value: ProcessFigures.memory("RssAnon", of: processID))
            .addingFigure("ofFiles", value: ProcessFigures.memory("RssFile", of: processID)).print()
    }
}
