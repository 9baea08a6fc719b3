package import StrictJSON

/// How long a token lives, from all that is known about it.
///
/// The JSON Web Token's own `exp` counts, for Fleet Engine reads nothing else. How much is left of it follows from the
/// issuer's clock (`iat`, the answer's `Date`); this machine's clock shortens it where that lies between `iat` and
/// `exp`, and does not matter otherwise: it may be wrong by years. While the kernel knows that something keeps it
/// right, it ends a token that came without a `Date`. What the issuer states beside the token counts where the token
/// says nothing; where the two differ, the earlier decides when the token is renewed. Nothing stated beside `exp` ends
/// a token.
package struct TokenExpiry: Sendable, Hashable {
    /// Life left when the fetch began; `nil` when nothing states it. Zero or less: the token has expired.
    package let lifetime: Duration?
    /// After how long at the latest it should be renewed; `nil` leaves that to its life.
    package let reuse: Duration?
    /// How the issuer's statement beside the token differs from `exp`.
    package let statedDoubt: ExpiryDoubt?
    /// What is inconsistent about the clocks.
    package let clockDoubt: ExpiryDoubt?

    /// Both.
    package var doubts: [ExpiryDoubt] { [statedDoubt, clockDoubt].compactMap { $0 } }

    /// How soon a token is renewed, in seconds, of which somebody says that it is over.
    private static let doubtfulReuse = 300.0
    /// By how much clocks may differ (Google: `iat` tolerates ten minutes).
    private static let skew = 600.0

    /// - Parameters:
    ///   - token: the token, where it is a JSON Web Token.
    ///   - stated: what the issuer says beside the token.
    ///   - format: how a number there is meant.
    ///   - issuerTime: the issuer's clock when it answered (its `Date` header), in seconds since 1970.
    ///   - localTime: this machine's clock when the token was written.
    ///   - present: this machine's clock, while something keeps it right.
    package init(
        token: JSONWebToken?, stated: StatedExpiry?, format: ExpirationFormat, issuerTime: Double?, localTime: Double,
        present: Double? = nil
    ) {
        let clocks = Clocks(token: token, issuerTime: issuerTime, localTime: localTime, present: present)
        let end = token?.expiry.flatMap { JSONWebToken.isPlausible($0) ? $0 : nil }
        let claimed = end.map(clocks.left)
        let reading = stated.flatMap { Self.seconds($0, format, clocks, end: end, claimed: claimed?.seconds) }
        var reuse = claimed?.isOverForSome == true ? Self.doubtfulReuse : nil
        var doubt: ExpiryDoubt?
        if let stated {
            if let reading, let own = claimed?.seconds {
                doubt = stated.disagreement(reading, own)
                if doubt != nil, reading < own {
                    reuse = min(reuse ?? .infinity, reading > 0 ? max(60, reading) : Self.doubtfulReuse)
                }
            } else if reading == nil, stated.isUnreadable || clocks.isCertain || claimed?.seconds != nil {
                let other = Self.seconds(stated, .automatic, clocks, end: end, claimed: claimed?.seconds)
                doubt = stated.complaint(format, fitsAutomatic: other.map { $0 > 0 } == true, own: claimed?.seconds)
            }
        }
        lifetime = (claimed?.seconds ?? reading).map { .milliseconds(Int64($0 * 1000)) }
        self.reuse = reuse.map { .milliseconds(Int64($0 * 1000)) }
        statedDoubt = doubt
        // An end that cannot be judged matters where nothing else tells the life.
        let isUnjudged = lifetime == nil && doubt == nil && (end != nil || stated != nil)
        clockDoubt = claimed?.doubt ?? (isUnjudged ? .unjudged : nil)
    }

    /// The life of a token that came without a word beside it.
    package static func lifetime(ofToken value: String, localTime: Double) -> Duration? {
        guard let token = try? JSONWebToken(value) else { return nil }
        return TokenExpiry(token: token, stated: nil, format: .automatic, issuerTime: nil, localTime: localTime)
            .lifetime
    }

    /// What is left until an end.
    private struct Left {
        /// `nil` when no clock can tell.
        var seconds: Double?
        var doubt: ExpiryDoubt?
        /// Whether one of the clocks says that it is over, and others that it is not.
        var isOverForSome = false
    }

    /// The clocks that may tell how old a token is.
    private struct Clocks {
        /// `iat`, where it can be the time of issue.
        private let issued: Double?
        private let issuers: Double?
        private let local: Double
        /// `nil` while nothing keeps this machine's clock right.
        private let present: Double?

        init(token: JSONWebToken?, issuerTime: Double?, localTime: Double, present: Double?) {
            issued = token?.timeOfIssue
            issuers = issuerTime
            local = localTime
            self.present = present
        }

        /// Whether a clock of the issuer's is among them.
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
                return Left(seconds: byLocal, doubt: .dateBeforeIssue(.seconds(issued - issuers)))
            }
            // Both say that it is over, or neither does.
            if issuers < end || local >= end { return Left(seconds: end - max(issuers, issued)) }
            return Left(seconds: byLocal, doubt: lateDate(end), isOverForSome: true)
        }

        private func leftWithoutIssue(_ end: Double) -> Left {
            // Fleet Engine's tokens live an hour, and ten minutes of difference between clocks are usual.
            let byLocal = end > local && end - local <= 3600 + skew ? min(end - local, 3600) : nil
            guard let issuers, end - issuers <= JSONWebToken.longestLife else { return Left(seconds: byLocal) }
            if issuers < end || local >= end { return Left(seconds: end - issuers) }
            return Left(seconds: byLocal, doubt: lateDate(end), isOverForSome: true)
        }

        private func lateDate(_ end: Double) -> ExpiryDoubt { .dateAfterExpiry(seconds: Int((issuers ?? end) - end)) }
    }

    /// Seconds left by the issuer's statement; `nil` when no token could live, or have been dead, for so long.
    private static func seconds(
        _ stated: StatedExpiry, _ format: ExpirationFormat, _ clocks: Clocks, end: Double?, claimed: Double?
    ) -> Double? {
        func until(_ time: Double) -> Double? {
            // The token's own end is a measure that needs no clock.
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
        return seconds.flatMap { (-86_400...JSONWebToken.longestLife).contains($0) ? $0 : nil }
    }
}

/// What an issuer states beside a token about its end, and how it reads for people.
package struct StatedExpiry: Sendable, Hashable {
    package enum Meaning: Sendable, Hashable {
        /// Its meaning is a matter of `ExpirationFormat`.
        case number(Double)
        /// In seconds since 1970.
        case time(Double)
        /// In seconds from now.
        case span(Double)
        case unreadable
    }

    /// The key under which it stood.
    package let key: String
    /// The value, as it may be shown.
    package let text: String
    package let meaning: Meaning

    package init(key: String, text: String, meaning: Meaning) {
        self.key = key
        self.text = text
        self.meaning = meaning
    }

    fileprivate var isUnreadable: Bool { meaning == .unreadable }
    /// The same without its value.
    fileprivate var topic: Self { Self(key: key, text: "", meaning: .unreadable) }

    /// `nil` if it agrees with the token's own `exp`, to a minute.
    fileprivate func disagreement(_ reading: Double, _ own: Double) -> ExpiryDoubt? {
        guard abs(reading - own) > 60, own > 0 else { return nil }
        return .stated(self, seconds: Int(reading), own: Int(own))
    }

    /// Why it is no expiry; `own`: what is left by the token's own `exp`.
    fileprivate func complaint(_ format: ExpirationFormat, fitsAutomatic: Bool, own: Double?) -> ExpiryDoubt {
        if case .number = meaning, fitsAutomatic, format != .automatic {
            return .otherFormat(self, format, hasOwn: own != nil)
        }
        return .unreadable(self, hasOwn: own != nil)
    }
}

/// What is inconsistent about a token's end. The token is used.
package enum ExpiryDoubt: Sendable, Hashable {
    /// The issuer's `Date` is so long before the token's own `iat`, and is ignored.
    case dateBeforeIssue(Duration)
    /// The issuer's `Date` is after the token's own `exp`, and this machine's clock isn't.
    case dateAfterExpiry(seconds: Int)
    /// No clock can say when it ends.
    case unjudged
    /// So many seconds are left by the statement beside the token (none or fewer: over) and by the token's own `exp`.
    case stated(StatedExpiry, seconds: Int, own: Int)
    /// The statement is no expiry in the configured format, but in another.
    case otherFormat(StatedExpiry, ExpirationFormat, hasOwn: Bool)
    case unreadable(StatedExpiry, hasOwn: Bool)
    /// The token's file seems older than its token can be, or this host's clock is wrong.
    case oldFile

    /// The same without numbers.
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

extension JSONValue {
    /// A number, or a string that holds one: issuers write times in both ways.
    package var numericValue: Double? {
        if let text = stringValue { return Double(text.filter { !$0.isWhitespace }) }
        return doubleValue
    }
}
