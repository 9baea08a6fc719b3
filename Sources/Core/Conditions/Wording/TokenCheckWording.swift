package import ReportedText

/// A finding of `waypost token` and `waypost check` about a token that the service sends.
package enum TokenFinding: Sendable, Hashable {
    /// By the host's clock, the token expired this long ago. The service itself doesn't judge tokens by that clock.
    case expiredByHostClock(Duration)
    /// By the host's clock, the token was issued this far in the future. Fleet Engine accepts at most `accepted`.
    case issuedInFuture(Duration, accepted: Duration)
    /// The token endpoint's certificate expires soon.
    case certificateExpiring(date: String, in: Duration)
    /// Fleet Engine will reject the token because its `exp` is in milliseconds.
    case expiryInMilliseconds
    /// Fleet Engine will reject the token because its `exp` is more than an hour ahead.
    case expiryTooFarAhead
}

extension TokenFinding {
    /// The finding and the remedy, in one line.
    package var sentence: ReportedText { wording.sentence }

    private var wording: Wording {
        switch self {
        case .expiredByHostClock(let time):
            Wording(
                "the token expired \(time.humanReadable) ago by this host's clock",
                "the issuer must make a new token; if a clock is wrong, set it")
        case .issuedInFuture(let time, let accepted):
            Wording(
                """
                the token was issued \(time.humanReadable) ahead of this host's clock, but Fleet Engine accepts at most \
                \(accepted.humanReadable)
                """,
                "set the clock that is wrong")
        case .certificateExpiring(let date, let time):
            Wording(
                "the token endpoint's certificate expires on \(date), in \(time.humanReadable)", "renew it before then")
        case .expiryInMilliseconds:
            Wording(
                "Fleet Engine rejects an exp in milliseconds, which is thousands of years ahead",
                "the issuer must divide it by 1000")
        case .expiryTooFarAhead:
            Wording("Fleet Engine rejects an exp more than an hour ahead", "the issuer must set an earlier exp")
        }
    }
}
