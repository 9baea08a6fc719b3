import ReportedText
import StrictJSON
import VehicleAuthorization

/// Why an issuer's answer holds no usable token.
enum TokenAnswerProblem: Error {
    /// What keeps a text from being JSON.
    enum Mistake { case singleQuotes, encoding, other }

    case nothing(isNull: Bool)
    case page
    case gzip
    case utf16
    case invalidJSON(JSONValue.ParseError, Mistake)
    /// JSON that is neither a string nor an object.
    case notAnObject(JSONValue)
    /// There is no value under the token's key.
    case missing(in: [String: JSONValue])
    /// The value under the token's key isn't a string.
    case notAString(JSONValue, in: [String: JSONValue])
    case empty
    /// Text that doesn't begin like a token.
    case otherText(String)
    case notAToken(FoundToken, JSONWebToken.Problem)
    case unsigned(FoundToken)
    case shortSignature(FoundToken, bytes: Int)
}

/// The words for a `TokenAnswerProblem`; no part of the answer is shown but the names of its keys.
struct TokenAnswerWording {
    let origin: TokenAnswer.Origin
    let format: TokenAnswerFormat
    /// The size of the answer.
    let byteCount: Int

    private var expected: String { "expected the token, bare or in JSON under \"\(format.tokenKey)\"" }
    private var type: String {
        origin.mediaType.map { " of \(ReportedText($0, without: origin.secrets, limit: 40))" } ?? ""
    }

    /// The problem as it follows the words "the issuer gave".
    func words(for problem: TokenAnswerProblem) -> String {
        switch problem {
        case .nothing(let isNull): "\(isNull ? "null" : "nothing"); \(expected); \(origin.means.emptyRemedy)"
        case .page: "a page (HTML or XML), not a token; \(origin.means.pageRemedy)"
        case .gzip: "bytes compressed with gzip; \(expected), not compressed; switch that off where it comes from"
        case .utf16: "text in UTF-16; \(expected); let the issuer write UTF-8"
        case .invalidJSON(let error, let mistake):
            "\(byteCount) bytes\(type) that are not valid JSON (line \(error.line), column \(error.column)); "
                + "\(expected); \(Self.remedy(for: mistake))"
        case .notAnObject(let answer):
            "\(answer.kind); expected an object with the token under \"\(format.tokenKey)\""
        case .missing(let members):
            "JSON without \"\(format.tokenKey)\"; it has \(names(members)). \(remedy(forMissingIn: members))"
        case .notAString(let value, let members):
            "\(value.kind) under \"\(format.tokenKey)\"; expected the token as a string. "
                + (value.isNull ? "Look into the issuer's log" : otherKey(in: members) ?? "Set tokenKey")
        case .empty:
            "an empty token under \"\(format.tokenKey)\"; expected a signed one; look into the issuer's log"
        case .otherText(let text):
            TokenLookalike(text)?.words(at: words(for: .bareText), from: origin.means)
                ?? "\(byteCount) bytes\(type) that are neither a JSON object nor a token; \(expected)"
                + (origin.means == .command && text.contains("\n")
                    ? " alone: other words of the command belong on standard error" : "; \(origin.means.emptyRemedy)")
        case .notAToken(let token, let error):
            TokenLookalike(token.text)?.words(at: words(for: token.place), from: origin.means)
                ?? "a token \(words(for: token.place)) that \(error); let the issuer give a signed one: header, payload "
                + "and signature"
        case .unsigned(let token):
            "a token \(words(for: token.place)) without a signature; expected it behind the second dot; was it cut off?"
        case .shortSignature(let token, let bytes):
            "a token \(words(for: token.place)) whose signature has \(bytes) bytes; expected 256 or more for RS256; "
                + "was it cut off?"
        }
    }

    private func words(for place: FoundToken.Place) -> String {
        switch place {
        case .underKey: "under \"\(format.tokenKey)\""
        case .jsonString: "as a JSON string"
        case .bareText: "as bare text"
        }
    }

    private static func remedy(for mistake: TokenAnswerProblem.Mistake) -> String {
        switch mistake {
        case .singleQuotes: "JSON has double quotes, not single ones"
        case .encoding: "it is not in UTF-8, as JSON has to be; let the issuer write that"
        case .other: "was it cut off, or written in place?"
        }
    }

    private func remedy(forMissingIn members: [String: JSONValue]) -> String {
        let shape = TokenAnswerFormat.Shape.allCases.first { shape in
            [shape.format.tokenKey, shape.format.expirationKey].allSatisfy { members[$0] != nil }
        }
        if let shape { return "Set \"tokenShape\": \"\(shape.rawValue)\"" }
        return otherKey(in: members) ?? absence(in: members)
    }

    /// What to do if a token is under another key; `nil` if none is.
    private func otherKey(in members: [String: JSONValue]) -> String? {
        let answer = JSONValue.object(members)
        guard let path = TokenLookalike.tokenPaths(in: answer).first else { return nil }
        return misdirection(answer[path: path]?.stringValue)
            ?? "Set tokenKey to \"\(ReportedText(path, without: origin.secrets, limit: 100))\""
    }

    /// What to do about a driver's token where a trip's was asked for, or the other way round; `nil` for any other.
    private func misdirection(_ token: String?) -> String? {
        guard let claims = token.flatMap({ try? JSONWebToken($0) })?.authorization else { return nil }
        let key = "\(origin.section).\(origin.means.rawValue)"
        let isDrivers = claims.vehicleID != nil || claims.deliveryVehicleID != nil
        switch origin.subject {
        case .vehicle where !isDrivers && (claims.tripID ?? claims.trackingID) != nil:
            return "That is a consumer's token; correct \(key), from which the driver's has to come"
        case .trip where isDrivers && claims.tripID == nil:
            return "That is a driver's token; correct \(key), from which the trip's has to come"
        case .vehicle, .trip, .shipment, nil: return nil
        }
    }

    /// What to do about an object without a token.
    private func absence(in members: [String: JSONValue]) -> String {
        if members["private_key"] != nil {
            return "That is the key of a service account: leave it with the issuer, and let it sign tokens with it"
        }
        if members["refresh_token"] != nil {
            return "That is a login (OAuth), not a token: let the issuer sign tokens with the key of a service account"
        }
        if let (path, kind) = TokenLookalike.foreign(in: .object(members)) {
            return "It has \(kind.words(at: "under \"\(ReportedText(path, without: origin.secrets, limit: 100))\""))"
        }
        if members.isEmpty { return "Look into the issuer's log" }
        let failures: Set = ["error", "errors", "exception", "fault", "message", "detail", "details"]
        return members.keys.contains { failures.contains($0.lowercased()) }
            ? "It seems to report an error: look into the issuer's log, or at the answer itself"
            : "Set tokenKey to where the token stands; if none is there, look into the issuer's log"
    }

    /// Key names, for the operator who looks for the right one.
    private func names(_ members: [String: JSONValue]) -> String {
        guard !members.isEmpty else { return "no keys" }
        let shown = members.keys.sorted().prefix(8).map { key in
            "\"\(ReportedText(key, without: origin.secrets, limit: 40))\""
        }
        return shown.joined(separator: ", ") + (members.count > 8 ? " and \(members.count - 8) more" : "")
    }
}

extension TokenAnswer.Means {
    /// The remedy for an answer whose token is empty.
    fileprivate var emptyRemedy: String {
        switch self {
        case .endpoint: "look into the issuer's log"
        case .command: "run it by hand as the service's user"
        case .file: "let whoever writes the file write a token, and put it in place by renaming"
        }
    }

    /// What to do about a page in a token's place.
    fileprivate var pageRemedy: String {
        switch self {
        case .endpoint:
            "check that the address is the token endpoint itself "
                + "and that no login page or captive portal stands before it"
        case .command:
            "check whom the command asks, and that no login page or captive portal stands before it"
        case .file: "let whoever writes the file keep a page out of it, and see where its tokens come from"
        }
    }
}
