import FoundationEssentials
import GNSS
import LinuxPlatform
import ReceiverSimulator
import StrictJSON
import Testing
import TimeAndChance
import WaypostTestSupport

/// The status address of a running service, over HTTP.
@Suite(.timeLimit(.minutes(1))) struct StatusAddress {
    @Test(arguments: ["127.0.0.1:0", "unix"]) func tellsWhatHappened(kind: String) async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start { $0.status = kind == "unix" ? "unix:\(bench.folder.path("status"))" : kind }
        let address = try await service.statusAddress()
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        let epoch = try #require(RecentDrive(epochs: 1).first { _ in true })
        try receiver.send(epoch)
        try #require(await service.errors.line(saying: "delivered 1 in") != nil)

        var health = await RawExchange.get("/healthz", from: address)
        // The outbox hears of the delivery right after the log.
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
        #expect(status["tokenFetches"]?.integerValue == 1)

        let metrics = await RawExchange.get("/metrics", from: address)
        #expect(metrics.body.contains("\nwaypost_updates_delivered_total 1\n"))
        #expect(metrics.body.contains("\nwaypost_healthy 1\n"))
        #expect(await RawExchange.get("/", from: address).body.hasPrefix("<!doctype html>"))
        let page = try JSONValue(parsing: Array(await RawExchange.get("/page.json", from: address).body.utf8))
        #expect(page["verdict"]?["title"]?.stringValue == "All is well")
        #expect(page["minutes"]?[59]?[0]?.integerValue == 1 || page["minutes"]?[58]?[0]?.integerValue == 1)
        #expect(
            page["events"]?.arrayValue?.contains { $0["text"]?.stringValue?.contains("is delivered") == true } == true)
        #expect(await RawExchange.get("/map", from: address).body.contains("class=\"vehicle\""))
        #expect(await RawExchange.get("/token", from: address).status == "HTTP/1.1 404 Not Found")
        #expect(await service.terminate().ending == .exited(0))
        #expect(await RawExchange.send([], to: address).ending == .notConnected)
    }
}

/// What the page's buttons do to a running service.
extension StatusAddress {
    /// As the page sends it from its own address, or as another page would.
    private static func press(
        _ path: String, at address: LocalAddress, origin: String? = nil
    ) async -> RawExchange {
        let origin = origin ?? "http://\(address)"
        let head = "POST \(path) HTTP/1.1\r\nHost: \(address)\r\nOrigin: \(origin)\r\nContent-Length: 0\r\n"
        return await RawExchange.send([head + "Connection: close\r\n\r\n"], to: address)
    }

    private static func orders(at address: LocalAddress) async throws -> JSONValue {
        let page = await RawExchange.get("/page.json", from: address)
        return try #require(try JSONValue(parsing: Array(page.body.utf8))["orders"])
    }

    @Test func runsTheChecks() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start()
        let address = try await service.statusAddress()
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        try receiver.send(try #require(RecentDrive(epochs: 1).first { _ in true }))
        try #require(await service.errors.line(saying: "delivered 1 in") != nil)
        #expect(await Self.press("/check", at: address, origin: "http://127.0.0.1:1").status.contains(" 403 "))
        #expect(await Self.press("/check", at: address).status.contains(" 202 "))
        var orders = try await Self.orders(at: address)
        while orders["checkedSecondsAgo"]?.isNull == true {
            try Task.checkCancellation()
            orders = try await Self.orders(at: address)
        }
        let lines = try #require(orders["lines"]?.arrayValue)
        let verdicts = lines.map { "\($0["verdict"]?.stringValue ?? "") \($0["name"]?.stringValue ?? "")" }
        #expect(verdicts.suffix(5) == ["ok service", "ok outbox", "ok receiver", "ok token", "ok Fleet Engine"])
        #expect(await service.terminate().ending == .exited(0))
    }

    /// Of a service that does not ask itself over its own address; without a position, and nothing is left on the disk.
    @Test func givesABundle() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start()
        let address = try await service.statusAddress()
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        try receiver.send(try #require(RecentDrive(epochs: 1).first { _ in true }))
        try #require(await service.errors.line(saying: "delivered 1 in") != nil)
        let before = try FileManager.default.contentsOfDirectory(atPath: bench.folder.path(""))
        let answer = await Self.press("/bundle", at: address)
        #expect(answer.status.contains(" 200 "))
        #expect(answer.text.contains("Content-Disposition: attachment; filename=\"waypost-van-7-"))
        for words in ["/MANIFEST", "All is well", "info: the first position of this run is delivered", "ok  service"] {
            #expect(answer.body.contains(words), "it does not say: \(words)")
        }
        #expect(answer.body.firstMatch(of: /[0-9]\.[0-9]{4,}/) == nil, "something looks like a coordinate")
        #expect(await Self.press("/bundle", at: address).status.contains(" 409 "))
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder.path("")) == before)
        #expect(await service.terminate().ending == .exited(0))
    }
}

extension RunningProgram {
    /// Where the service tells its status, once it has started.
    func statusAddress() async throws -> LocalAddress {
        let line = try #require(await errors.line(saying: "; status at "))
        let start = try #require(line.text.firstRange(of: "; status at ")).upperBound
        return try LocalAddress(String(line.text[start...].prefix { $0 != "\"" }))
    }
}
