import FoundationEssentials
import Testing
import WaypostTestSupport

/// The speed of the service, one JSON line per case. `WAYPOST_MEASURE` enables these tests, which are meant for a
/// release build, named by `WAYPOST_PROGRAM`.
@Suite(
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: ProcessInfo.processInfo.environment["WAYPOST_MEASURE"] != nil, "only on request"))
struct ServiceMeasurements {
    /// The time from the last byte of an epoch to its position in the simulator's record.
    @Test func epochToArrival() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start { $0.level = "info" }
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        var times: [Duration] = []
        for epoch in RecentDrive(epochs: 320) {
            try receiver.send(epoch)
            let sent = ContinuousClock.now
            times.append(sent.duration(to: try #require(await bench.arrival(of: epoch)).arrivedAt))
        }
        // During the first epochs, the service learns the receiver's cycle, fetches a token and opens a connection.
        printQuantiles(of: Array(times.dropFirst(20)), named: "epochToArrival")
        await service.terminate()
    }

    /// The time from the start of the process to `READY=1`.
    @Test func startToReady() async throws {
        let bench = try ServiceBench()
        var times: [Duration] = []
        for number in 1...20 {
            let manager = try NotifySocket(at: bench.directory.path("notify\(number)"))
            let service = try bench.start(environment: ["NOTIFY_SOCKET": manager.path])
            let ready = try #require(await manager.messages.line(saying: "READY=1"))
            times.append(service.startedAt.duration(to: ready.arrivedAt))
            await service.terminate()
        }
        printQuantiles(of: times, named: "startToReady")
    }

    private func printQuantiles(of times: [Duration], named name: String) {
        let sorted = times.map { ($0 / .microseconds(1)).rounded() / 1000 }.sorted()
        func quantile(_ share: Double) -> Double { sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] }
        print(
            "{\"case\": \"\(name)\", \"count\": \(sorted.count), \"p50Milliseconds\": \(quantile(0.5)), "
                + "\"p99Milliseconds\": \(quantile(0.99)), \"maximumMilliseconds\": \(sorted[sorted.count - 1])}")
    }
}
