/// A JSON Web Token for one vehicle or trip, and how long it may be used.
///
/// The text is a secret: printing the value shows only that there is one, and its bytes are overwritten when the last
/// copy of this value goes.
public struct AuthorizationToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    private let secret: SecretText
    /// Life left when the token was handed over; `nil` when neither the token nor its issuer said.
    public let lifetime: Duration?

    /// A token with `lifetime` left from now.
    public init(value: String, lifetime: Duration?) {
        (secret, self.lifetime) = (SecretText(value), lifetime)
    }

    private init(_ secret: SecretText, lifetime: Duration?) { (self.secret, self.lifetime) = (secret, lifetime) }

    /// The token as it goes behind `Authorization: Bearer`: a string of its own each time, which is not overwritten.
    public var value: String { secret.text }

    /// The same token, with `lifetime` left.
    func with(lifetime: Duration?) -> Self { Self(secret, lifetime: lifetime) }

    /// Whether both are the same text, whatever life is left.
    func isSame(as other: AuthorizationToken) -> Bool { secret == other.secret }

    /// Tells tokens apart within this process without keeping one.
    var fingerprint: Int { secret.hashValue }

    /// Never the token itself.
    public var description: String { "AuthorizationToken(\(secret.count) bytes, not shown)" }
    /// Never the token itself.
    public var debugDescription: String { description }
}
