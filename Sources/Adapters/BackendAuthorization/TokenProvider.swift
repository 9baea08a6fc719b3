import ReportedText
import StrictJSON
package import TimeAndRandomness
package import VehicleAuthorization

/// A provider that returns each token together with the issuer's information about the token, such as its expiry.
package protocol TokenProvider: VehicleAuthorization {
    /// Fetches a token from the issuer and returns it, even if the token has expired.
    func fetchAnswer(for context: AuthorizationContext) async throws(AuthorizationError) -> TokenAnswer
}

extension TokenProvider {
    /// Fetches a token from the issuer and returns it. Throws if the token has expired.
    package func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        try await fetchAnswer(for: context).unexpiredToken()
    }
}

/// An issuer's answer: a token, and the issuer's information about the token. The answer is either JSON with the token
/// under a key, or the bare token.
package struct TokenAnswer: Sendable {
    package private(set) var token: AuthorizationToken
    /// The header and the claims of the token.
    package let parsed: JSONWebToken
    /// The source of the answer.
    package let origin: TokenOrigin
    /// The issuer's time when it answered, in seconds since 1970; `nil` if the answer doesn't state it.
    package let issuerTime: Double?
    /// The time at which the endpoint's certificate expires; `nil` if the transport doesn't report it.
    package let certificateEnd: UTCTime?
    /// The expiry that the answer states next to the token; `nil` if it states none.
    package let statedExpiry: StatedExpiry?
    /// Whether `statedExpiry` is consistent with the token's own `exp`.
    package let isStatedExpiryConsistent: Bool
    /// Whether the token has expired according to this machine's synchronised clock, and the answer states no time of
    /// the issuer.
    private let hasExpiredByHostClock: Bool

    /// The facts about an answer that aren't in its body.
    package struct Origin {
        var source: TokenOrigin
        /// The answer's media type, without parameters; `nil` if it isn't known.
        var mediaType: String?
        /// The issuer's time, in seconds since 1970; `nil` if the answer doesn't state it.
        var issuerTime: Double?
        /// The time at which the endpoint's certificate expires; `nil` if it isn't known.
        var certificateEnd: UTCTime?
        /// This machine's time when the answer arrived or, for a file, was written, in seconds since 1970.
        var localTime: Double
        /// This machine's current time, in seconds since 1970; `nil` unless its clock is synchronised.
        var present: Double?
        /// The secrets that were sent to the issuer, which must not appear in any error.
        var secrets: [String] = []

        var reportedMediaType: ReportedText? { mediaType.map { ReportedText($0, without: secrets, limit: 40) } }
    }

    /// - Parameters:
    ///   - bytes: the whole answer.
    ///   - origin: the facts about the answer that aren't in its body.
    ///   - format: the keys of the token and its expiry.
    /// - Throws: `.unusableAnswer`. The error quotes nothing from the answer except the names of its keys.
    package init(_ bytes: [UInt8], from origin: Origin, format: TokenAnswerFormat) throws(AuthorizationError) {
        let found: FoundToken
        do throws(AnswerFault) {
            found = try FoundToken(in: bytes, format: format, from: origin)
            parsed = try found.parsed()
        } catch {
            throw AuthorizationError(.unusableAnswer(origin.source, error))
        }
        let stated = found.statedExpiry.flatMap {
            StatedExpiry($0, key: format.expirationKey, without: origin.secrets + [found.text])
        }
        let expiry = TokenExpiry(
            token: parsed, stated: stated, format: format.expirationFormat, issuerTime: origin.issuerTime,
            localTime: origin.localTime, present: origin.present)
        token = AuthorizationToken(
            value: found.text, lifetime: expiry.lifetime, reuse: expiry.reuse,
            warnings: expiry.warnings.map { .expiry($0, origin.source) })
        self.origin = origin.source
        issuerTime = origin.issuerTime
        statedExpiry = stated
        certificateEnd = origin.certificateEnd
        isStatedExpiryConsistent = expiry.statedWarning == nil
        hasExpiredByHostClock =
            origin.issuerTime == nil && (origin.present ?? -.infinity) >= (parsed.expiry ?? .infinity)
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
    /// - Throws: `.unusableAnswer` if the token has expired. The error says whether a clock or the stated expiry shows
    ///   the expiry.
    package func unexpiredToken() throws(AuthorizationError) -> AuthorizationToken {
        guard let lifetime = token.lifetime, lifetime <= .zero else { return token }
        if let end = parsed.expiry, let issued = parsed.timeOfIssue, end <= issued {
            throw AuthorizationError(.expired(origin, .endsBeforeIssue))
        }
        let evidence: ExpiryFault.Evidence =
            issuerTime != nil ? .issuer : hasExpiredByHostClock ? .synchronizedHost : .statement
        throw AuthorizationError(.expired(origin, .expiredWhenReturned(evidence)))
    }
}

/// The keys of the token and its expiry in an issuer's JSON answer.
package struct TokenAnswerFormat: Sendable, Hashable {
    /// The token's key, or several keys separated by dots, such as `data.token.jwt`.
    package var tokenKey: String
    /// The expiry's key, or several keys separated by dots. The answer needn't contain it if the token is a JSON Web
    /// Token with `exp`.
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

    /// The format of Google's on-demand sample provider, with the keys `jwt` and `expirationTimestamp`.
    package static let onDemandSample = TokenAnswerFormat(
        tokenKey: "jwt", expirationKey: "expirationTimestamp", expirationFormat: .epochMilliseconds)
    /// The format of Google's scheduled-tasks sample backend, with the keys `token` and `expiration_timestamp_ms`.
    package static let scheduledSample = TokenAnswerFormat(
        tokenKey: "token", expirationKey: "expiration_timestamp_ms", expirationFormat: .epochMilliseconds)

    /// The answer formats of Google's samples. The raw values are the names for `authorization.tokenShape` and `waypost
    /// simulator --token-shape`.
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
