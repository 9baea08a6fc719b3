package import BackendAuthorization
import Conditions
package import FleetEngine
import LinuxPlatform
import ReportedText
import StrictJSON
package import TimeAndRandomness
import VehicleAuthorization

/// A report for people on a token that was requested from the configured provider.
package struct TokenReport: Sendable {
    package let role: TokenRole
    package let verdict: TokenVerdict
    private let answer: TokenAnswer
    private let expirationKey: String
    /// The full name of the vehicle or trip that the token is for.
    private let subject: String
    /// The host's time at the arrival of the provider's response, in seconds since 1970.
    private let hostTime: Double

    /// The token itself. Use it only in requests to Fleet Engine and for `--raw`, because it must never appear in a
    /// message.
    package var rawToken: String { answer.token.value }

    /// Requests a token without using a cache. The token is for `trip`, or for the configured vehicle if `trip` is
    /// `nil`.
    ///
    /// - Throws: an error if no token is returned. Its code is `.configuration` if the configuration is the only
    ///   possible cause.
    package static func fetch(
        _ configuration: Configuration, trip: String? = nil
    ) async throws(AgentError) -> TokenReport {
        switch try await request(configuration, trip: trip) {
        case .success(let report): return report
        case .failure(let error):
            let pause = error.retryAfter.map { " (not before \($0.humanReadable) from now)" } ?? ""
            throw AgentError(
                error.code == .misconfigured ? .configuration : .unavailable, "\(error)\(pause)",
                condition: trip == nil ? ConditionCode(error.fault) : nil)
        }
    }

    /// Requests a token. Returns the provider's error if the provider returns no token. Throws if the provider can't be
    /// asked at all.
    static func request(
        _ configuration: Configuration, trip: String?
    ) async throws(AgentError) -> Result<TokenReport, AuthorizationError> {
        let subject = trip.map(Follower.Subject.trip) ?? .vehicle(configuration.vehicle.vehicleID)
        let effective = try configuration.withProvider(for: subject)
        let resource = try configuration.resource(of: subject)
        let provider = try effective.makeProvider(reportsCertificateEnd: true)
        do throws(AuthorizationError) {
            let answer = try await provider.fetchAnswer(for: AuthorizationContext(subject))
            let trip: TripName? = if case .trip(let name) = resource { name } else { nil }
            return .success(TokenReport(answer, effective, trip: trip, hostTime: UTCTime.system))
        } catch { return .failure(error) }
    }

    /// Creates a report on the provider's response `answer`, which is for `trip`, or for the configured vehicle if
    /// `trip` is `nil`.
    package init(_ answer: TokenAnswer, _ configuration: Configuration, trip: TripName? = nil, hostTime: UTCTime) {
        self.answer = answer
        let vehicle = configuration.vehicle
        subject = trip?.description ?? vehicle.description
        let context =
            trip.map { AuthorizationContext(tripID: $0.tripID) } ?? AuthorizationContext(vehicleID: vehicle.vehicleID)
        expirationKey = configuration.authorization.format.expirationKey
        self.hostTime = hostTime.secondsSince1970
        role = TokenRole(answer.parsed)
        verdict = TokenVerdict(answer, for: context, by: configuration.claimRules)
    }

    /// The reason why the token can't work: the service wouldn't use it, or Fleet Engine is certain to reject it.
    /// Otherwise `nil`.
    package var rejectionReason: String? {
        verdict.rejection.map { "the token fits \(subject) and the service sends it, but \($0.sentence)" }
            ?? verdict.problem
    }

    /// The time since the token expired according to this host's clock, which may be wrong. `nil` if the token hasn't
    /// expired, or if the service wouldn't use it.
    private var timeSinceExpiry: Duration? {
        guard verdict.fits, let end = answer.parsed.expiry, JSONWebToken.isPlausible(end), end <= hostTime else {
            return nil
        }
        return .seconds(hostTime - end)
    }

    /// The time by which the token's time of issue is ahead of this host's clock; `nil` if the difference is small
    /// enough for Fleet Engine to accept.
    private var timeUntilIssue: Duration? {
        let ahead = (answer.parsed.timeOfIssue ?? hostTime) - hostTime
        return ahead > ClaimRules.skew ? .seconds(ahead) : nil
    }

    /// A clause that says which vehicle or trip the token is suitable for, with any doubts about its suitability.
    private var suitability: String {
        let isByClock = timeSinceExpiry != nil || timeUntilIssue != nil
        let words = "fits \(subject)\(isByClock ? ", if it is this host's clock that is wrong" : "")"
        let claims = verdict.doubtfulClaims
        guard let last = claims.last else { return words }
        // The names of the claims aren't followed by a colon, because redaction would remove any text after
        // `authorization:`.
        let all = claims.count == 1 ? last : "\(claims.dropLast().joined(separator: ", ")) and \(last)"
        return "\(words), but Fleet Engine may reject it for its \(all) (see the note"
            + (remarks.count == 1 ? ")" : "s)")
    }

    /// Warnings for the token's issuer, and problems that depend on this host's clock.
    private var remarks: [String] {
        let findings: [TokenFinding?] = [
            timeSinceExpiry.map { .expiredByHostClock($0) },
            timeUntilIssue.map { .issuedInFuture($0, accepted: .seconds(ClaimRules.skew)) },
            certificateFinding,
        ]
        return verdict.remarks + findings.compactMap { $0?.sentence.description }
    }

    /// The remaining lifetime below which a certificate is reported. Automatic renewal would have replaced it earlier.
    private static let minimumCertificateLifetime = Duration.seconds(7 * 86_400)

    private var certificateFinding: TokenFinding? {
        guard let end = answer.certificateEnd else { return nil }
        let left = UTCTime(millisecondsSince1970: Int64(hostTime * 1000)).duration(to: end)
        guard left < Self.minimumCertificateLifetime else { return nil }
        return .certificateExpiring(date: end.shortestDescription, in: left)
    }

    /// The text about the token in the output of `check --online`.
    package var summary: String {
        let life = answer.token.lifetime.map { "\($0.humanReadable) left" } ?? "no expiry stated"
        let words = verdict.problem ?? "\(role), \(life)"
        return redacted("\(words)\(remarks.map { "; note: \($0)" }.joined())")
    }

    /// Returns `text` with secrets removed, because `text` may quote the token's claims, and a claim may contain a
    /// secret.
    private func redacted(_ text: String) -> String {
        ReportedText(text, without: [rawToken], limit: ReportedText.maximumSentenceLength).description
    }

    /// The named lines that describe the token, without its signature.
    package var lines: [(name: String, text: String)] {
        let parsed = answer.parsed
        let token = answer.token
        var lines: [(name: String, text: String)] = [("from", "\(answer.origin)"), ("role", role.description)]
        if let time = parsed.issuedAt {
            lines.append(("issued", relativeTime(time, ifPast: "ago", ifFuture: "in the future")))
        }
        if let time = parsed.expiry {
            lines.append(("expires", relativeTime(time, ifPast: "ago", ifFuture: "from now")))
        }
        lines.append(
            ("life", token.lifetime.map { $0 > .zero ? "\($0.humanReadable) left" : "expired" } ?? "not stated"))
        lines.append(("stated", expiryComparison))
        lines.append(("clocks", clockComparison))
        lines += ClaimText.lines(of: parsed.header).map { ("header", $0) }
        lines += ClaimText.lines(of: parsed.claims).map { ("claim", $0) }
        let signature = token.value.utf8.reversed().prefix { $0 != UInt8(ascii: ".") }.count * 3 / 4
        lines.append(("signed", "\(signature) bytes, not shown"))
        lines += remarks.map { ("note", $0) }
        lines.append(rejectionReason.map { ("FAIL", $0) } ?? ("ok", suitability))
        return lines.map { ($0.name, redacted($0.text)) }
    }

    /// A comparison of the token's own expiry, `exp`, with the expiry that the provider's response states.
    private var expiryComparison: String {
        guard answer.statedExpiry != nil else {
            let isExpUsable = answer.parsed.expiry.map(JSONWebToken.isPlausible) ?? false
            return
                "no \"\(expirationKey)\" in the answer\(isExpUsable ? "; exp applies" : ", and no usable exp")"
        }
        return "\"\(expirationKey)\" \(answer.isStatedExpiryConsistent ? "agrees" : "does not agree") with exp"
    }

    private var clockComparison: String {
        guard let issuerTime = answer.issuerTime else {
            return "the issuer sends no time to compare with this host's clock"
        }
        let difference = Duration.milliseconds(Int64((hostTime - issuerTime) * 1000))
        // A difference of two seconds is accepted, because a Date header has whole seconds and the response took time
        // to arrive.
        guard abs(difference.components.seconds) > 2 else { return "this host and the issuer agree" }
        return
            "this host is \(difference.humanReadable) \(difference > .zero ? "ahead of" : "behind") the issuer; one of the clocks is wrong"
    }

    private func relativeTime(_ time: Double, ifPast past: String, ifFuture future: String) -> String {
        guard abs(time) < 253_402_300_800 else { return "\(time), which isn't a time in seconds since 1970" }
        let text = UTCTime(millisecondsSince1970: Int64(time) * 1000).shortestDescription
        let difference = Duration.milliseconds(Int64((time - hostTime) * 1000))
        return "\(text), \(difference.humanReadable) \(difference > .zero ? future : past)"
    }
}

/// A token's header or claims, formatted for a terminal with one key and its value per line.
private enum ClaimText {
    /// Returns one line per key, sorted by key. The keys of nested objects are joined with dots. The elements of an
    /// array are joined with commas.
    static func lines(of members: [String: JSONValue], under path: String = "") -> [String] {
        members.sorted { $0.key < $1.key }.flatMap { key, value in
            if let members = value.objectValue {
                return lines(of: members, under: "\(path)\(ReportedText(key, limit: 60)).")
            }
            return ["\(path)\(ReportedText(key, limit: 60)) \(text(value))"]
        }
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .string(let text): ReportedText(text, limit: 200).description
        case .array(let elements):
            elements.prefix(8).map(text).joined(separator: ", ") + (elements.count > 8 ? ", …" : "")
        case .object: "{…}"
        }
    }
}
