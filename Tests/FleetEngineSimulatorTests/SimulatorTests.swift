import FleetEngine
import FleetEngineSimulator
import FoundationEssentials
import HTTPMessages
import HTTPService
import LinuxPlatform
import StrictJSON
import Testing
import WaypostTestSupport

@Suite struct Simulator {
    private static func fetchToken(from address: LocalAddress) async -> Substring? {
        let answer = await RawExchange.send(["GET /token/driver/van HTTP/1.0\r\n\r\n"], to: address).text
        return answer.split(separator: "\"").first { $0.hasPrefix("eyJ") }
    }

    /// Sends a position with the time 10:15:`second`. Returns the answer.
    private static func sendUpdate(to address: LocalAddress, token: Substring, second: Int) async -> String {
        let body =
            "{\"lastLocation\":{\"location\":{\"latitude\":1.5,\"longitude\":2},\"updateTime\":\"2026-01-05T10:15:\(second)Z\"}}"
        return await RawExchange.send(
            [
                "PUT /v1/providers/p/vehicles/van?updateMask=lastLocation HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    + "Authorization: Bearer \(token)\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            ], to: address
        ).text
    }

    @Test func servesTokensUpdatesRecordAndPageOnOnePort() async throws {
        let path = "/tmp/waypost-\(UUID().uuidString).jsonl"
        defer { for file in [path, path + ".uploads"] { try? FileManager.default.removeItem(atPath: file) } }
        var settings = SimulatorSettings()
        (settings.recordPath, settings.uploadsPath) = (path, path + ".uploads")
        let simulator = try FleetEngineSimulator(settings)
        let address = try LocalAddress("127.0.0.1:\(simulator.baseURL.port)")
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await simulator.run() }
            let token = try #require(await Self.fetchToken(from: address))
            let update = await Self.sendUpdate(to: address, token: token, second: 30)
            #expect(update.hasPrefix("HTTP/1.1 200 OK\r\n"))
            let van = ResourceName(provider: "p", service: .onDemandTrips, id: "van")
            #expect(await simulator.record.vehicles[van]?.fixTimes.map(\.description) == ["2026-01-05T10:15:30.000Z"])
            let page = await RawExchange.send(["GET / HTTP/1.0\r\n\r\n"], to: address).text
            #expect(page.contains("<!doctype html>"))
            #expect(
                !page.contains("http://") || page.contains("http://www.w3.org/2000/svg"),
                "the page loads no external file")
            let view = await RawExchange.send(["GET /page.json?vehicle=none HTTP/1.0\r\n\r\n"], to: address).received
            let json = try JSONValue(
                parsing: Array(view[try #require(view.firstRange(of: Array("\r\n\r\n".utf8))).upperBound...]))
            #expect(json["vehicle"]?["id"]?.stringValue == "van")
            #expect(json["tokensIssued"]?.integerValue == 1)
            #expect(String(decoding: view, as: UTF8.self).contains(token) == false, "a token is never shown")
            await simulator.beginOutage()
            #expect(await RawExchange.send(["GET /token/driver/van HTTP/1.0\r\n\r\n"], to: address).ending == .reset)
            await simulator.endOutage()
            group.cancelAll()
        }
        for file in [path, path + ".uploads"] {
            #expect(try FileStatus(at: file)?.permissions == 0o600, "only its owner may read where a vehicle was")
        }
        let lines = try String(contentsOfFile: path, encoding: .utf8)
        #expect(lines.contains("\"kind\":\"last\",\"latitude\":1.5,\"longitude\":2"))
        #expect(lines.contains("\"time\":\"2026-01-05T10:15:30.000Z\",\"vehicle\":\"providers/p/vehicles/van\"}\n"))
        let uploads = try JSONValue(parsing: Array(try Data(contentsOf: URL(filePath: path + ".uploads"))))
        #expect(uploads["time"]?.doubleValue == 1_767_608_130)
        #expect(uploads["locations"]?.arrayValue?.map { $0["latitude"]?.doubleValue } == [1.5])
    }

    /// Pages from other sites may not send requests; the same rule applies to the status address. The configured
    /// host's name is accepted.
    @Test(
        arguments: [
            ("127.0.0.1:0", "GET", "localhost", "http://evil.example.com", 403),
            ("127.0.0.1:0", "GET", "localhost", "http://localhost", 200),
            ("127.0.0.1:0", "GET", "evil.example.com", nil, 421), ("127.0.0.1:0", "GET", "127.1.2.3", nil, 421),
            ("127.1.2.3:0", "GET", "127.1.2.3:80", nil, 200), ("127.1.2.3:0", "GET", "127.0.0.1", nil, 200),
            ("127.0.0.1:0", "DELETE", "localhost", "http://evil.example.com", 403),
        ] as [(String, String, String, String?, Int)])
    func answersToLocalNamesOnly(
        listen: String, method: String, host: String, origin: String?, status: Int
    ) async throws {
        var settings = SimulatorSettings()
        settings.address = try LocalAddress(listen)
        let simulator = try FleetEngineSimulator(settings)
        let address = try LocalAddress("\(listen.dropLast(2)):\(simulator.baseURL.port)")
        await withDiscardingTaskGroup { group in
            group.addTask { await simulator.run() }
            let line = origin.map { "Origin: \($0)\r\n" } ?? ""
            let request = "\(method) / HTTP/1.1\r\nHost: \(host)\r\n\(line)Connection: close\r\n\r\n"
            #expect(await RawExchange.send([request], to: address).text.hasPrefix("HTTP/1.1 \(status) "))
            group.cancelAll()
        }
    }

    /// A browser sends requests for an image, a form or a link of a foreign page, and states where they come from.
    @Test func issuesNoTokensToPagesOfOtherSites() async throws {
        let simulator = try FleetEngineSimulator()
        let address = try LocalAddress("127.0.0.1:\(simulator.baseURL.port)")
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await simulator.run() }
            func get(_ path: String, from site: String) async -> String {
                let head = "GET \(path) HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: \(site)\r\n"
                return await RawExchange.send([head + "Connection: close\r\n\r\n"], to: address).text
            }
            for path in ["/token/driver/van", "/v1/providers/p/vehicles/van", "/", "/page.json"] {
                #expect(await get(path, from: "cross-site").hasPrefix("HTTP/1.1 403 "), "\(path)")
            }
            let view = await get("/page.json", from: "same-origin")
            let json = try JSONValue(
                parsing: Array(view[try #require(view.firstRange(of: "\r\n\r\n")).upperBound...].utf8))
            #expect(json["tokensIssued"]?.integerValue == 0)
            #expect(await get("/", from: "none").hasPrefix("HTTP/1.1 200 "))
            #expect(await get("/token/driver/van", from: "same-site").hasPrefix("HTTP/1.1 200 "))
            group.cancelAll()
        }
    }

    private static let position = #"""
        {"kind":"last","latitude":1.5,"longitude":2,"receivedAt":"2026-01-05T10:15:30.000Z","vehicle":"providers/p/vehicles/v"}
        """#
    private static let upload = #"{"locations":[],"time":1767608130,"vehicle":"providers/p/vehicles/v"}"#

    /// The simulator doesn't write to a configuration, a table, or a record in the other format.
    @Test(arguments: [
        (position, upload, true), (position + "\n" + position + "\n", upload + "\n" + upload, true), ("", "", true),
        (upload, upload, false), (position, position, false), (#"{"vehicle": {"providerId": "p"}}"#, "", false),
        ("", "town,latitude\n", false), ("[]", "", false),
    ])
    func appendsToItsOwnRecordsOnly(record: String, uploads: String, isAppended: Bool) throws {
        let directory = try TemporaryDirectory()
        var settings = SimulatorSettings()
        settings.recordPath = try directory.write(record.utf8, to: "record")
        settings.uploadsPath = try directory.write(uploads.utf8, to: "uploads")
        do {
            _ = try FleetEngineSimulator(settings)
            #expect(isAppended)
        } catch {
            #expect(!isAppended)
            #expect(error.description.contains(" exists and isn't a record of --record"), "\(error)")
        }
        for (name, contents) in [("record", record), ("uploads", uploads)] {
            #expect(try BoundedFile.contents(of: directory.path(name), limit: 1000) == Array(contents.utf8))
        }
    }

    /// A full disk is reported once, and requests are still answered.
    @Test func reportsThatItsRecordCannotBeWritten() async throws {
        let messages = Locked<[String]>([])
        var settings = SimulatorSettings()
        settings.recordPath = "/dev/full"
        settings.reportProblem = { message in messages.withLock { $0.append(message) } }
        let simulator = try FleetEngineSimulator(settings)
        let address = try LocalAddress("127.0.0.1:\(simulator.baseURL.port)")
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await simulator.run() }
            let token = try #require(await Self.fetchToken(from: address))
            for second in [30, 40] {
                let update = await Self.sendUpdate(to: address, token: token, second: second)
                #expect(update.hasPrefix("HTTP/1.1 200 OK\r\n"))
            }
            group.cancelAll()
        }
        #expect(
            messages.withLock { $0 } == [
                "cannot write the record file: No space left on device; later updates will be missing from it"
            ])
    }

    @Test func reportsWhyItDoesNotStart() throws {
        let first = try FleetEngineSimulator()
        var settings = SimulatorSettings()
        settings.address = try LocalAddress("127.0.0.1:\(first.baseURL.port)")
        let taken = #expect(throws: SimulatorError.self) { try FleetEngineSimulator(settings) }
        #expect(taken?.description.hasPrefix("simulator: cannot listen on 127.0.0.1:") == true)
        settings = SimulatorSettings()
        settings.recordPath = "/nowhere/record.jsonl"
        let unwritable = #expect(throws: SimulatorError.self) { try FleetEngineSimulator(settings) }
        #expect(
            unwritable?.description
                == "simulator: cannot write the record to /nowhere/record.jsonl: No such file or directory")
    }
}
