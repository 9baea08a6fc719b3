/// A JSON Web Token for one vehicle or trip, and its remaining lifetime.
///
/// The token's text is a secret. It isn't shown when this value is printed, and its bytes are overwritten when the last
/// copy of this value is released.
public struct AuthorizationToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    let secret: SecretText
    /// The lifetime left when the token was handed out; `nil` if neither the token nor its issuer specified it.
    public let lifetime: Duration?
    /// The maximum time until renewal, if a doubt about the expiry requires renewal before half of the lifetime;
    /// otherwise `nil`.
    package let reuse: Duration?
    /// Problems that an operator should correct. The token is used anyway.
    package let warnings: [TokenWarning]

    /// Creates a token with `lifetime` left from now.
    public init(value: String, lifetime: Duration?) { self.init(value: value, lifetime: lifetime, reuse: nil) }

    /// Creates a token that carries warnings.
    package init(value: String, lifetime: Duration?, reuse: Duration?, warnings: [TokenWarning] = []) {
        self.init(SecretText(value), lifetime: lifetime, reuse: reuse, warnings: warnings)
    }

    private init(_ secret: SecretText, lifetime: Duration?, reuse: Duration? = nil, warnings: [TokenWarning] = []) {
        self.secret = secret
        self.lifetime = lifetime
        self.reuse = reuse
        self.warnings = warnings
    }

    /// The token for `Authorization: Bearer`. Each access creates a new string, which isn't overwritten.
    public var value: String { secret.text }

    /// Returns the same token with further warnings.
    func adding(_ more: [TokenWarning]) -> Self {
        Self(secret, lifetime: lifetime, reuse: reuse, warnings: warnings + more)
    }

    /// Returns the same token with `lifetime` left and without warnings, ready to be handed out.
    func withLifetime(_ lifetime: Duration?) -> Self { Self(secret, lifetime: lifetime) }

    /// Whether both tokens have the same text, whatever their lifetimes.
    func isSame(as other: AuthorizationToken) -> Bool { secret == other.secret }

    /// A hash that identifies the token within this process, so that the token itself needn't be kept.
    var fingerprint: Int { secret.hashValue }

    /// A description without the token.
    public var description: String { "AuthorizationToken(\(secret.count) bytes, not shown)" }
    /// A description without the token.
    public var debugDescription: String { description }
}
