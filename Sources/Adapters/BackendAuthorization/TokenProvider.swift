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
    }

    /// - Parameters:
    ///   - bytes: the whole answer.
    ///   - origin: where and when it came.
    ///   - format: where to look.
    /// - Throws: `.unusableAnswer`, never with a part of the answer but the names of its keys.
    package init(_ bytes: [UInt8], from origin: Origin, format: TokenAnswerFormat) throws(AuthorizationError) {
        let found: FoundToken
        do throws(TokenAnswerProblem) {
            found = try FoundToken(in: bytes, format)
            parsed = try found.parsed()
        } catch {
            let wording = TokenAnswerWording(origin: origin, format: format, byteCount: bytes.count)
            throw AuthorizationError(.unusableAnswer, "\(origin.source) gave \(wording.words(for: error))")
        }
        let stated = found.statedEnd.flatMap {
            StatedExpiry($0, key: format.expirationKey, without: origin.secrets + [found.text])
        }
        let expiry = TokenExpiry(
            token: parsed, stated: stated, format: format.expirationFormat, issuerTime: origin.issuerTime,
            localTime: origin.localTime, present: origin.present)
        let name = origin.source
        token = AuthorizationToken(
            value: found.text, lifetime: expiry.lifetime, reuse: expiry.reuse,
            doubts: expiry.doubts.map { "\(name): \($0)" })
        source = name
        issuerTime = origin.issuerTime
        statedExpiry = stated
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
