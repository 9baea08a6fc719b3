/// How long a token lives, from all that is known about it.
///
/// The JSON Web Token's `exp` and `iat` come first: their difference needs no clock of this machine. What the issuer
/// states beside the token is the second opinion; of two, the earlier end holds.
package struct TokenExpiry: Sendable, Hashable {
    /// Life left when the fetch began; `nil` when nothing tells. Zero or less: the token is dead.
    package let lifetime: Duration?
    /// What did not fit together, in words for the operator.
    package let doubt: String?

    /// - Parameters:
    ///   - token: the token, where it is a JSON Web Token.
    ///   - stated: the number beside the token.
    ///   - format: how that number is meant.
    ///   - issuerTime: the issuer's clock when it answered (its `Date` header), in seconds since 1970.
    ///   - localTime: this machine's clock; used only where nothing else tells the time.
    package init(
        token: JSONWebToken?, stated: Double?, format: ExpirationFormat, issuerTime: Double?, localTime: Double
    ) {
        // The token was issued now or earlier, so the issuer's clock, where known, tells its age.
        let issuedAt = token?.issuedAt.flatMap(Self.plausible)
        let now = [issuedAt, issuerTime].compactMap { $0 }.max() ?? localTime
        let claimed = token?.expiry.flatMap(Self.plausible).map { $0 - now }
        guard let stated else {
            self.init(claimed, doubt: nil)
            return
        }
        let reading = Self.seconds(stated, format, now: now)
        guard let claimed else {
            let doubt =
                reading == nil ? "the expiry \(stated.plainText) is no \(format.rawValue) expiry; it is ignored" : nil
            self.init(reading, doubt: doubt)
            return
        }
        guard let reading else {
            self.init(
                claimed,
                doubt: "the expiry \(stated.plainText) is no \(format.rawValue) expiry; "
                    + "the token's own exp is used. Set expirationFormat")
            return
        }
        let differs = abs(reading - claimed) > 60
        self.init(
            min(reading, claimed),
            doubt: differs
                ? "the stated expiry (\(Int(reading)) s from now) and the token's own exp (\(Int(claimed)) s) disagree; "
                    + "the earlier is used. Check expirationKey and expirationFormat" : nil)
    }

    /// The life of a token by its own `exp` and `iat` alone; `nil` when it tells none.
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

    /// Seconds from `now`; `nil` when no token could live so long, or could have been dead for so long.
    private static func seconds(_ stated: Double, _ format: ExpirationFormat, now: Double) -> Double? {
        guard stated.isFinite, stated > 0 else { return nil }
        let seconds =
            switch format {
            case .secondsFromNow: stated
            case .epochSeconds: stated - now
            case .epochMilliseconds: stated / 1000 - now
            case .automatic:
                if stated <= 1e8 { stated } else if stated < 1e11 { stated - now } else { stated / 1000 - now }
            }
        return (-86_400...31_622_400).contains(seconds) ? seconds : nil
    }

    /// A time since 1970 that fits into arithmetic.
    private static func plausible(_ time: Double) -> Double? { time.isFinite && abs(time) < 1e12 ? time : nil }
}

extension Double {
    /// Without a fraction where there is none.
    fileprivate var plainText: String {
        self == rounded() && abs(self) < 1e15 ? "\(Int64(self))" : "\(self)"
    }
}
