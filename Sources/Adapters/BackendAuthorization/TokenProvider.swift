import ReportedText
import StrictJSON
package import TimeAndChance
package import VehicleAuthorization

/// A provider that also reports what the issuer stated beside the token.
package protocol TokenProvider: VehicleAuthorization {
    /// Fetches a token now, and accepts even an expired one.
    func ask(for context: AuthorizationContext) async throws(AuthorizationError) -> TokenAnswer
}

extension TokenProvider {
    /// Fetches a token, and accepts only one that has not expired.
    package func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        try await ask(for: context).unexpiredToken()
    }
}

/// What an issuer answered: a token, in JSON under its key or bare, and what was said beside it.
package struct TokenAnswer: Sendable {
    package private(set) var token: AuthorizationToken
    /// What the token says.
    package let parsed: JSONWebToken
    /// Whom it came from, without secrets, as `token endpoint https://backend.example.com/token`.
    package let source: String
    /// The issuer's clock when it answered, in seconds since 1970; `nil` when it did not state one.
    package let issuerTime: Double?
    /// When the certificate of the endpoint ends, where its transport tells.
    package let certificateEnd: UTCTime?
    /// What the answer says beside the token about its end.
    package let statedExpiry: StatedExpiry?
    /// Whether that fits the token's own `exp`.
    package let statedFits: Bool
    /// Whether this machine's clock, which something keeps right, alone says that the token is over.
    private let isOverHere: Bool

    /// What is known about an answer before it is read.
    package struct Origin {
        /// Begins each error's sentence.
        var source: String
        /// The media type that was stated, without parameters.
        var mediaType: String?
        /// In seconds since 1970.
        var issuerTime: Double?
        /// When the endpoint's certificate ends.
        var certificateEnd: UTCTime?
        /// This machine's clock, in seconds since 1970.
        var localTime: Double
        /// The same now, while something keeps it right.
        var present: Double?
        /// What was sent to the issuer and must not be shown.
        var secrets: [String] = []
        var means = Means.endpoint
        /// Where the configuration has it, as `authorization`.
        var section = "authorization"
        /// Whose token was asked for.
        var subject: AuthorizationContext.Subject?
    }

    /// How an issuer is asked, by the key that says whom.
    package enum Means: String, Sendable {
        case endpoint = "url"
        case command
        case file = "path"

        /// What to do where nothing stands in a token's place.
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

    /// - Parameters:
    ///   - bytes: the whole answer.
    ///   - origin: where and when it came.
    ///   - format: where to look.
    /// - Throws: `.unusableAnswer`, never with a part of the answer but the names of its keys.
    package init(_ bytes: [UInt8], from origin: Origin, format: TokenAnswerFormat) throws(AuthorizationError) {
        func unusable(_ words: String) -> AuthorizationError {
            AuthorizationError(.unusableAnswer, "\(origin.source) gave \(words)")
        }

        let expected = "expected the token, bare or in JSON under \"\(format.tokenKey)\""
        let type = origin.mediaType.map { " of \(ReportedText($0, without: origin.secrets, limit: 40))" } ?? ""
        var stated: StatedExpiry?
        let value: String
        let place: String
        switch AnswerKind(bytes) {
        case .nothing:
            let found = bytes.contains(UInt8(ascii: "n")) ? "null" : "nothing"
            throw unusable("\(found); \(expected); \(origin.means.emptyRemedy)")
        case .page:
            throw unusable(
                "a page (HTML or XML), not a token; \(origin.means.pageRemedy)")
        case .gzip:
            throw unusable(
                "bytes compressed with gzip; \(expected), not compressed; switch that off where it comes from")
        case .utf16: throw unusable("text in UTF-16; \(expected); let the issuer write UTF-8")
        case .json(let text):
            let answer: JSONValue
            do { answer = try JSONValue(parsing: text) } catch {
                let isInSingleQuotes = text.dropFirst().first { $0 > 0x20 } == UInt8(ascii: "'")
                let remedy =
                    isInSingleQuotes
                    ? "JSON has double quotes, not single ones"
                    : String(validating: text, as: UTF8.self) == nil
                        ? "it is not in UTF-8, as JSON has to be; let the issuer write that"
                        : "was it cut off, or written in place?"
                throw unusable(
                    "\(bytes.count) bytes\(type) that are not valid JSON (line \(error.line), column \(error.column)); "
                        + "\(expected); \(remedy)")
            }
            if let bare = answer.stringValue {
                (value, place) = (Self.stripped(bare), "as a JSON string")
            } else {
                value = try Self.token(in: answer, format, origin, unusable)
                stated = answer[path: format.expirationKey].flatMap {
                    StatedExpiry($0, key: format.expirationKey, without: origin.secrets + [value])
                }
                place = "under \"\(format.tokenKey)\""
            }
        case .text(let content):
            let text = Self.stripped(content)
            guard text.hasPrefix("ey") else {  // as `{"` in base64url
                throw unusable(
                    TokenLookalike(text)?.words(at: "as bare text", from: origin.means)
                        ?? "\(bytes.count) bytes\(type) that are neither a JSON object nor a token; \(expected)"
                        + (origin.means == .command && text.contains("\n")
                            ? " alone: other words of the command belong on standard error"
                            : "; \(origin.means.emptyRemedy)"))
            }
            (value, place) = (text, "as bare text")
        }
        do { parsed = try JSONWebToken(value) } catch {
            throw unusable(
                TokenLookalike(value)?.words(at: place, from: origin.means)
                    ?? "a token \(place) that \(error); let the issuer give a signed one: header, payload and signature"
            )
        }
        if let problem = Self.signatureProblem(of: value, parsed) { throw unusable("a token \(place) \(problem)") }
        let expiry = TokenExpiry(
            token: parsed, stated: stated, format: format.expirationFormat, issuerTime: origin.issuerTime,
            localTime: origin.localTime, present: origin.present)
        let name = origin.source
        token = AuthorizationToken(
            value: value, lifetime: expiry.lifetime, reuse: expiry.reuse, doubts: expiry.doubts.map { "\(name): \($0)" }
        )
        (source, issuerTime, statedExpiry) = (name, origin.issuerTime, stated)
        certificateEnd = origin.certificateEnd
        statedFits = expiry.statedDoubt == nil
        isOverHere = origin.issuerTime == nil && (origin.present ?? -.infinity) >= (parsed.expiry ?? .infinity)
    }

    /// The same with another life left, and perhaps one doubt more.
    func living(_ lifetime: Duration?, doubt: String? = nil) -> TokenAnswer {
        var answer = self
        answer.token = AuthorizationToken(
            value: token.value, lifetime: lifetime, reuse: token.reuse,
            doubts: token.doubts + [doubt.map { "\(source): \($0)" }].compactMap { $0 })
        return answer
    }

    /// The token, if any of its life is left.
    ///
    /// - Throws: `.unusableAnswer` with who says that it is over.
    package func unexpiredToken() throws(AuthorizationError) -> AuthorizationToken {
        guard let lifetime = token.lifetime, lifetime <= .zero else { return token }
        if let end = parsed.expiry, let issued = parsed.timeOfIssue, end <= issued {
            throw AuthorizationError(
                .unusableAnswer,
                "\(source) gave a token whose exp is not after its iat; let the issuer set exp to the token's end")
        }
        throw AuthorizationError(
            .unusableAnswer,
            // No figure in it: a text that changes would be reported again at each try.
            "\(source) gave a token that was over already"
                + (issuerTime == nil ? "" : ", judged by the endpoint's own clock (its Date header)")
                + (isOverHere ? ", judged by this host's clock, which is synchronized" : "")
                + "; let the issuer make a new one, and check its clock and cache")
    }

    /// Cut off, or never signed (RFC 7518, section 3.3: RS256 takes keys of 2048 bits or more).
    private static func signatureProblem(of value: String, _ token: JSONWebToken) -> String? {
        let signature = value.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).last
        let bytes = (signature?.count ?? 0) * 3 / 4
        let algorithm = token.header["alg"]?.stringValue
        // Of one that says itself that it has none, the rules for claims tell.
        if bytes == 0, algorithm != "none" {
            return "without a signature; expected it behind the second dot; was it cut off?"
        }
        guard algorithm == "RS256", bytes < 256 else { return nil }
        return "whose signature has \(bytes) bytes; expected 256 or more for RS256; was it cut off?"
    }

    private static func token(
        in answer: JSONValue, _ format: TokenAnswerFormat, _ origin: Origin,
        _ unusable: (String) -> AuthorizationError
    ) throws(AuthorizationError) -> String {
        let (key, secrets) = (format.tokenKey, origin.secrets)
        guard let members = answer.objectValue else {
            throw unusable("\(answer.kind); expected an object with the token under \"\(key)\"")
        }
        let setting = TokenLookalike.tokenPaths(in: answer).first.map { path in
            misdirection(answer[path: path]?.stringValue, origin)
                ?? "Set tokenKey to \"\(ReportedText(path, without: secrets, limit: 100))\""
        }
        guard let value = answer[path: key] else {
            let shape = TokenAnswerFormat.Shape.allCases.first { shape in
                [shape.format.tokenKey, shape.format.expirationKey].allSatisfy { members[$0] != nil }
            }
            let remedy =
                shape.map { "Set \"tokenShape\": \"\($0.rawValue)\"" } ?? setting ?? absence(members, secrets)
            throw unusable("JSON without \"\(key)\"; it has \(names(members, secrets)). \(remedy)")
        }
        guard let token = value.stringValue else {
            let remedy = value.isNull ? "Look into the issuer's log" : setting ?? "Set tokenKey"
            throw unusable("\(value.kind) under \"\(key)\"; expected the token as a string. \(remedy)")
        }
        let text = stripped(token)
        guard !text.isEmpty else {
            throw unusable("an empty token under \"\(key)\"; expected a signed one; look into the issuer's log")
        }
        return text
    }

    /// What to do about a driver's token where a trip's was asked for, or the other way round; `nil` for any other.
    private static func misdirection(_ token: String?, _ origin: Origin) -> String? {
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

    /// What to do about an object in which no token stands.
    private static func absence(_ members: [String: JSONValue], _ secrets: [String]) -> String {
        if members["private_key"] != nil {
            return "That is the key of a service account: leave it with the issuer, and let it sign tokens with it"
        }
        if members["refresh_token"] != nil {
            return "That is a login (OAuth), not a token: let the issuer sign tokens with the key of a service account"
        }
        if let (path, kind) = TokenLookalike.foreign(in: .object(members)) {
            return "It has \(kind.words(at: "under \"\(ReportedText(path, without: secrets, limit: 100))\""))"
        }
        let failures: Set = ["error", "errors", "exception", "fault", "message", "detail", "details"]
        if members.isEmpty || members.keys.contains(where: { failures.contains($0.lowercased()) }) {
            return members.isEmpty
                ? "Look into the issuer's log"
                : "It seems to report an error: look into the issuer's log, or at the answer itself"
        }
        return "Set tokenKey to where the token stands; if none is there, look into the issuer's log"
    }

    /// Without white space around it, nor the word that stands before it in a header.
    static func stripped(_ text: String) -> String {
        let token = text.trimmingWhitespace()
        let scheme = "Bearer "
        guard token.prefix(scheme.count).lowercased() == scheme.lowercased() else { return token }
        return String(token.dropFirst(scheme.count)).trimmingWhitespace()
    }

    /// Key names, for the operator who looks for the right one.
    private static func names(_ members: [String: JSONValue], _ secrets: [String]) -> String {
        guard !members.isEmpty else { return "no keys" }
        let shown = members.keys.sorted().prefix(8).map { key in
            "\"\(ReportedText(key, without: secrets, limit: 40))\""
        }
        return shown.joined(separator: ", ") + (members.count > 8 ? " and \(members.count - 8) more" : "")
    }
}

extension StatedExpiry {
    /// Reads a number, a numeric string, RFC 3339, or seconds as protobuf writes them (`3600s`); `nil` for null.
    init?(_ value: JSONValue, key: String, without secrets: [String]) {
        if value.isNull { return nil }
        let shown: String
        switch value {
        case .bool(let flag): shown = "\(flag)"
        case .integer(let number): shown = "\(number)"
        case .number(let number): shown = "\(number)"
        case .string(let text): shown = "\"\(ReportedText(text, without: secrets, limit: 40))\""
        case .null, .array, .object: shown = "(\(value.kind))"
        }
        self.init(key: key, text: shown, meaning: Meaning(value))
    }
}

extension StatedExpiry.Meaning {
    fileprivate init(_ value: JSONValue) {
        let text = value.stringValue?.trimmingWhitespace()
        if let number = value.numericValue {
            self = .number(number)
        } else if let time = text.flatMap(UTCTime.init(rfc3339:)) {
            self = .time(time.secondsSince1970)
        } else if let text, text.last == "s", let seconds = Double(text.dropLast()), seconds.isFinite {
            self = .span(seconds)
        } else {
            self = .unreadable
        }
    }
}

/// Where token and expiry stand in an issuer's JSON answer.
package struct TokenAnswerFormat: Sendable, Hashable {
    /// The token's key, or a path of keys with dots, as `data.token.jwt`.
    package var tokenKey: String
    /// The expiry's key or path; need not be there when the token is a JSON Web Token with `exp`.
    package var expirationKey: String
    package var expirationFormat: ExpirationFormat

    package init(
        tokenKey: String = "VEHICLE_TOKEN_KEY", expirationKey: String = "TOKEN_EXPIRATION",
        expirationFormat: ExpirationFormat = .automatic
    ) {
        (self.tokenKey, self.expirationKey, self.expirationFormat) = (tokenKey, expirationKey, expirationFormat)
    }

    /// The answer of the on-demand sample provider: `jwt` and `expirationTimestamp`.
    package static let onDemandSample = TokenAnswerFormat(
        tokenKey: "jwt", expirationKey: "expirationTimestamp", expirationFormat: .epochMilliseconds)
    /// The answer of the scheduled-tasks sample backend: `token` and `expiration_timestamp_ms`.
    package static let scheduledSample = TokenAnswerFormat(
        tokenKey: "token", expirationKey: "expiration_timestamp_ms", expirationFormat: .epochMilliseconds)

    /// The answers of Google's samples by the names that `authorization.tokenShape` has for them, which are those of
    /// `waypost simulator --token-shape`.
    package enum Shape: String, CaseIterable {
        case guide, onDemandSample, scheduledSample

        package var format: TokenAnswerFormat {
            switch self {
            case .guide: TokenAnswerFormat()
            case .onDemandSample: .onDemandSample
            case .scheduledSample: .scheduledSample
            }
        }
    }
}

/// What the bytes of an issuer's answer are, judged by how they begin.
enum AnswerKind: Sendable, Hashable {
    case nothing
    /// HTML or XML.
    case page
    case gzip
    case utf16
    /// Without what stood before the first brace.
    case json([UInt8])
    /// Without white space around it.
    case text(String)

    init(_ bytes: [UInt8]) {
        if bytes.starts(with: [0x1F, 0x8B]) {
            self = .gzip
            return
        }
        // A mark, or a character of ASCII with its zero.
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
            || bytes.count > 1 && (bytes[0] == 0) != (bytes[1] == 0) && max(bytes[0], bytes[1]) >= 0x20
        {
            self = .utf16
            return
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0).drop {
            $0 == 0x20 || $0 == 0 || 9...13 ~= $0
        }
        switch content.first {
        case nil: self = .nothing
        case UInt8(ascii: "<"): self = .page
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""): self = .json(Array(content))
        default:
            let text = String(decoding: content, as: UTF8.self).trimmingWhitespace()
            self = text == "null" ? .nothing : .text(text)
        }
    }
}

extension JSONValue {
    /// The value under `path`: a key as it stands, or keys with dots between them, as `data.token.jwt`.
    subscript(path path: String) -> JSONValue? {
        if let value = self[path] { return value }
        guard let dot = path.firstIndex(of: ".") else { return nil }
        return self[String(path[..<dot])]?[path: String(path[path.index(after: dot)...])]
    }
}
