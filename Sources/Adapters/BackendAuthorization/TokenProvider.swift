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
    /// Where it came from.
    package let origin: TokenOrigin
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
        var from: TokenOrigin
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

        var shownMediaType: ReportedText? { mediaType.map { ReportedText($0, without: secrets, limit: 40) } }
    }

    /// - Parameters:
    ///   - bytes: the whole answer.
    ///   - origin: where and when it came.
    ///   - format: where to look.
    /// - Throws: `.unusableAnswer`, never with a part of the answer but the names of its keys.
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

    /// The same with another life left, and perhaps one doubt more.
    func living(_ lifetime: Duration?, warning: ExpiryWarning? = nil) -> TokenAnswer {
        var answer = self
        answer.token = AuthorizationToken(
            value: token.value, lifetime: lifetime, reuse: token.reuse,
            warnings: token.warnings + [warning.map { .expiry($0, origin) }].compactMap { $0 })
        return answer
    }

    /// The token, if any of its life is left.
    ///
    /// - Throws: `.unusableAnswer` with who says that it is over.
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
