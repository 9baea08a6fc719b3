/// A JSON Web Token for one vehicle, and how long it may be used.
///
/// The text is a secret: printing the value shows only that there is one.
public struct AuthorizationToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The token as it goes behind `Authorization: Bearer`.
    public let value: String
    /// Life left when the token was handed over; `nil` when neither the token nor its issuer said.
    public let lifetime: Duration?

    /// A token with `lifetime` left from now.
    public init(value: String, lifetime: Duration?) {
        (self.value, self.lifetime) = (value, lifetime)
    }

    /// Never the token itself.
    public var description: String { "AuthorizationToken(\(value.utf8.count) bytes, not shown)" }
    /// Never the token itself.
    public var debugDescription: String { description }
}
