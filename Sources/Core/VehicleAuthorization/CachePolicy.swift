/// How long tokens are reused, and how fast an issuer that failed is asked again.
public struct CachePolicy: Sendable, Hashable {
    /// Life that is left in every token handed out, where the issuer gives more than that (the Driver SDK asks for
    /// five minutes).
    public var minimumLife: Duration = .seconds(300)
    /// How long a token is reused that tells no expiry.
    public var assumedLifetime: Duration = .seconds(300)
    /// The longest life that Fleet Engine takes; an issuer that gives more is told of.
    public var longestLife: Duration = .seconds(3600)
    /// Contexts whose tokens are kept; the least recently used one goes first.
    public var maximumContexts: Int = 4096
    /// The ceiling of the wait after the first failed fetch; it doubles with each further failure. The wait is drawn
    /// from the upper half, so that a fleet does not ask in step.
    public var initialFailureDelay: Duration = .seconds(2)
    /// The longest wait after a failure; and the shortest between two fetches of an issuer that gives a refused token
    /// again.
    public var maximumFailureDelay: Duration = .seconds(60)
    /// The longest wait that an issuer can ask for with `retryAfter`.
    public var maximumRetryAfter: Duration = .seconds(600)

    /// The documented rules.
    public init() {}

    /// How long before the end of a reuse of `reuse` its successor is fetched: a tenth to three tenths of it, and at
    /// least a minute or two where there is room, for an update comes every minute at the latest.
    func refreshLead(reuse: Duration, jitter: Double) -> Duration {
        let spread = 1 - jitter
        return max(
            reuse * (0.1 + 0.2 * spread), min(.seconds(60) * (1 + spread), reuse * (0.3 + 0.2 * spread)))
    }
}
