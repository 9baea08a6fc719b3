import FleetEngine
import HTTPMessages
import ReportedText
import Testing
import WaypostTestSupport

/// Every row of the retry table: what an answer means for what was sent.
@Suite struct Outcome {
    enum Kind: String { case delivered, tokenRefused, retry, throttled, unreachable, intercepted, hold, rejected }

    struct Row: CustomTestStringConvertible {
        let status: Int
        let body: String
        let kind: Kind
        var testDescription: String { "\(status) \(body.prefix(40)) is \(kind)" }
    }

    static func request(token: String = "t") throws -> HTTPRequest {
        HTTPRequest(
            .put, try HTTPURL("https://fleetengine.googleapis.com/v1/x"),
            headers: HTTPHeaders(["Authorization": "Bearer \(token)", "Content-Type": "application/json"]))
    }

    static func error(_ code: Int, _ status: String) -> String {
        #"{"error":{"code":\#(code),"message":"words","status":"\#(status)"}}"#
    }

    static let name = "providers/p/vehicles/v 1"
    static let rows: [Row] = [
        Row(status: 200, body: #"{"name":"providers/p/vehicles/v 1","vehicleState":"ONLINE"}"#, kind: .delivered),
        Row(status: 200, body: "{}", kind: .intercepted),
        Row(status: 200, body: "", kind: .intercepted),
        Row(status: 200, body: "<html>Welcome to our Wi-Fi</html>", kind: .intercepted),
        Row(status: 200, body: #"{"name":"providers/p/vehicles/other"}"#, kind: .intercepted),
        Row(status: 200, body: #"{"name":"providers/p/vehi"#, kind: .intercepted),
        Row(status: 204, body: "", kind: .intercepted),
        Row(status: 301, body: "", kind: .intercepted),
        Row(status: 302, body: "<html></html>", kind: .intercepted),
        Row(status: 400, body: error(400, "INVALID_ARGUMENT"), kind: .rejected),
        Row(status: 400, body: error(400, "OUT_OF_RANGE"), kind: .rejected),
        Row(status: 400, body: error(400, "FAILED_PRECONDITION"), kind: .rejected),
        Row(status: 400, body: "<html>Bad Request</html>", kind: .intercepted),
        Row(status: 401, body: error(401, "UNAUTHENTICATED"), kind: .tokenRefused),
        Row(status: 401, body: "", kind: .tokenRefused),
        Row(status: 401, body: "<html>log in to the proxy</html>", kind: .intercepted),
        Row(status: 401, body: "Unauthorized", kind: .intercepted),
        Row(status: 403, body: error(403, "PERMISSION_DENIED"), kind: .tokenRefused),
        Row(status: 403, body: "<html>blocked by proxy</html>", kind: .intercepted),
        Row(status: 404, body: error(404, "NOT_FOUND"), kind: .hold),
        Row(status: 404, body: "<html>not here</html>", kind: .intercepted),
        Row(status: 407, body: "", kind: .intercepted),
        Row(status: 408, body: "", kind: .retry),
        Row(status: 409, body: error(409, "ABORTED"), kind: .retry),
        Row(status: 413, body: error(413, "INVALID_ARGUMENT"), kind: .rejected),
        Row(status: 413, body: "", kind: .intercepted),
        Row(status: 413, body: "<html>413 Request Entity Too Large</html>", kind: .intercepted),
        Row(status: 413, body: "too large", kind: .intercepted),
        Row(status: 429, body: error(429, "RESOURCE_EXHAUSTED"), kind: .throttled),
        Row(status: 429, body: "<html>slow down</html>", kind: .throttled),
        Row(status: 499, body: error(499, "CANCELLED"), kind: .retry),
        Row(status: 500, body: error(500, "INTERNAL"), kind: .retry),
        Row(status: 500, body: error(500, "UNKNOWN"), kind: .retry),
        Row(status: 500, body: error(500, "DATA_LOSS"), kind: .retry),
        Row(status: 501, body: error(501, "UNIMPLEMENTED"), kind: .hold),
        Row(status: 501, body: "<html>Not Implemented</html>", kind: .retry),
        Row(status: 502, body: "<html></html>", kind: .retry),
        Row(status: 503, body: error(503, "UNAVAILABLE"), kind: .retry),
        Row(status: 502, body: "", kind: .retry),
        Row(status: 511, body: "<html>please log in</html>", kind: .intercepted),
        Row(status: 302, body: error(302, "UNKNOWN"), kind: .retry),
        Row(status: 504, body: error(504, "DEADLINE_EXCEEDED"), kind: .retry),
    ]

    @Test(arguments: rows) func followsTheTable(row: Row) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let outcome = UploadOutcome(
            of: HTTPResponse(status: row.status, body: Array(row.body.utf8)), to: try Self.request(), for: vehicle)
        #expect(Self.kind(of: outcome) == row.kind)
        #expect(outcome == .delivered || outcome.reason.description.hasPrefix("\(row.status)"))
        #expect(outcome.reason.description.contains("captive portal") == (row.kind == .intercepted))
    }

    /// Whoever reads the reason has never heard of the status.
    @Test(arguments: [
        (401, "check its clock"), (403, "name this vehicle in the token"), (403, "correct vehicle.providerId"),
        (404, "let the backend create the vehicle"), (404, "or upload.endpoint"),
        (429, "lower upload.backlogUpdatesPerSecond"), (501, "correct vehicle.service"), (503, "it passes by itself"),
        (410, "check upload.endpoint"),
    ])
    func saysWhatToDo(status: Int, remedy: String) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let body = #"{"error":{"code":\#(status),"message":"It ends so.","status":"STATUS"}}"#
        let outcome = UploadOutcome(
            of: HTTPResponse(status: status, body: Array(body.utf8)), to: try Self.request(), for: vehicle)
        let words = outcome.reason.description
        #expect(words.hasPrefix("\(status) STATUS: It ends so; "), "\(words)")
        #expect(words.contains(remedy), "\(words)")
    }

    @Test(arguments: [
        #"{"error":{"code":403,"message":"Fleet Engine API has not been used in project 7 before or it is disabled."}}"#,
        #"{"error":{"code":403,"message":"no","details":[{"reason":"SERVICE_DISABLED"}]}}"#,
    ])
    func namesTheAPIThatIsNotEnabled(body: String) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let outcome = UploadOutcome(
            of: HTTPResponse(status: 403, body: Array(body.utf8)), to: try Self.request(), for: vehicle)
        let words = outcome.reason.description
        #expect(Self.kind(of: outcome) == .tokenRefused)
        #expect(words.contains("; let the Fleet Engine API be enabled for p (gcloud services enable"), "\(words)")
        #expect(!words.contains("let the backend name"), "\(words)")
    }

    @Test func namesTheBillingThatIsNotEnabled() throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let body = #"""
            {"error":{"code":403,"message":"This API method requires billing to be enabled.","status":"PERMISSION_DENIED",
             "details":[{"reason":"BILLING_DISABLED"}]}}
            """#
        let outcome = UploadOutcome(
            of: HTTPResponse(status: 403, body: Array(body.utf8)), to: try Self.request(), for: vehicle)
        let words = outcome.reason.description
        #expect(words.contains("; let billing be enabled for p in the Google Cloud console, or correct"), "\(words)")
        #expect(!words.contains("let the backend name"), "\(words)")
    }

    /// Another server than Fleet Engine may be named, and no portal be there.
    @Test(arguments: [(404, "<html>not here</html>"), (200, "{}")])
    func namesTheEndpointWhereAnotherAnswers(status: Int, body: String) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let outcome = UploadOutcome(
            of: HTTPResponse(status: status, body: Array(body.utf8)), to: try Self.request(), for: vehicle)
        #expect(outcome.reason.description.hasSuffix("if there is none, correct upload.endpoint"))
    }

    /// Nothing but Fleet Engine's own words is its verdict.
    @Test(arguments: [(501, "<html>no</html>"), (501, ""), (503, "<html>busy</html>"), (502, "busy"), (408, "")])
    func namesAProxyWhereFleetEngineMaySayNothing(status: Int, body: String) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let outcome = UploadOutcome(
            of: HTTPResponse(status: status, body: Array(body.utf8)), to: try Self.request(), for: vehicle)
        let words = outcome.reason.description
        #expect(words.hasSuffix("a proxy answers in Fleet Engine's place, or upload.endpoint names another server"))
        #expect(!words.contains("API"), "\(words)")
    }

    /// The token's times are a matter of clocks, whatever the key is.
    @Test(
        arguments: [
            ("the token's iat lies 7200 s ahead", true), ("the token expired 60 s ago", true),
            ("Check your iat and exp values in the JWT claim.", true), ("no such key", false),
            ("expected a token", false),
        ])
    func namesTheClockFirst(message: String, isTime: Bool) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let body = #"{"error":{"code":401,"message":"\#(message)","status":"UNAUTHENTICATED"}}"#
        let outcome = UploadOutcome(
            of: HTTPResponse(status: 401, body: Array(body.utf8)), to: try Self.request(), for: vehicle)
        let words = outcome.reason.description
        #expect(words.contains("; check the clock of the backend") == isTime, "\(words)")
        #expect(words.contains("let the backend sign") == !isTime && words.contains("service account of p"), "\(words)")
    }

    @Test func namesThePortOfAnEndpointWithoutHTTPS() {
        #expect(
            UploadOutcome(of: HTTPTransportError(.tlsFailed, "no secure connection")).reason
                == "no secure connection; if it stays so, check that upload.endpoint names a port for https")
    }

    @Test func namesTheClockWhereACertificateIsOutsideItsTime() {
        let error = HTTPTransportError(.certificateNotTrusted, "words", certificateFault: .outsideItsTime)
        let reason = UploadOutcome(of: error).reason.description
        #expect(
            reason.contains("; set this machine's clock if it is wrong; if it is right, upload.endpoint, or a captive"))
        #expect(!reason.contains("upload.caFile"))
    }

    /// Whoever signs in there has signed in nowhere.
    @Test func namesTheAuthoritiesWhereACertificateIsOfNoneThatIsKnown() {
        let error = HTTPTransportError(.certificateNotTrusted, "words", certificateFault: .ofUnknownAuthority)
        let reason = UploadOutcome(of: error).reason.description
        #expect(
            reason == "words; if its authority is your own, or that of a proxy that inspects TLS, add its authority's "
                + "certificate to upload.caFile, or use another network")
        #expect(!reason.contains("portal") && !reason.contains("sign in"))
    }

    @Test func namesTheAuthoritiesOfAnEndpoint() {
        #expect(
            UploadOutcome(of: HTTPTransportError(.certificateNotTrusted, "self-signed")).reason.description
                .hasSuffix("; set upload.caFile if its authority is your own"))
    }

    @Test(arguments: HTTPTransportError.Code.allCases) func isNeverALossWithoutAnAnswer(code: HTTPTransportError.Code) {
        let outcome = UploadOutcome(of: HTTPTransportError(code, "words"))
        let expected: Kind =
            switch code {
            case .transportFailed, .unknownContentEncoding: .hold
            case .nameNotResolved, .connectionFailed, .timedOut, .connectionLost, .tlsFailed: .unreachable
            case .certificateNotTrusted, .malformedResponse: .intercepted
            case .cancelled, .responseTooLarge: .retry
            }
        #expect(Self.kind(of: outcome) == expected)
        #expect(outcome.reason.description.hasPrefix("words"))
        #expect(outcome.reason.description.contains("captive portal") == (expected == .intercepted))
    }

    @Test(arguments: [
        ("7", "", #"{"error":{"code":429,"details":[]}}"#, Duration.seconds(7)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:07 GMT", "", .seconds(30)),
        (
            "7", "",
            #"{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2.500s"}]}}"#,
            .milliseconds(2500)
        ),
    ]) func obeysTheServer(header: String, date: String, body: String, delay: Duration) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v")
        let headers = HTTPHeaders(["Retry-After": header, "Date": date])
        let outcome = UploadOutcome(
            of: HTTPResponse(status: 429, headers: headers, body: Array(body.utf8)), to: try Self.request(),
            for: vehicle)
        guard case .throttled(_, let after) = outcome else {
            Issue.record("not throttled: \(outcome)")
            return
        }
        #expect(after == delay)
    }

    /// A server may give back what it was sent, in any part of its answer.
    @Test(arguments: [400, 401, 403, 404, 429, 500, 501, 503])
    func repeatsNoWordOfTheRequest(status: Int) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "van-7")
        for token in [TestTokens.driver(vehicleID: "van-7"), "opaque-7f3k9q-plain"] {
            let half = token.prefix(token.utf8.count / 2)
            let body = #"""
                {"error":{"code":\#(status),"status":"REFUSED \#(token)","message":"Authorization: Bearer \#(token) is for \#
                providers/p/vehicles/van-8, \#(half)","details":[{"fieldViolations":[{"field":"\#(token)",
                "description":"\#(token.replacing("-", with: "\\u002d"))"}]}]}}
                """#.replacing("\n", with: "")
            let outcome = UploadOutcome(
                of: HTTPResponse(status: status, body: Array(body.utf8)), to: try Self.request(token: token),
                for: vehicle)
            let words = outcome.reason.description
            #expect(words.hasPrefix("\(status) REFUSED …"), "\(words)")
            #expect(!words.contains(half) && !words.contains("7f3k") && !words.contains("eyJ"), "\(words)")
        }
    }

    static func kind(of outcome: UploadOutcome) -> Kind {
        switch outcome {
        case .delivered: .delivered
        case .tokenRefused: .tokenRefused
        case .retry: .retry
        case .throttled: .throttled
        case .unreachable: .unreachable
        case .intercepted: .intercepted
        case .hold: .hold
        case .rejected: .rejected
        }
    }
}
