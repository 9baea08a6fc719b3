import GNSS
import HTTPMessages
import HTTPService
import LinuxPlatform
import Reporting
import SQLiteOutbox
import StrictJSON
import Testing
import TimeAndRandomness
@testable import Operations
import WaypostTestSupport

/// The answers of the status address, without a network.
@Suite(.timeLimit(.minutes(1))) struct StatusAnswers {
    let clock = ManualClock()
    let history: HistoryKeeper
    let routes: StatusRoutes

    init() {
        let clock = MonotonicClock(clock)
        history = HistoryKeeper(clock: clock)
        let monitor = AgentMonitor(clock: clock)
        let report = StatusReport(
            vehicle: "providers/p/vehicles/v", snapshot: monitor.snapshot, outbox: StoreSummary(Ledger()),
            durability: .full, at: clock.now)
        routes = StatusRoutes(
            report: { report }, history: history,
            now: { UTCTime(year: 2026, month: 11, day: 21) }, nonce: { "4711" })
    }

    private func answer(
        _ method: HTTPMethod, _ target: String
    ) async -> HTTPResponse {
        await routes.answer(ServedRequest(method, target)).response
    }

    @Test(arguments: [
        ("GET", "/status", 200), ("GET", "/metrics", 200), ("GET", "/healthz", 200), ("GET", "/healthz?x=1", 200),
        ("GET", "/", 200), ("HEAD", "/", 200), ("GET", "/page.json", 200), ("GET", "/map", 200),
        ("POST", "/status", 405), ("POST", "/", 405), ("PUT", "/page.json", 405), ("DELETE", "/metrics", 405),
        ("POST", "/check", 404), ("POST", "/bundle", 404), ("GET", "/../etc/passwd", 404),
    ])
    func haveTheExpectedStatusCodes(method: String, target: String, status: Int) async throws {
        #expect(await answer(try #require(HTTPMethod(rawValue: method)), target).status == status)
    }

    /// A foreign page can't frame or read the answers, or run its own script in them.
    @Test(arguments: ["/", "/page.json", "/map", "/status"])
    func areHiddenFromForeignPages(path: String) async throws {
        let headers = await answer(.get, path).headers
        #expect(headers["Cache-Control"] == "no-store")
        #expect(headers["X-Content-Type-Options"] == "nosniff")
        #expect(headers["Cross-Origin-Resource-Policy"] == "same-origin")
        let policy = try #require(headers["Content-Security-Policy"])
        #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("unsafe"))
        if path == "/" {
            #expect(policy.contains("script-src 'nonce-4711'") && policy.contains("style-src 'nonce-4711'"))
            #expect(policy.contains("frame-ancestors 'none'") && policy.contains("connect-src 'self'"))
        }
    }

    @Test func reportEventsToThePage() async throws {
        history.observe(.fix(.sample(0, speed: 12)))
        history.observe(RecentHistories.delivered(3))
        history.note(pending: 4)
        history.note(.warning, "words of <b>others</b> & \"quotes\"", nil)
        clock.advance(by: .seconds(20))
        let page = try JSONValue(parsing: await answer(.get, "/page.json").body)
        #expect(page["verdict"]?["kind"]?.stringValue == "well")
        #expect(page["verdict"]?["paragraphs"]?[0]?[0]?["text"]?.stringValue == "Starting")
        #expect(page["status"]?["vehicle"]?.stringValue == "providers/p/vehicles/v")
        #expect(page["place"]?["latitude"]?.doubleValue == 50 && page["place"]?["speed"]?.doubleValue == 12)
        #expect(page["minutes"]?.arrayValue?.count == 60)
        #expect(page["minutes"]?[59] == .array([.integer(3), .integer(0), .integer(4)]))
        #expect(page["events"]?[0]?["text"]?.stringValue == "words of <b>others</b> & \"quotes\"", nil)
        // The event is 20 s older than the page.
        #expect(page["events"]?[0]?["time"]?.integerValue == 1_795_219_180_000)
        let map = String(decoding: await answer(.get, "/map").body, as: UTF8.self)
        #expect(map.contains("class=\"vehicle\"") && !map.contains("<script"))
    }

    /// Speed and heading of an old fix are not shown, and an outage covers its failures.
    @Test func showOldFixesAsPast() async throws {
        history.observe(.fix(.sample(0, speed: 12)))
        clock.advance(by: .seconds(90))
        history.observe(RecentHistories.failed)
        clock.advance(by: .seconds(45))
        let page = try JSONValue(parsing: await answer(.get, "/page.json").body)
        #expect(page["place"]?["latitude"]?.doubleValue == 50 && page["place"]?["speed"]?.isNull == true)
        #expect(page["minutes"]?[58]?[1]?.integerValue == 1)
        #expect(page["outages"] == .array([.array([.number(58.5), .integer(60)])]))
        let map = String(decoding: await answer(.get, "/map").body, as: UTF8.self)
        #expect(map.contains("class=\"vehicle last\"") && !map.contains("vehicle now"))
    }
}
