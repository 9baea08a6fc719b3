import HTTPMessages
import HTTPService
import StrictJSON
import TimeAndRandomness

/// The token endpoint of a simulated backend, which injects the configured faults.
struct TokenIssuer: Sendable {
    /// The response to a token request, and the record of the token in it.
    struct Issue {
        let answer: HTTPResponse
        /// The record of the token; `nil` if the response contains no token.
        var record: TokenRecord?
    }

    let shape: TokenAnswerShape
    let faults: TokenFaultPlan

    /// Returns the subject of a token request, such as `driver/van-7`, from the path after `/token` and from the query.
    ///
    /// - Throws: an error if the kind of the subject is unknown, if an id is invalid, or if an id contains `*`, with
    ///   which the token would permit access to every vehicle.
    static func subject(of request: ServedRequest, path: ArraySlice<String>) throws(ErrorAnswer) -> TokenSubject {
        let parts = Array(path)
        let tasks = (request.queryItems ?? []).filter { $0.name == "taskid" }.map(\.value)
        guard (1...2).contains(parts.count),
            let subject = TokenSubject(kind: parts[0], id: parts.count == 2 ? parts[1] : nil, taskIDs: tasks)
        else { throw .notFound("no such token; request /token/driver/VEHICLE, /token/consumer/TRIP, …") }
        guard request.method == .get || request.method == .post else {
            throw ErrorAnswer(status: 405, code: .unimplemented, message: "request a token with GET")
        }
        for id in subject.ids {
            guard !id.contains("*") else { throw .permissionDenied("a driver can't get a token for every vehicle") }
            if let problem = ResourceName.problem(withID: id) { throw .invalid(problem) }
        }
        return subject
    }

    /// Returns the response for `subject`. `now` is the true time in seconds since 1970, from which the issuer's clock
    /// may differ.
    func issue(
        to subject: TokenSubject, fault: TokenFault?, now: Int64, authority: TokenAuthority,
        keyGeneration: Int
    ) throws(ErrorAnswer) -> Issue {
        var subject = subject
        var audience = TokenClaims.fleetEngineAudience
        var issuedAt = now + Int64(faults.clockOffset)
        switch fault {
        case .error(let status):
            throw ErrorAnswer(
                status: status, code: ErrorAnswer.Code(httpStatus: status),
                message: "The token issuer fails with an injected error.")
        case .page: return Issue(answer: response(with: Self.loginPage, type: "text/html", issuerTime: issuedAt))
        case .empty: return Issue(answer: response(with: "", type: "application/json", issuerTime: issuedAt))
        case .wrongVehicle: subject = subject.withOtherID
        case .wrongAudience: audience = "https://maps.googleapis.com/"
        case .expired: issuedAt -= Int64(faults.lifetime) + 60
        case nil: break
        }
        let claims = TokenClaims(
            issuer: TokenAuthority.serviceAccount, subject: TokenAuthority.serviceAccount, audience: audience,
            issuedAt: issuedAt,
            expiry: issuedAt + Int64(faults.lifetime), authorization: subject.claims, taskIDs: subject.taskIDs)
        let token: String
        do { token = try authority.token(claims, keyGeneration: keyGeneration) } catch {
            throw ErrorAnswer(status: 500, code: .internalError, message: error.description)
        }
        let body = shape.answer(
            token: token, subject: subject, issuedAt: issuedAt, expiry: claims.expiry, style: faults.expiryStyle)
        return Issue(
            answer: response(
                with: body.text, type: "application/json", issuerTime: now + Int64(faults.clockOffset)),
            record: TokenRecord(kind: subject.name, id: subject.id, issuedAt: issuedAt, expiry: claims.expiry))
    }

    private static let loginPage = "<!doctype html><html><body>Please log in.</body></html>"

    private func response(with text: String, type: String, issuerTime: Int64) -> HTTPResponse {
        var headers = HTTPHeaders(["Content-Type": type, "Cache-Control": "no-store"])
        // An issuer whose clock is wrong also sends a wrong `Date` header.
        if faults.clockOffset != 0 {
            headers["Date"] = UTCTime(millisecondsSince1970: max(0, issuerTime) * 1000).httpDate
        }
        return HTTPResponse(status: 200, headers: headers, body: Array(text.utf8))
    }
}

/// The format of the token endpoint's response. Each format is that of one of Google's three samples.
package enum TokenAnswerShape: String, Sendable, Hashable, CaseIterable {
    /// The format in the Driver SDK's guide: `VEHICLE_TOKEN_KEY` (`TRIP_TOKEN_KEY` for a consumer) and
    /// `TOKEN_EXPIRATION`, in seconds since 1970.
    case guide
    /// The format of the on-demand sample backend: `jwt` and `expirationTimestamp`, in milliseconds since 1970.
    case onDemandSample
    /// The format of the scheduled sample backend: `token` and `expiration_timestamp_ms`, in milliseconds since 1970.
    case scheduledSample

    /// Returns the body of a response. `style` replaces the format's usual form of the expiry.
    func answer(
        token: String, subject: TokenSubject, issuedAt: Int64, expiry: Int64,
        style: TokenFaultPlan.ExpiryStyle? = nil
    ) -> JSONValue {
        let keys = keys(for: subject)
        var answer: [String: JSONValue] = [keys.token: .string(token)]
        if let creation = keys.creation { answer[creation] = .integer(issuedAt * 1000) }
        answer[keys.expiry] =
            switch style ?? (self == .guide ? .epochSeconds : .epochMilliseconds) {
            case .epochSeconds: .integer(expiry)
            case .epochMilliseconds: .integer(expiry * 1000)
            case .secondsFromNow: .integer(expiry - issuedAt)
            case .text: .string(String(expiry))
            case .none: nil
            }
        return .object(answer)
    }

    /// Returns the JSON keys of the token, of its expiry and, if the format contains it, of its creation time.
    private func keys(for subject: TokenSubject) -> (token: String, expiry: String, creation: String?) {
        switch self {
        case .guide: (subject.isConsumer ? "TRIP_TOKEN_KEY" : "VEHICLE_TOKEN_KEY", "TOKEN_EXPIRATION", nil)
        case .onDemandSample: ("jwt", "expirationTimestamp", "creationTimestamp")
        case .scheduledSample: ("token", "expiration_timestamp_ms", "creation_timestamp_ms")
        }
    }
}
