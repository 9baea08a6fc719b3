import HTTPMessages
import VehicleAuthorization

/// What a token endpoint's refusal, or its silence, means; a table.
enum TokenEndpointFailure {
    /// `nil` when the status is one of success.
    static func error(_ response: HTTPResponse, _ source: String) -> AuthorizationError? {
        let status = response.status
        let code: AuthorizationError.Code
        let advice: String
        switch status {
        case 200..<300: return nil
        case 300..<400:
            code = .unusableAnswer
            let place = response.headers["Location"].flatMap { try? HTTPURL($0) }.map { " to \($0.origin)" } ?? ""
            advice = "a redirect\(place), which is not followed; set authorization.url to the final address"
        case 401, 403:
            (code, advice) = (.refused, "it refuses our credentials; check authorization.headers")
        case 404, 410: (code, advice) = (.refused, "it knows no such address or vehicle; check authorization.url")
        case 405: (code, advice) = (.refused, "it wants another method; check authorization.method")
        case 408, 425, 429, 500...: (code, advice) = (.unavailable, "it cannot answer now; asked again later")
        default: (code, advice) = (.refused, "it refuses the request; check authorization.url and the backend's log")
        }
        return AuthorizationError(
            code, "\(source) answered \(status): \(advice)", retryAfter: RetryAfter(response.headers)?.delay)
    }

    /// The exchange brought no answer.
    static func error(_ failure: HTTPTransportError, _ source: String) -> AuthorizationError {
        switch failure.code {
        case .cancelled: AuthorizationError(.cancelled, "the request to the \(source) was cancelled")
        case .responseTooLarge:
            AuthorizationError(
                .unusableAnswer, "\(source): \(failure.detail); expected a small JSON object with the token")
        case .malformedResponse: AuthorizationError(.unusableAnswer, "\(source): \(failure.detail)")
        case .certificateNotTrusted:
            AuthorizationError(
                .unavailable, "\(source): \(failure.detail); set authorization.caFile if its authority is your own")
        case .transportFailed: AuthorizationError(.misconfigured, "\(source): \(failure.detail)")
        case .nameNotResolved, .connectionFailed, .timedOut, .connectionLost, .tlsFailed:
            AuthorizationError(.unavailable, "\(source): \(failure.detail)")
        }
    }
}
