import HTTPMessages
import StrictJSON

/// A refusal in Google's words: a status name, a message, and details.
struct Refusal: Error, Sendable, Hashable {
    /// Status names with their HTTP numbers (google/rpc/code.proto).
    enum Code: String, Sendable, Hashable {
        case invalidArgument = "INVALID_ARGUMENT"
        case unauthenticated = "UNAUTHENTICATED"
        case permissionDenied = "PERMISSION_DENIED"
        case notFound = "NOT_FOUND"
        case alreadyExists = "ALREADY_EXISTS"
        case aborted = "ABORTED"
        case resourceExhausted = "RESOURCE_EXHAUSTED"
        case cancelled = "CANCELLED"
        case unknown = "UNKNOWN"
        case internalError = "INTERNAL"
        case unimplemented = "UNIMPLEMENTED"
        case unavailable = "UNAVAILABLE"
        case deadlineExceeded = "DEADLINE_EXCEEDED"

        /// The name that goes with an HTTP status.
        init(httpStatus: Int) {
            switch httpStatus {
            case 401: self = .unauthenticated
            case 403: self = .permissionDenied
            case 404: self = .notFound
            case 409: self = .aborted
            case 408, 429: self = .resourceExhausted
            case 499: self = .cancelled
            case 500: self = .internalError
            case 501: self = .unimplemented
            case 502, 503: self = .unavailable
            case 504: self = .deadlineExceeded
            case 400..<500: self = .invalidArgument
            default: self = .unknown
            }
        }
    }

    struct Violation: Sendable, Hashable {
        let field: String
        let description: String
    }

    let status: Int
    let code: Code
    let message: String
    var violations: [Violation] = []
    /// Told as a `Retry-After` header, as `RetryInfo`, or not at all.
    var retryAfter: RetryAdvice?

    static func invalid(_ message: String, _ violations: [Violation] = []) -> Self {
        Self(status: 400, code: .invalidArgument, message: message, violations: violations)
    }

    /// One field is wrong.
    static func invalid(field: String, _ problem: String) -> Self {
        .invalid("Invalid value at '\(field)': \(problem)", [Violation(field: field, description: problem)])
    }

    static func unauthenticated(_ reason: String) -> Self {
        Self(
            status: 401, code: .unauthenticated,
            message: "Request had invalid authentication credentials: \(reason).")
    }

    static func permissionDenied(_ message: String) -> Self {
        Self(status: 403, code: .permissionDenied, message: message)
    }

    static func notFound(_ message: String) -> Self { Self(status: 404, code: .notFound, message: message) }

    var response: HTTPResponse {
        var error: [String: JSONValue] = [
            "code": .integer(Int64(status)), "message": .string(message), "status": .string(code.rawValue),
        ]
        var details: [JSONValue] = []
        var headers = HTTPHeaders(["Content-Type": "application/json; charset=UTF-8"])
        if !violations.isEmpty {
            details.append(
                .object([
                    "@type": .string("type.googleapis.com/google.rpc.BadRequest"),
                    "fieldViolations": .array(
                        violations.map {
                            .object(["field": .string($0.field), "description": .string($0.description)])
                        }),
                ]))
        }
        switch retryAfter {
        case .header(let seconds): headers["Retry-After"] = String(seconds)
        case .detail(let seconds):
            details.append(
                .object([
                    "@type": .string("type.googleapis.com/google.rpc.RetryInfo"), "retryDelay": .string("\(seconds)s"),
                ]))
        case nil: break
        }
        if !details.isEmpty { error["details"] = .array(details) }
        if status == 401 { headers["WWW-Authenticate"] = "Bearer realm=\"fleet-engine\"" }
        return HTTPResponse(
            status: status, headers: headers, body: Array(JSONValue.object(["error": .object(error)]).text.utf8))
    }
}
