/// How long tokens are reused, and how fast an issuer that failed is asked again.
public struct CachePolicy: Sendable, Hashable {
    /// Life that is left in every token handed out, where the issuer gives more than that (the Driver SDK asks for
    /// five minutes).
    public var minimumLife: Duration = .seconds(300)
    /// How long a token is reused that tells no expiry.
    public var assumedLifetime: Duration = .seconds(300)
    /// Contexts whose tokens are kept; the least recently used one goes first.
    public var maximumContexts: Int = 4096
    /// The ceiling of the wait after the first failed fetch; it doubles with each further failure. The wait is drawn
    /// from the upper half, so that a fleet does not ask in step.
    public var initialFailureDelay: Duration = .seconds(2)
    /// The longest wait after a failure.
    public var maximumFailureDelay: Duration = .seconds(60)
    /// The longest wait that an issuer can ask for with `retryAfter`.
    public var maximumRetryAfter: Duration = .seconds(600)

    /// The documented rules.
    public init() {}
}
