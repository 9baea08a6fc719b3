package import StrictJSON

/// The remaining lifetime of a token, from everything that is known about it.
///
/// The `exp` of the JSON Web Token itself decides, because Fleet Engine reads nothing else. The time left until `exp`
/// is measured by the issuer's clock (`iat`, or the `Date` of the answer). This machine's clock may be wrong by years,
/// so it shortens the lifetime only if its time is between `iat` and `exp`. If the kernel reports that this machine's
/// clock is synchronised, it can also show that a token without a `Date` has expired.
///
/// If the token contains no `exp`, the expiry that the issuer reports next to the token is used. If both exist and
/// differ, the earlier one decides when the token is renewed, but only `exp` ends its lifetime.
package struct TokenExpiry: Sendable, Hashable {
    /// The lifetime left when the fetch began; `nil` if unknown. Zero or less means that the token has expired.
    package let lifetime: Duration?
    /// The maximum time until renewal; `nil` if only the lifetime decides when the token is renewed.
    package let reuse: Duration?
    /// The warning about an expiry next to the token that differs from `exp` or can't be used; otherwise `nil`.
    package let statedWarning: ExpiryWarning?
    /// The warning about clocks that contradict each other or can't determine the lifetime; otherwise `nil`.
    package let clockWarning: ExpiryWarning?

    package var warnings: [ExpiryWarning] { [statedWarning, clockWarning].compactMap { $0 } }

    /// The number of seconds until renewal if a token has expired according to one source but not to another.
    private static let earlyRenewal = 300.0
    /// The maximum difference in seconds between clocks (Google tolerates ten minutes for `iat`).
    private static let skew = 600.0

    /// - Parameters:
    ///   - token: the token, if it is a JSON Web Token.
    ///   - stated: the expiry that the issuer reports next to the token.
    ///   - format: the meaning of `stated` if it is a number.
    ///   - issuerTime: the issuer's clock when it answered (the `Date` header), in seconds since 1970.
    ///   - localTime: this machine's time when the token arrived or, for a file, was written.
    ///   - present: this machine's clock, if it is synchronised.
    package init(
        token: JSONWebToken?, stated: StatedExpiry?, format: ExpirationFormat, issuerTime: Double?, localTime: Double,
        present: Double? = nil
    ) {
        let clocks = Clocks(token: token, issuerTime: issuerTime, localTime: localTime, present: present)
        let end = token?.expiry.flatMap { JSONWebToken.isPlausible($0) ? $0 : nil }
        let claimed = end.map(clocks.timeLeft)
        let reading = stated.flatMap {
            Self.secondsLeft(accordingTo: $0, format: format, clocks: clocks, end: end, claimed: claimed?.seconds)
        }
        var reuse = claimed?.isDisputed == true ? Self.earlyRenewal : nil
        var warning: ExpiryWarning?
        if let stated {
            if let reading, let tokenSeconds = claimed?.seconds {
                warning = stated.disagreement(between: reading, and: tokenSeconds)
                if warning != nil, reading < tokenSeconds {
                    reuse = min(reuse ?? .infinity, reading > 0 ? max(60, reading) : Self.earlyRenewal)
                }
            } else if reading == nil, stated.isUnreadable || clocks.isCertain || claimed?.seconds != nil {
                let other = Self.secondsLeft(
                    accordingTo: stated, format: .automatic, clocks: clocks, end: end, claimed: claimed?.seconds)
                warning = stated.warning(
                    for: format, fitsAutomatic: other.map { $0 > 0 } == true, secondsToTokenExpiry: claimed?.seconds)
            }
        }
        lifetime = (claimed?.seconds ?? reading).map { .milliseconds(Int64($0 * 1000)) }
        self.reuse = reuse.map { .milliseconds(Int64($0 * 1000)) }
        statedWarning = warning
        // If there is an expiry but the lifetime is unknown, no clock could judge the expiry. An operator must be
        // warned about this.
        let isUnjudged = lifetime == nil && warning == nil && (end != nil || stated != nil)
        clockWarning = claimed?.warning ?? (isUnjudged ? .noUsableClock : nil)
    }

    /// Returns the lifetime of a token that arrived without an expiry next to it.
    package static func lifetime(ofToken value: String, localTime: Double) -> Duration? {
        guard let token = try? JSONWebToken(value) else { return nil }
        return TokenExpiry(token: token, stated: nil, format: .automatic, issuerTime: nil, localTime: localTime)
            .lifetime
    }

    /// The time left until an expiry.
    private struct TimeLeft {
        /// The seconds left; `nil` if no clock can determine them.
        var seconds: Double?
        var warning: ExpiryWarning?
        /// Whether the clocks disagree about whether the expiry has passed.
        var isDisputed = false
    }

    /// The clocks that may determine a token's age.
    private struct Clocks {
        /// The value of `iat`; `nil` unless it is a plausible time of issue.
        private let issued: Double?
        private let issuers: Double?
        private let local: Double
        /// This machine's clock; `nil` if it isn't synchronised.
        private let present: Double?

        init(token: JSONWebToken?, issuerTime: Double?, localTime: Double, present: Double?) {
            issued = token?.timeOfIssue
            issuers = issuerTime
            local = localTime
            self.present = present
        }

        /// Whether any reading of the issuer's clock is known.
        var isCertain: Bool { issued != nil || issuers != nil }

        func timeLeft(until end: Double) -> TimeLeft {
            if issuers == nil, let present, present >= end { return TimeLeft(seconds: end - present) }
            return issued.map { timeLeft(until: end, issued: $0) } ?? timeLeftWithoutIssue(until: end)
        }

        private func timeLeft(until end: Double, issued: Double) -> TimeLeft {
            let isLocalInside = local >= issued && local + 1 < end
            let byLocal = isLocalInside ? end - local : end - issued
            guard let issuers else { return TimeLeft(seconds: byLocal) }
            if issuers < issued - skew {
                return TimeLeft(seconds: byLocal, warning: .dateBeforeIssue(.seconds(issued - issuers)))
            }
            // The issuer's clock decides, unless it alone says that the token has expired.
            if issuers < end || local >= end { return TimeLeft(seconds: end - max(issuers, issued)) }
            return TimeLeft(seconds: byLocal, warning: lateDateWarning(end: end), isDisputed: true)
        }

        private func timeLeftWithoutIssue(until end: Double) -> TimeLeft {
            // Without a time of issue, this machine's clock is used only if it leaves a plausible lifetime. Fleet
            // Engine's tokens live an hour, and clocks commonly differ by ten minutes.
            let byLocal = end > local && end - local <= 3600 + skew ? min(end - local, 3600) : nil
            guard let issuers, end - issuers <= JSONWebToken.maximumLife else { return TimeLeft(seconds: byLocal) }
            if issuers < end || local >= end { return TimeLeft(seconds: end - issuers) }
            return TimeLeft(seconds: byLocal, warning: lateDateWarning(end: end), isDisputed: true)
        }

        private func lateDateWarning(end: Double) -> ExpiryWarning {
            .dateAfterExpiry(seconds: Int((issuers ?? end) - end))
        }
    }

    /// Returns the seconds left according to the expiry next to the token; `nil` if they are implausibly far in the
    /// future or the past.
    private static func secondsLeft(
        accordingTo stated: StatedExpiry, format: ExpirationFormat, clocks: Clocks, end: Double?, claimed: Double?
    ) -> Double? {
        func secondsLeft(until time: Double) -> Double? {
            // If the time left until `exp` is known, the other expiry is measured from `exp`, which needs no clock.
            if let end, let claimed { claimed + (time - end) } else { clocks.timeLeft(until: time).seconds }
        }
        let seconds: Double?
        switch stated.meaning {
        case .unreadable: return nil
        case .time(let time): seconds = secondsLeft(until: time)
        case .span(let span): seconds = span
        case .number(let number):
            guard number.isFinite, number > 0 else { return nil }
            seconds =
                switch format {
                case .secondsFromNow: number
                case .epochSeconds: secondsLeft(until: number)
                case .epochMilliseconds: secondsLeft(until: number / 1000)
                case .automatic: number <= 1e8 ? number : secondsLeft(until: number < 1e11 ? number : number / 1000)
                }
        }
        return seconds.flatMap { (-86_400...JSONWebToken.maximumLife).contains($0) ? $0 : nil }
    }
}

/// A token's expiry as an issuer reports it next to the token, with its text for messages.
package struct StatedExpiry: Sendable, Hashable {
    package enum Meaning: Sendable, Hashable {
        /// A number whose meaning `ExpirationFormat` decides.
        case number(Double)
        /// A time in seconds since 1970.
        case time(Double)
        /// A number of seconds from now.
        case span(Double)
        case unreadable
    }

    /// The JSON key under which the expiry was found.
    package let key: String
    /// The value, in a form that may be shown.
    package let text: String
    package let meaning: Meaning

    package init(key: String, text: String, meaning: Meaning) {
        self.key = key
        self.text = text
        self.meaning = meaning
    }

    fileprivate var isUnreadable: Bool { meaning == .unreadable }
    /// This expiry without its value, which changes from token to token.
    fileprivate var topic: Self { Self(key: key, text: "", meaning: .unreadable) }

    /// Returns a warning if the expiry differs from the token's own `exp` by more than a minute.
    fileprivate func disagreement(between reading: Double, and tokenSeconds: Double) -> ExpiryWarning? {
        guard abs(reading - tokenSeconds) > 60, tokenSeconds > 0 else { return nil }
        return .differentExpiries(self, seconds: Int(reading), tokenSeconds: Int(tokenSeconds))
    }

    /// Returns the warning about a value that isn't a valid expiry. `secondsToTokenExpiry` is the number of seconds
    /// left until the token's own `exp`; `nil` if it isn't known.
    fileprivate func warning(
        for format: ExpirationFormat, fitsAutomatic: Bool, secondsToTokenExpiry: Double?
    ) -> ExpiryWarning {
        if case .number = meaning, fitsAutomatic, format != .automatic {
            return .otherFormat(self, format, hasTokenExpiry: secondsToTokenExpiry != nil)
        }
        return .unreadable(self, hasTokenExpiry: secondsToTokenExpiry != nil)
    }
}

/// An inconsistency in a token's expiry. The token is used anyway.
package enum ExpiryWarning: Sendable, Hashable {
    /// The issuer's `Date` is this long before the token's own `iat`, and is ignored.
    case dateBeforeIssue(Duration)
    /// The issuer's `Date` is after the token's own `exp`, but this machine's time isn't.
    case dateAfterExpiry(seconds: Int)
    /// No clock can determine when the token expires.
    case noUsableClock
    /// The expiry next to the token is in `seconds`, but the token's own `exp` is in `tokenSeconds` seconds. Zero or
    /// less means that the token has expired.
    case differentExpiries(StatedExpiry, seconds: Int, tokenSeconds: Int)
    /// The format of the expiry next to the token differs from the configured format.
    case otherFormat(StatedExpiry, ExpirationFormat, hasTokenExpiry: Bool)
    case unreadable(StatedExpiry, hasTokenExpiry: Bool)
    /// The token's file seems to be older than the token's lifetime, or this machine's clock is wrong.
    case outdatedFile

    /// This warning without the numbers that change from token to token.
    var topic: Self {
        switch self {
        case .dateBeforeIssue: .dateBeforeIssue(.zero)
        case .dateAfterExpiry: .dateAfterExpiry(seconds: 0)
        case .differentExpiries(let stated, let seconds, let tokenSeconds):
            .differentExpiries(stated.topic, seconds: (seconds - tokenSeconds).signum(), tokenSeconds: seconds.signum())
        case .otherFormat(let stated, let format, let hasTokenExpiry):
            .otherFormat(stated.topic, format, hasTokenExpiry: hasTokenExpiry)
        case .unreadable(let stated, let hasTokenExpiry): .unreadable(stated.topic, hasTokenExpiry: hasTokenExpiry)
        case .noUsableClock, .outdatedFile: self
        }
    }
}

/// The format of the expiry that an issuer reports next to the token. Google's own samples use three different ones.
public enum ExpirationFormat: String, Sendable, Hashable, CaseIterable {
    /// The magnitude decides: values up to 10⁸ are seconds from now, values below 10¹¹ are seconds since 1970, and
    /// greater values are milliseconds since 1970.
    case automatic
    /// The time in seconds since 1970.
    case epochSeconds
    /// The time in milliseconds since 1970.
    case epochMilliseconds
    /// The number of seconds from now.
    case secondsFromNow
}

extension JSONValue {
    /// The value of a number, or of a string that contains a number, because issuers write times in both ways; `nil`
    /// for any other value.
    package var numericValue: Double? {
        if let text = stringValue { return Double(text.filter { !$0.isWhitespace }) }
        return doubleValue
    }
}
