/// A JSON Web Token for one vehicle or trip, and how long it may be used.
///
/// The text is a secret: printing the value shows only that there is one, and its bytes are overwritten when the last
/// copy of this value goes.
public struct AuthorizationToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    let secret: SecretText
    /// Life left when the token was handed over; `nil` when neither the token nor its issuer said.
    public let lifetime: Duration?
    /// After how long at the latest its successor should be asked for, where a doubt asks for less than half its life.
    package let reuse: Duration?
    /// What an operator should correct. Nothing of it keeps the token from being used.
    package let doubts: [TokenDoubt]

    /// A token with `lifetime` left from now.
    public init(value: String, lifetime: Duration?) { self.init(value: value, lifetime: lifetime, reuse: nil) }

    /// The same with doubts about it.
    package init(value: String, lifetime: Duration?, reuse: Duration?, doubts: [TokenDoubt] = []) {
        self.init(SecretText(value), lifetime: lifetime, reuse: reuse, doubts: doubts)
    }

    private init(_ secret: SecretText, lifetime: Duration?, reuse: Duration? = nil, doubts: [TokenDoubt] = []) {
        self.secret = secret
        self.lifetime = lifetime
        self.reuse = reuse
        self.doubts = doubts
    }

    /// The token as it goes behind `Authorization: Bearer`: a string of its own each time, which is not overwritten.
    public var value: String { secret.text }

    /// The same token with further doubts.
    func doubted(_ more: [TokenDoubt]) -> Self {
        Self(secret, lifetime: lifetime, reuse: reuse, doubts: doubts + more)
    }

    /// The same token, with `lifetime` left, as it is handed out.
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
