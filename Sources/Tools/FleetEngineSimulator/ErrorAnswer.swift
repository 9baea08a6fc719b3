import HTTPMessages
import StrictJSON

/// An error response in Google's format, with a status name, a message and details.
struct ErrorAnswer: Error, Sendable, Hashable {
    /// The status names of Google's APIs, each of which belongs to an HTTP status (google/rpc/code.proto).
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

        private static let codesByStatus: [Int: Self] = [
            401: .unauthenticated, 403: .permissionDenied, 404: .notFound, 408: .resourceExhausted, 409: .aborted,
            429: .resourceExhausted, 499: .cancelled, 500: .internalError, 501: .unimplemented, 502: .unavailable,
            503: .unavailable, 504: .deadlineExceeded,
        ]

        /// Creates the status name for an HTTP status. A status that isn't listed becomes `INVALID_ARGUMENT` from 400
        /// to 499, and otherwise `UNKNOWN`.
        init(httpStatus: Int) {
            self = Self.codesByStatus[httpStatus] ?? ((400..<500).contains(httpStatus) ? .invalidArgument : .unknown)
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
    /// The advice on when to retry, in a `Retry-After` header or a `RetryInfo`; `nil` if the response contains no
    /// advice.
    var retryAfter: RetryAdvice?

    static func invalid(_ message: String, _ violations: [Violation] = []) -> Self {
        Self(status: 400, code: .invalidArgument, message: message, violations: violations)
    }

    /// Returns an error with status 400 that names the invalid field.
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
            status: status, headers: headers, body: JSONValue.object(["error": .object(error)]).utf8)
    }
}
