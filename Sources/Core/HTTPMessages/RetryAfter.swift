/// The `Retry-After` field: seconds, or a date (RFC 9110, section 10.2.3).
package struct RetryAfter: Sendable, Hashable {
    /// How long to wait from the moment of the answer; never negative.
    package let delay: Duration

    /// Reads the field of `headers`; a date is measured against the answer's own `Date` field, so that this machine's
    /// clock does not matter. `nil` when the field is missing or means nothing.
    package init?(_ headers: HTTPHeaders) {
        guard let text = headers["Retry-After"] else { return nil }
        if let seconds = Int64(text) {
            guard (0...Self.longestSeconds).contains(seconds) else { return nil }
            delay = .seconds(seconds)
        } else {
            guard let then = HTTPDate(text), let now = headers["Date"].flatMap(HTTPDate.init) else { return nil }
            delay = .seconds(max(0, min(Self.longestSeconds, then.secondsSince1970 - now.secondsSince1970)))
        }
    }

    /// A day; no server means more.
    private static let longestSeconds: Int64 = 86_400
}
