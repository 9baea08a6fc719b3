import FoundationEssentials
import GNSS
import LinuxPlatform
import ReceiverSimulator
import StrictJSON
import Testing
import TimeAndRandomness
import WaypostTestSupport

@Suite(.timeLimit(.minutes(1))) struct StatusAddress {
    @Test(arguments: ["127.0.0.1:0", "unix"]) func reportsTheStateOfTheService(kind: String) async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start { $0.status = kind == "unix" ? "unix:\(bench.directory.path("status"))" : kind }
        let address = try await service.statusAddress()
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        let epoch = try #require(RecentDrive(epochs: 1).first { _ in true })
        try receiver.send(epoch)
        try #require(await service.errors.line(saying: "delivered 1 update in") != nil)

        var health = await RawExchange.get("/healthz", from: address)
        // The outbox is notified of the delivery just after the log is written.
        while health.body.contains("; 1 pending") {
            try Task.checkCancellation()
            health = await RawExchange.get("/healthz", from: address)
        }
        #expect(health.status == "HTTP/1.1 200 OK")
        #expect(health.body.hasPrefix("ok: last fix ") && health.body.contains("; 0 pending"))

        let status = try JSONValue(parsing: Array(await RawExchange.get("/status", from: address).body.utf8))
        #expect(status["vehicle"]?.stringValue == "providers/p/vehicles/van-7")
        #expect(status["receiver"]?["state"]?.stringValue == "\(bench.devicePath): receiving")
        #expect(status["receiver"]?["timeOfFix"]?.stringValue == epoch.time.description)
        #expect(status["delivery"]?["timeOfFix"]?.stringValue == epoch.time.description)
        #expect(status["ledger"]?["accepted"]?.integerValue == 1)
        #expect(status["ledger"]?["delivered"]?.integerValue == 1)
        #expect(status["counts"]?["tokenFetches"]?.integerValue == 1)

        let metrics = await RawExchange.get("/metrics", from: address)
        #expect(metrics.body.contains("\nwaypost_updates_delivered_total 1\n"))
        #expect(metrics.body.contains("\nwaypost_healthy 1\n"))
        #expect(await RawExchange.get("/", from: address).body.hasPrefix("<!doctype html>"))
        let page = try JSONValue(parsing: Array(await RawExchange.get("/page.json", from: address).body.utf8))
        #expect(page["verdict"]?["kind"]?.stringValue == "well")
        #expect(page["verdict"]?["paragraphs"]?[0]?[0]?["text"]?.stringValue == "All is well")
        #expect(page["minutes"]?[59]?[0]?.integerValue == 1 || page["minutes"]?[58]?[0]?.integerValue == 1)
        #expect(
            page["events"]?.arrayValue?.contains {
                $0["text"]?.stringValue?.contains("first position of this run delivered") == true
            }
                == true)
        #expect(await RawExchange.get("/map", from: address).body.contains("class=\"vehicle\""))
        #expect(await RawExchange.get("/token", from: address).status == "HTTP/1.1 404 Not Found")
        #expect(await service.terminate().ending == .exited(0))
        #expect(await RawExchange.send([], to: address).ending == .notConnected)
    }
}

extension RunningProgram {
    func statusAddress() async throws -> LocalAddress {
        let line = try #require(await errors.line(saying: "; status at "))
        let start = try #require(line.text.firstRange(of: "; status at ")).upperBound
        return try LocalAddress(String(line.text[start...].prefix { $0 != "\"" }))
    }
}
