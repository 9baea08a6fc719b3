package import StrictJSON

/// How long a token lives, from all that is known about it.
///
/// The JSON Web Token's `exp` and `iat` come first: their difference needs no clock of this machine. What the issuer
/// states beside the token is the second opinion; of two, the earlier end holds. The time is the issuer's, by `iat` or
/// by its answer's `Date`. Where neither is there, this machine's clock is trusted as long as a Fleet Engine token
/// can live as long as it says; otherwise that clock is wrong, and the life is unknown rather than over or endless.
package struct TokenExpiry: Sendable, Hashable {
    /// Life left when the fetch began; `nil` when nothing states it. Zero or less: the token has expired.
    package let lifetime: Duration?
    /// What did not fit together, in words for the operator.
    package let doubt: String?

    /// A year: no token lives longer, whatever a number says.
    private static let longestReading = 31_622_400.0

    /// - Parameters:
    ///   - token: the token, where it is a JSON Web Token.
    ///   - stated: the number beside the token.
    ///   - format: how that number is meant.
    ///   - issuerTime: the issuer's clock when it answered (its `Date` header), in seconds since 1970.
    ///   - localTime: this machine's clock; used only where nothing else states the time.
    package init(
        token: JSONWebToken?, stated: Double?, format: ExpirationFormat, issuerTime: Double?, localTime: Double
    ) {
        let present = Present(token: token, issuerTime: issuerTime, localTime: localTime)
        let end = token?.expiry.flatMap(Self.plausible)
        let claimed = end.flatMap(present.secondsLeft)
        guard let stated else {
            self.init(claimed, doubt: end == nil || claimed != nil ? nil : "exp \(present.complaint)")
            return
        }
        let reading = Self.seconds(stated, format, present)
        if let reading, let claimed {
            self.init(min(reading, claimed), doubt: Self.disagreement(reading, claimed))
        } else {
            let fate = claimed == nil ? "it is ignored" : "the token's own exp is used. Set expirationFormat"
            let words = present.isCertain ? "is no \(format.rawValue) expiry; \(fate)" : present.complaint
            self.init(claimed ?? reading, doubt: reading == nil ? "the expiry \(stated.plainText) \(words)" : nil)
        }
    }

    /// The life of a token by its own `exp` and `iat` alone; `nil` when it states none.
    package static func lifetime(ofToken value: String) -> Duration? {
        guard let token = try? JSONWebToken(value), let issuedAt = token.issuedAt else { return nil }
        return TokenExpiry(
            token: token, stated: nil, format: .automatic, issuerTime: nil, localTime: issuedAt
        ).lifetime
    }

    private init(_ seconds: Double?, doubt: String?) {
        lifetime = seconds.map { .milliseconds(Int64($0 * 1000)) }
        self.doubt = doubt
    }

    /// When the token was answered, by the best clock there is.
    private struct Present {
        /// Whether it is from a clock of the issuer.
        let isCertain: Bool
        private let time: Double

        init(token: JSONWebToken?, issuerTime: Double?, localTime: Double) {
            var issuedAt = token?.issuedAt.flatMap(plausible)
            // Zero, or milliseconds: an iat so far before exp is no time of issue.
            if let issued = issuedAt, let end = token?.expiry, end - issued > longestReading { issuedAt = nil }
            // The token was issued now or earlier, so its age follows from the later of the two.
            let issuers = [issuedAt, issuerTime].compactMap { $0 }.max()
            (isCertain, time) = (issuers != nil, issuers ?? localTime)
        }

        /// Seconds until `end`; `nil` when the clock must be wrong.
        func secondsLeft(until end: Double) -> Double? {
            let left = end - time
            if isCertain { return left <= longestReading ? left : nil }
            // Fleet Engine's tokens live an hour, and ten minutes of difference between clocks are usual.
            return left > 0 && left <= 4200 ? min(left, 3600) : nil
        }

        /// The end of a sentence about a time that this machine's clock cannot judge.
        let complaint =
            "cannot be judged: the token has no iat, its issuer sent no Date, and this machine's clock seems wrong "
            + "or the token expired; let the issuer set iat"
    }

    /// Seconds left by the issuer's number; `nil` when no token could live, or have been dead, for so long.
    private static func seconds(_ stated: Double, _ format: ExpirationFormat, _ present: Present) -> Double? {
        guard stated.isFinite, stated > 0 else { return nil }
        let seconds =
            switch format {
            case .secondsFromNow: stated
            case .epochSeconds: present.secondsLeft(until: stated)
            case .epochMilliseconds: present.secondsLeft(until: stated / 1000)
            case .automatic:
                stated <= 1e8 ? stated : present.secondsLeft(until: stated < 1e11 ? stated : stated / 1000)
            }
        return seconds.flatMap { (-86_400...longestReading).contains($0) ? $0 : nil }
    }

    private static func disagreement(_ reading: Double, _ claimed: Double) -> String? {
        guard abs(reading - claimed) > 60 else { return nil }
        return
            "the stated expiry (\(Int(reading)) s from now) and the token's own exp (\(Int(claimed)) s) disagree; "
            + "the earlier is used. Check expirationKey and expirationFormat"
    }

    /// A time since 1970 that fits into arithmetic.
    private static func plausible(_ time: Double) -> Double? { JSONWebToken.isPlausible(time) ? time : nil }
}

extension Double {
    /// Without a fraction where there is none.
    fileprivate var plainText: String {
        self == rounded() && abs(self) < 1e15 ? "\(Int64(self))" : "\(self)"
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
