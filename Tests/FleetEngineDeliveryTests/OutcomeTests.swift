import FleetEngine
import FleetEngineDelivery
import HTTPMessages
import ReportedText
import Reporting
import Testing
import VehicleAuthorization
import WaypostTestSupport

/// The rows of the retry table: the outcome for each answer.
@Suite struct Outcome {
    enum Kind: String {
        case delivered, prepareAgain, retry, throttled, unanswered, intercepted, tooLarge, held, rejected

        init(_ outcome: DeliveryOutcome) {
            self =
                switch outcome {
                case .delivered: .delivered
                case .prepareAgain: .prepareAgain
                case .retry: .retry
                case .throttled: .throttled
                case .unanswered: .unanswered
                case .intercepted: .intercepted
                case .tooLarge: .tooLarge
                case .held: .held
                case .rejected: .rejected
                }
        }
    }

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

    static func errorBody(_ code: Int, _ status: String) -> String {
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
        Row(status: 400, body: errorBody(400, "INVALID_ARGUMENT"), kind: .rejected),
        Row(status: 400, body: errorBody(400, "OUT_OF_RANGE"), kind: .rejected),
        Row(status: 400, body: errorBody(400, "FAILED_PRECONDITION"), kind: .rejected),
        Row(status: 400, body: "<html>Bad Request</html>", kind: .intercepted),
        Row(status: 401, body: errorBody(401, "UNAUTHENTICATED"), kind: .prepareAgain),
        Row(status: 401, body: "", kind: .prepareAgain),
        Row(status: 401, body: "<html>log in to the proxy</html>", kind: .intercepted),
        Row(status: 401, body: "Unauthorized", kind: .intercepted),
        Row(status: 403, body: errorBody(403, "PERMISSION_DENIED"), kind: .prepareAgain),
        Row(status: 403, body: "<html>blocked by proxy</html>", kind: .intercepted),
        Row(status: 404, body: errorBody(404, "NOT_FOUND"), kind: .held),
        Row(status: 404, body: "<html>not here</html>", kind: .intercepted),
        Row(status: 407, body: "", kind: .intercepted),
        Row(status: 408, body: "", kind: .retry),
        Row(status: 409, body: errorBody(409, "ABORTED"), kind: .retry),
        Row(status: 413, body: errorBody(413, "INVALID_ARGUMENT"), kind: .rejected),
        Row(status: 413, body: "", kind: .tooLarge),
        Row(status: 413, body: "<html>413 Request Entity Too Large</html>", kind: .tooLarge),
        Row(status: 413, body: "too large", kind: .tooLarge),
        Row(status: 429, body: errorBody(429, "RESOURCE_EXHAUSTED"), kind: .throttled),
        Row(status: 429, body: "<html>slow down</html>", kind: .throttled),
        Row(status: 499, body: errorBody(499, "CANCELLED"), kind: .retry),
        Row(status: 500, body: errorBody(500, "INTERNAL"), kind: .retry),
        Row(status: 500, body: errorBody(500, "UNKNOWN"), kind: .retry),
        Row(status: 500, body: errorBody(500, "DATA_LOSS"), kind: .retry),
        Row(status: 501, body: errorBody(501, "UNIMPLEMENTED"), kind: .held),
        Row(status: 501, body: "<html>Not Implemented</html>", kind: .retry),
        Row(status: 502, body: "<html></html>", kind: .retry),
        Row(status: 503, body: errorBody(503, "UNAVAILABLE"), kind: .retry),
        Row(status: 502, body: "", kind: .retry),
        Row(status: 511, body: "<html>please log in</html>", kind: .intercepted),
        Row(status: 302, body: errorBody(302, "UNKNOWN"), kind: .retry),
        Row(status: 504, body: errorBody(504, "DEADLINE_EXCEEDED"), kind: .retry),
    ]

    @Test(arguments: rows) func followsTheRetryTable(row: Row) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let outcome = DeliveryOutcome(
            of: HTTPResponse(status: row.status, body: Array(row.body.utf8)), to: try Self.request(), for: vehicle)
        #expect(Kind(outcome) == row.kind)
        guard case .answered(let answer)? = outcome.fault else {
            return #expect(outcome == .delivered)
        }
        #expect(answer.status == row.status && answer.account == "p")
        #expect(answer.isFromService == row.body.hasPrefix(#"{"error""#))
    }

    @Test(arguments: HTTPTransportError.Code.allCases) func keepsUpdatesWithoutAnAnswer(code: HTTPTransportError.Code) {
        let outcome = DeliveryOutcome(of: HTTPTransportError(code, "words"), from: "https://f.example")
        let expected: Kind =
            switch code {
            case .transportFailed, .unknownContentEncoding: .held
            case .nameNotResolved, .connectionFailed, .timedOut, .connectionLost, .tlsFailed: .unanswered
            case .certificateNotTrusted, .malformedResponse: .intercepted
            case .cancelled, .responseTooLarge: .retry
            }
        #expect(Kind(outcome) == expected)
        guard case .unanswered(let lost)? = outcome.fault else {
            Issue.record("\(outcome)")
            return
        }
        #expect(lost.message == "words" && lost.origin == "https://f.example")
    }

    /// Each reason for a missing token keeps its kind, its message, and the requested wait.
    @Test(arguments: [
        (AuthorizationError.Code.unavailable, MissingPermit.Cause.unavailable), (.refused, .rejected),
        (.unusableAnswer, .unusableAnswer), (.misconfigured, .misconfigured), (.cancelled, .cancelled),
    ])
    func reportsWhyThereIsNoToken(code: AuthorizationError.Code, cause: MissingPermit.Cause) {
        let missing = MissingPermit(AuthorizationError(code, "words", retryAfter: .seconds(7)))
        #expect(missing == MissingPermit(cause, TokenFault.reported(code, "words"), retryAfter: .seconds(7)))
    }

    @Test(arguments: [
        ("7", "", #"{"error":{"code":429,"details":[]}}"#, Duration.seconds(7)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:07 GMT", "", .seconds(30)),
        (
            "7", "",
            #"{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2.500s"}]}}"#,
            .milliseconds(2500)
        ),
    ]) func obeysTheServersRetryDelay(header: String, date: String, body: String, delay: Duration) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v")
        let headers = HTTPHeaders(["Retry-After": header, "Date": date])
        let outcome = DeliveryOutcome(
            of: HTTPResponse(status: 429, headers: headers, body: Array(body.utf8)), to: try Self.request(),
            for: vehicle)
        guard case .throttled(_, let after) = outcome else {
            Issue.record("not throttled: \(outcome)")
            return
        }
        #expect(after == delay)
    }
}
