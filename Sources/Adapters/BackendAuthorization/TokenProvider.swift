import ReportedText
import StrictJSON
package import TimeAndChance
package import VehicleAuthorization

/// A provider that also returns the issuer's statements about the token.
package protocol TokenProvider: VehicleAuthorization {
    /// Fetches a token now. Accepts even an expired token.
    func ask(for context: AuthorizationContext) async throws(AuthorizationError) -> TokenAnswer
}

extension TokenProvider {
    /// Fetches a token. Rejects an expired token.
    package func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        try await ask(for: context).unexpiredToken()
    }
}

/// An issuer's answer: a token, in JSON under its key or bare, and the issuer's statements about it.
package struct TokenAnswer: Sendable {
    package private(set) var token: AuthorizationToken
    /// The contents of the token.
    package let parsed: JSONWebToken
    /// The source of the answer.
    package let origin: TokenOrigin
    /// The time of the issuer's clock when it answered, in seconds since 1970; `nil` if it stated none.
    package let issuerTime: Double?
    /// The time at which the endpoint's certificate expires, if the transport reports it.
    package let certificateEnd: UTCTime?
    /// The token's expiry according to the answer.
    package let statedExpiry: StatedExpiry?
    /// Whether `statedExpiry` is consistent with the token's own `exp`.
    package let statedFits: Bool
    /// Whether the token has expired only according to this machine's clock, which something keeps right.
    private let isOverHere: Bool

    /// The facts about an answer that are known before it is read.
    package struct Origin {
        var from: TokenOrigin
        /// The answer's media type, without parameters.
        var mediaType: String?
        /// The time of the issuer's clock, in seconds since 1970.
        var issuerTime: Double?
        /// The time at which the endpoint's certificate expires.
        var certificateEnd: UTCTime?
        /// The time of this machine's clock, in seconds since 1970.
        var localTime: Double
        /// The current time of this machine's clock, if something keeps the clock right.
        var present: Double?
        /// The secrets sent to the issuer, which must not be shown.
        var secrets: [String] = []

        var reportedMediaType: ReportedText? { mediaType.map { ReportedText($0, without: secrets, limit: 40) } }
    }

    /// - Parameters:
    ///   - bytes: the whole answer.
    ///   - origin: the source and the time of the answer.
    ///   - format: the place of the token.
    /// - Throws: `.unusableAnswer`, without any part of the answer except the names of its keys.
    package init(_ bytes: [UInt8], from origin: Origin, format: TokenAnswerFormat) throws(AuthorizationError) {
        let found: FoundToken
        do throws(AnswerFault) {
            found = try FoundToken(in: bytes, format, from: origin)
            parsed = try found.parsed()
        } catch {
            throw AuthorizationError(.unusableAnswer(origin.from, error))
        }
        let stated = found.statedEnd.flatMap {
            StatedExpiry($0, key: format.expirationKey, without: origin.secrets + [found.text])
        }
        let expiry = TokenExpiry(
            token: parsed, stated: stated, format: format.expirationFormat, issuerTime: origin.issuerTime,
            localTime: origin.localTime, present: origin.present)
        token = AuthorizationToken(
            value: found.text, lifetime: expiry.lifetime, reuse: expiry.reuse,
            warnings: expiry.warnings.map { .expiry($0, origin.from) })
        self.origin = origin.from
        issuerTime = origin.issuerTime
        statedExpiry = stated
        certificateEnd = origin.certificateEnd
        statedFits = expiry.statedWarning == nil
        isOverHere = origin.issuerTime == nil && (origin.present ?? -.infinity) >= (parsed.expiry ?? .infinity)
    }

    /// Returns this answer with another lifetime, and possibly another warning.
    func withLifetime(_ lifetime: Duration?, warning: ExpiryWarning? = nil) -> TokenAnswer {
        var answer = self
        answer.token = AuthorizationToken(
            value: token.value, lifetime: lifetime, reuse: token.reuse,
            warnings: token.warnings + [warning.map { .expiry($0, origin) }].compactMap { $0 })
        return answer
    }

    /// Returns the token if it hasn't expired.
    ///
    /// - Throws: `.unusableAnswer`, with the clock or the statement that shows the expiry.
    package func unexpiredToken() throws(AuthorizationError) -> AuthorizationToken {
        guard let lifetime = token.lifetime, lifetime <= .zero else { return token }
        if let end = parsed.expiry, let issued = parsed.timeOfIssue, end <= issued {
            throw AuthorizationError(.expired(origin, .endsBeforeIssue))
        }
        let judge: ExpiryFault.Judge =
            issuerTime != nil ? .issuer : isOverHere ? .synchronizedHost : .statement
        throw AuthorizationError(.expired(origin, .overWhenGiven(judge)))
    }
}

/// The places of the token and its expiry in an issuer's JSON answer.
package struct TokenAnswerFormat: Sendable, Hashable {
    /// The token's key, or a path of keys with dots, such as `data.token.jwt`.
    package var tokenKey: String
    /// The expiry's key or path. It isn't required if the token is a JSON Web Token with `exp`.
    package var expirationKey: String
    package var expirationFormat: ExpirationFormat

    package init(
        tokenKey: String = "VEHICLE_TOKEN_KEY", expirationKey: String = "TOKEN_EXPIRATION",
        expirationFormat: ExpirationFormat = .automatic
    ) {
        self.tokenKey = tokenKey
        self.expirationKey = expirationKey
        self.expirationFormat = expirationFormat
    }

    /// The answer of the on-demand sample provider: `jwt` and `expirationTimestamp`.
    package static let onDemandSample = TokenAnswerFormat(
        tokenKey: "jwt", expirationKey: "expirationTimestamp", expirationFormat: .epochMilliseconds)
    /// The answer of the scheduled-tasks sample backend: `token` and `expiration_timestamp_ms`.
    package static let scheduledSample = TokenAnswerFormat(
        tokenKey: "token", expirationKey: "expiration_timestamp_ms", expirationFormat: .epochMilliseconds)

    /// The answers of Google's samples, by their names in `authorization.tokenShape` and `waypost simulator
    /// --token-shape`.
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
