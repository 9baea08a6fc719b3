import HTTPMessages
import HTTPService
import Reporting
import Testing
import WaypostTestSupport

/// Every row of the retry table, tested from outside. The real reporter, with the real libcurl and three pending
/// updates, sends to a server that gives the row's answer. `docs/evidence/link.md` lists the rows.
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
        var messagePart = ""

        init(_ name: String, _ trouble: @escaping StandInFleetEngine.Trouble, _ change: (inout Self) -> Void) {
            testDescription = name
            self.trouble = trouble
            change(&self)
        }
    }

    /// Returns trouble that answers the first `times` requests with `answer`.
    private static func answerFirstRequests(
        with answer: ServedResponse, times: Int = 1
    ) -> StandInFleetEngine.Trouble {
        { number, _ in number <= times ? answer : nil }
    }

    /// Returns trouble that gives `answer` to every batch that contains the update of second 2, at any place.
    private static func answerBatchesOfUpdate2(with answer: ServedResponse) -> StandInFleetEngine.Trouble {
        { _, arrival in ([arrival.last] + arrival.past).contains(2) ? answer : nil }
    }

    private static func rejection(_ status: Int, name: String) -> ServedResponse {
        StandInFleetEngine.refusal(status, name)
    }

    private static func rejection(_ status: Int, name: String, retryAfter: String) -> ServedResponse {
        var answer = StandInFleetEngine.refusal(status, name)
        answer.response.headers["Retry-After"] = retryAfter
        return answer
    }

    /// The usual answer, compressed.
    private static let compressed = ServedResponse(
        HTTPResponse(
            status: 200, headers: HTTPHeaders(["Content-Type": "application/json", "Content-Encoding": "gzip"]),
            body: [
                31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 202, 75, 204, 77, 85, 178, 82, 42, 40, 202, 47, 203, 76, 73,
                45, 42, 214, 47, 208, 47, 75, 205, 200, 76, 206, 73, 45, 214, 47, 83, 170, 5, 0, 194, 220, 226, 66, 33,
                0, 0, 0,
            ]))

    private static let retryInfo =
        #"[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"20.500s"}]"#

    static let verdicts: [Row] = [
        Row("200", { _, _ in nil }) { $0.requests = 1 },
        Row("200 in gzip, which wasn't requested", answerFirstRequests(with: compressed)) { $0.requests = 1 },
        Row("400 INVALID_ARGUMENT", answerBatchesOfUpdate2(with: rejection(400, name: "INVALID_ARGUMENT"))) {
            ($0.requests, $0.quarantined, $0.messagePart) = (3, [2], "INVALID_ARGUMENT")
        },
        Row("400 OUT_OF_RANGE", answerBatchesOfUpdate2(with: rejection(400, name: "OUT_OF_RANGE"))) {
            ($0.requests, $0.quarantined) = (3, [2])
        },
        Row("400 FAILED_PRECONDITION", answerBatchesOfUpdate2(with: rejection(400, name: "FAILED_PRECONDITION"))) {
            ($0.requests, $0.quarantined) = (3, [2])
        },
        Row("401 once", answerFirstRequests(with: rejection(401, name: "UNAUTHENTICATED"))) { $0.tokensDiscarded = 1 },
        Row("401 twice", answerFirstRequests(with: rejection(401, name: "UNAUTHENTICATED"), times: 2)) {
            ($0.waits, $0.requests, $0.tokensDiscarded) = ([60], 4, 2)
        },
        Row("403 once", answerFirstRequests(with: rejection(403, name: "PERMISSION_DENIED"))) {
            $0.tokensDiscarded = 1
        },
        Row("403 three times", answerFirstRequests(with: rejection(403, name: "PERMISSION_DENIED"), times: 3)) {
            ($0.waits, $0.requests, $0.tokensDiscarded) = ([60, 60], 5, 3)
        },
        Row("404 three times", answerFirstRequests(with: rejection(404, name: "NOT_FOUND"), times: 3)) {
            // After the first request, probes contain only the newest update; then the backlog follows.
            ($0.waits, $0.requests, $0.messagePart) = ([60, 120, 240], 5, "NOT_FOUND")
        },
        Row("501", answerFirstRequests(with: rejection(501, name: "UNIMPLEMENTED"))) {
            ($0.waits, $0.requests) = ([60], 3)
        },
        Row("413", { _, arrival in arrival.past.count > 1 ? strange(413, body: "") : nil }) { $0.requests = 3 },
    ]

    static let temporary: [Row] = [
        Row("408", answerFirstRequests(with: strange(408, body: ""))) { $0.waits = [1] },
        Row("409 ABORTED", answerFirstRequests(with: rejection(409, name: "ABORTED"))) { $0.waits = [1] },
        Row("429", answerFirstRequests(with: rejection(429, name: "RESOURCE_EXHAUSTED"), times: 2)) {
            ($0.waits, $0.requests) = ([5, 10], 3)
        },
        Row(
            "429 with Retry-After",
            answerFirstRequests(with: rejection(429, name: "RESOURCE_EXHAUSTED", retryAfter: "30"))
        ) { $0.waits = [31] },
        Row(
            "429 with RetryInfo",
            answerFirstRequests(with: StandInFleetEngine.refusal(429, "RESOURCE_EXHAUSTED", details: retryInfo))
        ) {
            $0.waits = [21.5]
        },
        Row("499 CANCELLED", answerFirstRequests(with: rejection(499, name: "CANCELLED"))) { $0.waits = [1] },
        Row("500 INTERNAL", answerFirstRequests(with: rejection(500, name: "INTERNAL"), times: 3)) {
            ($0.waits, $0.requests) = ([1, 2, 4], 4)
        },
        Row("500 UNKNOWN", answerFirstRequests(with: rejection(500, name: "UNKNOWN"))) { $0.waits = [1] },
        Row("500 DATA_LOSS", answerFirstRequests(with: rejection(500, name: "DATA_LOSS"))) { $0.waits = [1] },
        Row("502 with HTML", answerFirstRequests(with: strange(502, body: "<html>Bad Gateway</html>"))) {
            $0.waits = [1]
        },
        Row("503 UNAVAILABLE", answerFirstRequests(with: rejection(503, name: "UNAVAILABLE"), times: 2)) {
            ($0.waits, $0.requests) = ([1, 2], 3)
        },
        Row("503 with Retry-After", answerFirstRequests(with: rejection(503, name: "UNAVAILABLE", retryAfter: "30"))) {
            $0.waits = [31]
        },
        Row("503 with a date", answerFirstRequests(with: unavailableWithDate)) { $0.waits = [46] },
        Row("504 DEADLINE_EXCEEDED", answerFirstRequests(with: rejection(504, name: "DEADLINE_EXCEEDED"))) {
            $0.waits = [1]
        },
    ]

    private static let unavailableWithDate: ServedResponse = {
        var answer = rejection(503, name: "UNAVAILABLE", retryAfter: "Sun, 06 Nov 1994 08:50:00 GMT")
        answer.response.headers["Date"] = "Sun, 06 Nov 1994 08:49:15 GMT"
        return answer
    }()

    private static func strange(_ status: Int, body: String, headers: [String: String] = [:]) -> ServedResponse {
        StandInFleetEngine.strange(status, body, headers: headers)
    }

    static let portals: [Row] =
        [
            ("a redirect", strange(302, body: "", headers: ["Location": "/login"])),
            ("a permanent redirect", strange(301, body: "<html></html>", headers: ["Location": "/login"])),
            ("HTML", strange(200, body: "<html>Welcome to our Wi-Fi</html>")),
            ("an empty body", strange(200, body: "")),
            ("a truncated body", strange(200, body: #"{"name":"providers/p/vehi"#)),
            ("another program's JSON", strange(200, body: #"{"status":"login required"}"#)),
            ("204", strange(204, body: "")), ("511", strange(511, body: "<html>log in</html>")),
            ("401 with HTML", strange(401, body: "<html>proxy authentication</html>")),
            ("403 with HTML", strange(403, body: "<html>blocked</html>")),
            ("404 with HTML", strange(404, body: "<html>gone</html>")),
            ("400 with HTML", strange(400, body: "<html>Bad Request</html>")), ("407", strange(407, body: "")),
        ].map { name, answer in
            Row("captive portal: \(name)", answerFirstRequests(with: answer)) {
                ($0.waits, $0.messagePart) = ([1], "captive portal")
            }
        } + [
            // The batches have three updates, two, and one. Then the single update is delivered, and the others follow.
            Row(
                "captive portal: 413 to everything",
                answerFirstRequests(with: strange(413, body: "<html>too large</html>"), times: 3)
            ) {
                ($0.waits, $0.requests, $0.messagePart) = ([1], 6, "not from Fleet Engine")
            }
        ]

    static let brokenAnswers: [Row] = [
        Row("10 MB", answerFirstRequests(with: strange(200, body: String(repeating: "x", count: 10_000_000)))) {
            ($0.waits, $0.messagePart) = ([1], "larger than")
        },
        Row("reset before the answer", answerFirstRequests(with: delivered(.reset(afterBytes: 0)))) { $0.waits = [1] },
        Row("reset within the answer", answerFirstRequests(with: delivered(.reset(afterBytes: 40)))) { $0.waits = [1] },
        Row("answer lost after commit", answerFirstRequests(with: delivered(.drop))) { $0.waits = [1] },
    ]

    private static func delivered(_ delivery: ServedResponse.Delivery) -> ServedResponse {
        var answer = StandInFleetEngine.delivered
        answer.delivery = delivery
        return answer
    }

    @Test(arguments: verdicts + temporary + portals + brokenAnswers) func isFollowed(row: Row) async throws {
        let server = try StandInFleetEngine(row.trouble)
        let bench = LinkBench()
        try await bench.appendUpdates(of: 1...3)
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
        #expect(row.messagePart.isEmpty || seen.reasons.contains { $0.contains(row.messagePart) }, "\(seen.reasons)")
        // Nothing is lost or invented, and an older position is never sent as the newest.
        #expect(seen.ledger.accepted == 3 && seen.ledger.balances && seen.ledger.pending == 0)
        #expect(seen.ledger.delivered == 3 - Int64(row.quarantined.count))
        #expect(server.arrivals.allSatisfy { $0.last == 3 })
        #expect(Set(server.arrivals.flatMap { [$0.last] + $0.past }) == [1, 2, 3])
    }

    /// An update that the server rejects costs requests but no wait, so the others aren't delayed.
    @Test(arguments: 1...12) func isNotBlockedByOneRejectedUpdate(rejected: Int) async throws {
        let server = try StandInFleetEngine { _, arrival in
            ([arrival.last] + arrival.past).contains(rejected) ? Self.rejection(400, name: "INVALID_ARGUMENT") : nil
        }
        let bench = LinkBench()
        try await bench.appendUpdates(of: 1...12)
        let seen = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.service.run() }
            let seen = try await bench.drain(bench.reporter(to: "http://\(server.address)"))
            group.cancelAll()
            return seen
        }
        #expect(seen.waits.isEmpty)
        #expect(seen.quarantined == [Int64(rejected)])
        #expect(seen.ledger.delivered == 11)
        #expect(server.arrivals.count <= 16)
    }
}
