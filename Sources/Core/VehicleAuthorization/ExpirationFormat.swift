/// How the number is meant that an issuer gives beside the token; Google's own samples read it in three ways.
public enum ExpirationFormat: String, Sendable, Hashable, CaseIterable {
    /// By its size: up to 10⁸ seconds from now, below 10¹¹ seconds since 1970, above that milliseconds since 1970.
    case automatic
    /// Seconds since 1970.
    case epochSeconds
    /// Milliseconds since 1970.
    case epochMilliseconds
    /// Seconds from now.
    case secondsFromNow
}
