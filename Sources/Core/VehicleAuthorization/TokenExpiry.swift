package import StrictJSON

/// The remaining lifetime of a token, from everything that is known about it.
///
/// The JSON Web Token's own `exp` counts, because Fleet Engine reads nothing else. The time left until then follows
/// from the issuer's clock (`iat`, the answer's `Date`). This machine's clock shortens it if it is between `iat` and
/// `exp`; otherwise it is ignored, because it may be wrong by years. If the kernel knows that something keeps this
/// clock right, it also ends a token that came without a `Date`.
///
/// The issuer's statement next to the token counts if the token says nothing. If the two differ, the earlier one
/// decides when the token is renewed, but only `exp` ends it.
package struct TokenExpiry: Sendable, Hashable {
    /// The lifetime left when the fetch began; `nil` if nothing states it. Zero or less means that the token has
    /// expired.
    package let lifetime: Duration?
    /// The maximum time until renewal; `nil` if the lifetime decides that.
    package let reuse: Duration?
    /// How the issuer's statement next to the token differs from `exp`.
    package let statedWarning: ExpiryWarning?
    /// An inconsistency of the clocks.
    package let clockWarning: ExpiryWarning?

    package var warnings: [ExpiryWarning] { [statedWarning, clockWarning].compactMap { $0 } }

    /// The time until renewal, in seconds, of a token that one of the sources says has expired.
    private static let earlyRenewal = 300.0
    /// The maximum difference between clocks, in seconds (Google tolerates ten minutes for `iat`).
    private static let skew = 600.0

    /// - Parameters:
    ///   - token: the token, if it is a JSON Web Token.
    ///   - stated: the issuer's statement next to the token.
    ///   - format: the meaning of a number there.
    ///   - issuerTime: the issuer's clock when it answered (its `Date` header), in seconds since 1970.
    ///   - localTime: this machine's clock when the token was written.
    ///   - present: this machine's clock, if something keeps it right.
    package init(
        token: JSONWebToken?, stated: StatedExpiry?, format: ExpirationFormat, issuerTime: Double?, localTime: Double,
        present: Double? = nil
    ) {
        let clocks = Clocks(token: token, issuerTime: issuerTime, localTime: localTime, present: present)
        let end = token?.expiry.flatMap { JSONWebToken.isPlausible($0) ? $0 : nil }
        let claimed = end.map(clocks.left)
        let reading = stated.flatMap { Self.seconds($0, format, clocks, end: end, claimed: claimed?.seconds) }
        var reuse = claimed?.isOverForSome == true ? Self.earlyRenewal : nil
        var warning: ExpiryWarning?
        if let stated {
            if let reading, let own = claimed?.seconds {
                warning = stated.disagreement(reading, own)
                if warning != nil, reading < own {
                    reuse = min(reuse ?? .infinity, reading > 0 ? max(60, reading) : Self.earlyRenewal)
                }
            } else if reading == nil, stated.isUnreadable || clocks.isCertain || claimed?.seconds != nil {
                let other = Self.seconds(stated, .automatic, clocks, end: end, claimed: claimed?.seconds)
                warning = stated.complaint(format, fitsAutomatic: other.map { $0 > 0 } == true, own: claimed?.seconds)
            }
        }
        lifetime = (claimed?.seconds ?? reading).map { .milliseconds(Int64($0 * 1000)) }
        self.reuse = reuse.map { .milliseconds(Int64($0 * 1000)) }
        statedWarning = warning
        // Without any known lifetime, an end that can't be judged is worth a warning.
        let isUnjudged = lifetime == nil && warning == nil && (end != nil || stated != nil)
        clockWarning = claimed?.warning ?? (isUnjudged ? .unjudged : nil)
    }

    /// Returns the lifetime of a token that came without a statement next to it.
    package static func lifetime(ofToken value: String, localTime: Double) -> Duration? {
        guard let token = try? JSONWebToken(value) else { return nil }
        return TokenExpiry(token: token, stated: nil, format: .automatic, issuerTime: nil, localTime: localTime)
            .lifetime
    }

    /// The time left until an end.
    private struct Left {
        /// `nil` if no clock can say.
        var seconds: Double?
        var warning: ExpiryWarning?
        /// Whether one of the clocks says that it has passed, and others that it hasn't.
        var isOverForSome = false
    }

    /// The clocks that may say how old a token is.
    private struct Clocks {
        /// `iat`, if it can be the time of issue.
        private let issued: Double?
        private let issuers: Double?
        private let local: Double
        /// `nil` if nothing keeps this machine's clock right.
        private let present: Double?

        init(token: JSONWebToken?, issuerTime: Double?, localTime: Double, present: Double?) {
            issued = token?.timeOfIssue
            issuers = issuerTime
            local = localTime
            self.present = present
        }

        /// Whether one of them is the issuer's clock.
        var isCertain: Bool { issued != nil || issuers != nil }

        func left(until end: Double) -> Left {
            if issuers == nil, let present, present >= end { return Left(seconds: end - present) }
            return issued.map { left(until: end, issued: $0) } ?? leftWithoutIssue(end)
        }

        private func left(until end: Double, issued: Double) -> Left {
            let isLocalInside = local >= issued && local + 1 < end
            let byLocal = isLocalInside ? end - local : end - issued
            guard let issuers else { return Left(seconds: byLocal) }
            if issuers < issued - skew {
                return Left(seconds: byLocal, warning: .dateBeforeIssue(.seconds(issued - issuers)))
            }
            // Both say that it has passed, or neither does.
            if issuers < end || local >= end { return Left(seconds: end - max(issuers, issued)) }
            return Left(seconds: byLocal, warning: lateDate(end), isOverForSome: true)
        }

        private func leftWithoutIssue(_ end: Double) -> Left {
            // Fleet Engine's tokens live an hour, and clocks commonly differ by ten minutes.
            let byLocal = end > local && end - local <= 3600 + skew ? min(end - local, 3600) : nil
            guard let issuers, end - issuers <= JSONWebToken.maximumLife else { return Left(seconds: byLocal) }
            if issuers < end || local >= end { return Left(seconds: end - issuers) }
            return Left(seconds: byLocal, warning: lateDate(end), isOverForSome: true)
        }

        private func lateDate(_ end: Double) -> ExpiryWarning { .dateAfterExpiry(seconds: Int((issuers ?? end) - end)) }
    }

    /// Returns the seconds left by the issuer's statement; `nil` if no token could live, or have been expired, for that
    /// long.
    private static func seconds(
        _ stated: StatedExpiry, _ format: ExpirationFormat, _ clocks: Clocks, end: Double?, claimed: Double?
    ) -> Double? {
        func until(_ time: Double) -> Double? {
            // The token's own end is a reference that needs no clock.
            if let end, let claimed { claimed + (time - end) } else { clocks.left(until: time).seconds }
        }
        let seconds: Double?
        switch stated.meaning {
        case .unreadable: return nil
        case .time(let time): seconds = until(time)
        case .span(let span): seconds = span
        case .number(let number):
            guard number.isFinite, number > 0 else { return nil }
            seconds =
                switch format {
                case .secondsFromNow: number
                case .epochSeconds: until(number)
                case .epochMilliseconds: until(number / 1000)
                case .automatic: number <= 1e8 ? number : until(number < 1e11 ? number : number / 1000)
                }
        }
        return seconds.flatMap { (-86_400...JSONWebToken.maximumLife).contains($0) ? $0 : nil }
    }
}

/// An issuer's statement of a token's end, next to the token, and its text for messages.
package struct StatedExpiry: Sendable, Hashable {
    package enum Meaning: Sendable, Hashable {
        /// `ExpirationFormat` decides what it means.
        case number(Double)
        /// A time in seconds since 1970.
        case time(Double)
        /// A time in seconds from now.
        case span(Double)
        case unreadable
    }

    /// The key of the statement.
    package let key: String
    /// The value as it may be shown.
    package let text: String
    package let meaning: Meaning

    package init(key: String, text: String, meaning: Meaning) {
        self.key = key
        self.text = text
        self.meaning = meaning
    }

    fileprivate var isUnreadable: Bool { meaning == .unreadable }
    /// This statement without its value.
    fileprivate var topic: Self { Self(key: key, text: "", meaning: .unreadable) }

    /// Returns a warning if the statement differs from the token's own `exp` by more than a minute.
    fileprivate func disagreement(_ reading: Double, _ own: Double) -> ExpiryWarning? {
        guard abs(reading - own) > 60, own > 0 else { return nil }
        return .stated(self, seconds: Int(reading), own: Int(own))
    }

    /// Returns why the statement isn't an expiry. `own` is the time left by the token's own `exp`.
    fileprivate func complaint(_ format: ExpirationFormat, fitsAutomatic: Bool, own: Double?) -> ExpiryWarning {
        if case .number = meaning, fitsAutomatic, format != .automatic {
            return .otherFormat(self, format, hasOwn: own != nil)
        }
        return .unreadable(self, hasOwn: own != nil)
    }
}

/// An inconsistency of a token's end. The token is used.
package enum ExpiryWarning: Sendable, Hashable {
    /// The issuer's `Date` is this long before the token's own `iat`, and is ignored.
    case dateBeforeIssue(Duration)
    /// The issuer's `Date` is after the token's own `exp`, and this machine's clock isn't.
    case dateAfterExpiry(seconds: Int)
    /// No clock can say when the token ends.
    case unjudged
    /// The seconds left by the statement next to the token, and by the token's own `exp`. Zero or less means expired.
    case stated(StatedExpiry, seconds: Int, own: Int)
    /// The statement is an expiry in another format than the configured one.
    case otherFormat(StatedExpiry, ExpirationFormat, hasOwn: Bool)
    case unreadable(StatedExpiry, hasOwn: Bool)
    /// The token's file seems older than its token can be, or this host's clock is wrong.
    case oldFile

    /// This warning without numbers.
    var topic: Self {
        switch self {
        case .dateBeforeIssue: .dateBeforeIssue(.zero)
        case .dateAfterExpiry: .dateAfterExpiry(seconds: 0)
        case .stated(let stated, let seconds, let own):
            .stated(stated.topic, seconds: (seconds - own).signum(), own: seconds.signum())
        case .otherFormat(let stated, let format, let hasOwn): .otherFormat(stated.topic, format, hasOwn: hasOwn)
        case .unreadable(let stated, let hasOwn): .unreadable(stated.topic, hasOwn: hasOwn)
        case .unjudged, .oldFile: self
        }
    }
}

/// The meaning of the number that an issuer states next to the token. Google's own samples use three.
public enum ExpirationFormat: String, Sendable, Hashable, CaseIterable {
    /// Judged by its size: up to 10⁸ seconds from now, below 10¹¹ seconds since 1970, above that milliseconds since
    /// 1970.
    case automatic
    /// Seconds since 1970.
    case epochSeconds
    /// Milliseconds since 1970.
    case epochMilliseconds
    /// Seconds from now.
    case secondsFromNow
}

extension JSONValue {
    /// A number, or a string that contains one: issuers write times in both ways.
    package var numericValue: Double? {
        if let text = stringValue { return Double(text.filter { !$0.isWhitespace }) }
        return doubleValue
    }
}
