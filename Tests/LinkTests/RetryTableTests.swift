import HTTPMessages
import HTTPService
import Reporting
import Testing
import WaypostTestSupport

/// Every row of the retry table, tested from outside: the real reporter and the real libcurl, with three pending
/// updates, send to a server that answers as the row says. `docs/evidence/link.md` lists the rows.
@Suite(.timeLimit(.minutes(2))) struct RetryTable {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let trouble: StandInFleetEngine.Trouble
        /// The reporter's wait after each failure, with the maximum jitter, in seconds.
        var waits: [Double] = []
        var requests = 2
        var tokensDiscarded = 0
        var quarantined: Set<Int64> = []
        /// A part of the message for the operator; may be empty.
        var words = ""

        init(_ name: String, _ trouble: @escaping StandInFleetEngine.Trouble, _ change: (inout Self) -> Void) {
            testDescription = name
            self.trouble = trouble
            change(&self)
        }
    }

    /// Returns trouble that answers the first `times` requests with `answer`.
    private static func first(_ answer: ServedResponse, times: Int = 1) -> StandInFleetEngine.Trouble {
        { number, _ in number <= times ? answer : nil }
    }

    /// Returns trouble that gives `answer` to every batch that contains the update of second 2, at any place.
    private static func poison(_ answer: ServedResponse) -> StandInFleetEngine.Trouble {
        { _, arrival in ([arrival.last] + arrival.past).contains(2) ? answer : nil }
    }

    private static func rejection(_ status: Int, _ name: String) -> ServedResponse {
        StandInFleetEngine.refusal(status, name)
    }

    private static func advised(_ status: Int, _ name: String, retryAfter: String) -> ServedResponse {
        var answer = StandInFleetEngine.refusal(status, name)
        answer.response.headers["Retry-After"] = retryAfter
        return answer
    }

    private static let retryInfo =
        #"[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"20.500s"}]"#

    static let verdicts: [Row] = [
        Row("200", { _, _ in nil }) { $0.requests = 1 },
        Row("400 INVALID_ARGUMENT", poison(rejection(400, "INVALID_ARGUMENT"))) {
            ($0.requests, $0.quarantined, $0.words) = (3, [2], "INVALID_ARGUMENT")
        },
        Row("400 OUT_OF_RANGE", poison(rejection(400, "OUT_OF_RANGE"))) { ($0.requests, $0.quarantined) = (3, [2]) },
        Row("400 FAILED_PRECONDITION", poison(rejection(400, "FAILED_PRECONDITION"))) {
            ($0.requests, $0.quarantined) = (3, [2])
        },
        Row("401 once", first(rejection(401, "UNAUTHENTICATED"))) { $0.tokensDiscarded = 1 },
        Row("401 twice", first(rejection(401, "UNAUTHENTICATED"), times: 2)) {
            ($0.waits, $0.requests, $0.tokensDiscarded) = ([60], 4, 2)
        },
        Row("403 once", first(rejection(403, "PERMISSION_DENIED"))) { $0.tokensDiscarded = 1 },
        Row("403 three times", first(rejection(403, "PERMISSION_DENIED"), times: 3)) {
            ($0.waits, $0.requests, $0.tokensDiscarded) = ([60, 60], 5, 3)
        },
        Row("404 three times", first(rejection(404, "NOT_FOUND"), times: 3)) {
            // After the first request, probes contain only the newest update; then the backlog follows.
            ($0.waits, $0.requests, $0.words) = ([60, 120, 240], 5, "NOT_FOUND")
        },
        Row("501", first(rejection(501, "UNIMPLEMENTED"))) { ($0.waits, $0.requests) = ([60], 3) },
        Row("413", { _, arrival in arrival.past.count > 1 ? strange(413, "") : nil }) { $0.requests = 3 },
    ]

    static let passing: [Row] = [
        Row("408", first(strange(408, ""))) { $0.waits = [1] },
        Row("409 ABORTED", first(rejection(409, "ABORTED"))) { $0.waits = [1] },
        Row("429", first(rejection(429, "RESOURCE_EXHAUSTED"), times: 2)) { ($0.waits, $0.requests) = ([5, 10], 3) },
        Row("429 with Retry-After", first(advised(429, "RESOURCE_EXHAUSTED", retryAfter: "30"))) { $0.waits = [31] },
        Row("429 with RetryInfo", first(StandInFleetEngine.refusal(429, "RESOURCE_EXHAUSTED", details: retryInfo))) {
            $0.waits = [21.5]
        },
        Row("499 CANCELLED", first(rejection(499, "CANCELLED"))) { $0.waits = [1] },
        Row("500 INTERNAL", first(rejection(500, "INTERNAL"), times: 3)) { ($0.waits, $0.requests) = ([1, 2, 4], 4) },
        Row("500 UNKNOWN", first(rejection(500, "UNKNOWN"))) { $0.waits = [1] },
        Row("500 DATA_LOSS", first(rejection(500, "DATA_LOSS"))) { $0.waits = [1] },
        Row("502 with HTML", first(strange(502, "<html>Bad Gateway</html>"))) { $0.waits = [1] },
        Row("503 UNAVAILABLE", first(rejection(503, "UNAVAILABLE"), times: 2)) {
            ($0.waits, $0.requests) = ([1, 2], 3)
        },
        Row("503 with Retry-After", first(advised(503, "UNAVAILABLE", retryAfter: "30"))) { $0.waits = [31] },
        Row("503 with a date", first(dated)) { $0.waits = [46] },
        Row("504 DEADLINE_EXCEEDED", first(rejection(504, "DEADLINE_EXCEEDED"))) { $0.waits = [1] },
    ]

    private static let dated: ServedResponse = {
        var answer = advised(503, "UNAVAILABLE", retryAfter: "Sun, 06 Nov 1994 08:50:00 GMT")
        answer.response.headers["Date"] = "Sun, 06 Nov 1994 08:49:15 GMT"
        return answer
    }()

    private static func strange(_ status: Int, _ body: String, headers: [String: String] = [:]) -> ServedResponse {
        StandInFleetEngine.strange(status, body, headers: headers)
    }

    static let portals: [Row] =
        [
            ("a redirect", strange(302, "", headers: ["Location": "/login"])),
            ("a permanent redirect", strange(301, "<html></html>", headers: ["Location": "/login"])),
            ("HTML", strange(200, "<html>Welcome to our Wi-Fi</html>")), ("an empty body", strange(200, "")),
            ("a truncated body", strange(200, #"{"name":"providers/p/vehi"#)),
            ("another program's JSON", strange(200, #"{"status":"login required"}"#)),
            ("204", strange(204, "")), ("511", strange(511, "<html>log in</html>")),
            ("401 with HTML", strange(401, "<html>proxy authentication</html>")),
            ("403 with HTML", strange(403, "<html>blocked</html>")),
            ("404 with HTML", strange(404, "<html>gone</html>")),
            ("400 with HTML", strange(400, "<html>Bad Request</html>")), ("407", strange(407, "")),
        ].map { name, answer in
            Row("captive portal: \(name)", first(answer)) { ($0.waits, $0.words) = ([1], "captive portal") }
        } + [
            // The batches have three updates, two, and one. Then the single update is delivered, and the others follow.
            Row("captive portal: 413 to everything", first(strange(413, "<html>too large</html>"), times: 3)) {
                ($0.waits, $0.requests, $0.words) = ([1], 6, "not from Fleet Engine")
            }
        ]

    static let broken: [Row] = [
        Row("10 MB", first(strange(200, String(repeating: "x", count: 10_000_000)))) {
            ($0.waits, $0.words) = ([1], "larger than")
        },
        Row("reset before the answer", first(delivered(.reset(afterBytes: 0)))) { $0.waits = [1] },
        Row("reset within the answer", first(delivered(.reset(afterBytes: 40)))) { $0.waits = [1] },
        Row("answer lost after commit", first(delivered(.drop))) { $0.waits = [1] },
    ]

    private static func delivered(_ delivery: ServedResponse.Delivery) -> ServedResponse {
        var answer = StandInFleetEngine.delivered
        answer.delivery = delivery
        return answer
    }

    @Test(arguments: verdicts + passing + portals + broken) func isFollowed(row: Row) async throws {
        let server = try StandInFleetEngine(row.trouble)
        let bench = LinkBench()
        try await bench.accept(1...3)
        let seen = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.service.run() }
            let seen = try await bench.drain(bench.reporter(to: "http://\(server.address)"))
            group.cancelAll()
            return seen
        }
        #expect(seen.waits == row.waits.map { .milliseconds(Int($0 * 1000)) })
        #expect(server.arrivals.count == row.requests)
        #expect(seen.tokensDiscarded == row.tokensDiscarded)
        #expect(seen.quarantined == row.quarantined)
        #expect(row.words.isEmpty || seen.reasons.contains { $0.contains(row.words) }, "\(seen.reasons)")
        // Nothing is lost or invented, and an older position is never sent as the newest.
        #expect(seen.ledger.accepted == 3 && seen.ledger.balances && seen.ledger.pending == 0)
        #expect(seen.ledger.delivered == 3 - Int64(row.quarantined.count))
        #expect(server.arrivals.allSatisfy { $0.last == 3 })
        #expect(Set(server.arrivals.flatMap { [$0.last] + $0.past }) == [1, 2, 3])
    }

    /// An update that the server rejects costs requests but no wait, so the others aren't delayed.
    @Test(arguments: 1...12) func isNotBlockedByOneUpdate(poisoned: Int) async throws {
        let server = try StandInFleetEngine { _, arrival in
            ([arrival.last] + arrival.past).contains(poisoned) ? Self.rejection(400, "INVALID_ARGUMENT") : nil
        }
        let bench = LinkBench()
        try await bench.accept(1...12)
        let seen = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.service.run() }
            let seen = try await bench.drain(bench.reporter(to: "http://\(server.address)"))
            group.cancelAll()
            return seen
        }
        #expect(seen.waits.isEmpty)
        #expect(seen.quarantined == [Int64(poisoned)])
        #expect(seen.ledger.delivered == 11)
        #expect(server.arrivals.count <= 16)
    }
}
