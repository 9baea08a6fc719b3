import BenchmarkReport
import FoundationEssentials
import Reporting
import SQLiteOutbox
import TimeAndRandomness
import WaypostTestSupport

/// A measurement of a service that delivers a backlog of a million updates.
enum LargeBacklog {
    static func measure(in workplace: Workplace, tokenURL: String, endpoint: Endpoint, pending: Int) async throws {
        var feed = try EpochFeed()
        let settings = RunningService.Settings(
            name: "backlog", device: feed.device, endpoint: endpoint.address, tokenURL: tokenURL,
            caFile: endpoint.caFile)
        let end = (Int64(Date().timeIntervalSince1970) - 24 * 3600) * 1000
        var configuration = OutboxConfiguration(path: workplace.path("backlog.sqlite"), maximumBytes: 1 << 30)
        configuration.durability = .economy
        let outbox = try await SQLiteOutbox.open(configuration)
        for index in 0..<pending {
            var update = LocationUpdate(
                timeOfFix: UTCTime(millisecondsSince1970: end - Int64(pending - index) * 1000),
                latitude: 48.1173 + Double(index % 1000) * 1.3e-6, longitude: 11.5166 + Double(index % 1000) * 2.9e-6)
            update.speedMetersPerSecond = 13.9
            update.headingDegrees = index % 360
            update.horizontalAccuracyMeters = 2.5
            try await outbox.append(update)
        }
        try await outbox.close()
        let service = try await RunningService(settings, in: workplace)
        try await feed.waitForReader()
        for _ in 0..<50 {
            try feed.send(feed.epoch(after: 10))
            try await Task.sleep(for: .milliseconds(100))
        }
        let processID = service.program.processID
        let peak = try ProcessFigures.memory("VmHWM", of: processID)
        let anonymous = try ProcessFigures.memory("RssAnon", of: processID)
        let ofFiles = try ProcessFigures.memory("RssFile", of: processID)
        let ledger = try await service.stop(settings, in: workplace)
        guard ledger.accepted > pending, ledger.delivered > 0 else {
            throw BenchmarkError("\(ledger.delivered) of \(pending) pending updates were delivered: \(service.logTail)")
        }
        try BenchmarkCase("agent.resident-with-backlog", peak, "MiB").keeping(.atMost(28))
            .addingFigure("anonymous", value: anonymous).addingFigure("ofFiles", value: ofFiles).addingFigure(
                "pendingAtStart", value: Double(pending)
            )
            .addingFigure("deliveredMeanwhile", value: Double(ledger.delivered)).addingFigure(
                "startToReadyMilliseconds", value: service.timeToReady / .milliseconds(1)
            )
            .print()
    }
}
