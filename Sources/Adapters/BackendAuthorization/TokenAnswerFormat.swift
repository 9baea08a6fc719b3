package import VehicleAuthorization

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
}
