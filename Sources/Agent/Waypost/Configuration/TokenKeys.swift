/// How a token and its expiry are found in a JSON answer.
package struct TokenKeys: Sendable, Hashable {
    package var token: String
    package var expiration: String
    package var expirationFormat: ExpirationFormat

    /// The words of `authorization.expirationFormat`.
    package enum ExpirationFormat: String, Sendable, Hashable, CaseIterable {
        case automatic, epochSeconds, epochMilliseconds, secondsFromNow
    }
}

extension TokenKeys {
    init(_ section: inout ConfigurationSection) {
        token = section.string("tokenKey", default: "VEHICLE_TOKEN_KEY")
        expiration = section.string("expirationKey", default: "TOKEN_EXPIRATION")
        expirationFormat = section.choice("expirationFormat", default: ExpirationFormat.automatic) ?? .automatic
    }
}
