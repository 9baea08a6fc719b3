package import BackendAuthorization
import Conditions
package import FleetEngine
import LinuxPlatform
import ReportedText
import StrictJSON
package import TimeAndChance
import VehicleAuthorization

/// A token that was fetched once from the configured provider, described for people.
package struct TokenReport: Sendable {
    package let role: TokenRole
    package let verdict: TokenVerdict
    private let answer: TokenAnswer
    private let expirationKey: String
    /// The name of the vehicle or trip.
    private let subject: String
    /// The host's time when the answer arrived, in seconds since 1970.
    private let hostTime: Double

    /// The text of the token, for Fleet Engine and for `--raw`, but never for a message.
    package var rawToken: String { answer.token.value }

    /// Requests a token for the vehicle of `configuration`, or for `trip` if it isn't `nil`. Uses no cache.
    ///
    /// - Throws: an error if there is no token; `.configuration` if only the configuration can be at fault.
    package static func fetch(
        _ configuration: Configuration, trip: String? = nil
    ) async throws(AgentError) -> TokenReport {
        switch try await ask(configuration, trip: trip) {
        case .success(let report): return report
        case .failure(let error):
            let pause = error.retryAfter.map { "; the pause is \($0.spoken)" } ?? ""
            throw AgentError(
                error.code == .misconfigured ? .configuration : .unavailable, "\(error)\(pause)")
        }
    }

    /// Requests a token. A failure of the provider is returned; a failure to query the provider is thrown.
    static func ask(
        _ configuration: Configuration, trip: String?
    ) async throws(AgentError) -> Result<TokenReport, AuthorizationError> {
        let subject = trip.map(Follower.Subject.trip) ?? .vehicle(configuration.vehicle.vehicleID)
        let effective = try configuration.withProvider(for: subject)
        let resource = try configuration.resource(of: subject)
        let provider = try effective.makeProvider(reportsCertificateEnd: true)
        do throws(AuthorizationError) {
            let answer = try await provider.ask(for: AuthorizationContext(subject))
            let trip: TripName? = if case .trip(let name) = resource { name } else { nil }
            return .success(TokenReport(answer, effective, trip: trip, hostTime: UTCTime.system))
        } catch { return .failure(error) }
    }

    /// Creates a report on `answer` for the vehicle of `configuration`, or for `trip` if it isn't `nil`.
    package init(_ answer: TokenAnswer, _ configuration: Configuration, trip: TripName? = nil, hostTime: UTCTime) {
        self.answer = answer
        let context: AuthorizationContext
        (subject, context) =
            trip.map { ($0.description, AuthorizationContext(tripID: $0.tripID)) }
            ?? (configuration.vehicle.description, AuthorizationContext(vehicleID: configuration.vehicle.vehicleID))
        expirationKey = configuration.authorization.format.expirationKey
        self.hostTime = hostTime.secondsSince1970
        role = TokenRole(answer.parsed)
        verdict = TokenVerdict(answer, for: context, by: configuration.claimRules)
    }

    /// The reason why Fleet Engine will reject the token, whether the service sends it or not; `nil` if that isn't
    /// certain.
    package var rejectionReason: String? {
        verdict.rejection.map { "the token fits \(subject) and the service sends it, but \($0.sentence)" }
            ?? verdict.problem
    }

    /// The time since a token that the service uses expired by this host's clock, which may be wrong; `nil` if the
    /// token hasn't expired.
    private var endedHere: Duration? {
        guard verdict.fits, let end = answer.parsed.expiry, JSONWebToken.isPlausible(end), end <= hostTime else {
            return nil
        }
        return .seconds(hostTime - end)
    }

    /// The time by which the token's time of issue is ahead of this host's clock; `nil` if Fleet Engine accepts that
    /// lead.
    private var issuedAhead: Duration? {
        let ahead = (answer.parsed.timeOfIssue ?? hostTime) - hostTime
        return ahead > ClaimRules.skew ? .seconds(ahead) : nil
    }

    /// A sentence that says that the token fits, with any doubts about it.
    private var fitness: String {
        let isByClock = endedHere != nil || issuedAhead != nil
        let words = "fits \(subject)\(isByClock ? ", if it is this host's clock that is wrong" : "")"
        let claims = verdict.doubtfulClaims
        guard let last = claims.last else { return words }
        // No colon follows the names, because the text after `authorization:` would be redacted.
        let all = claims.count == 1 ? last : "\(claims.dropLast().joined(separator: ", ")) and \(last)"
        return "\(words), but Fleet Engine may reject it for its \(all) (see the note"
            + (remarks.count == 1 ? ")" : "s)")
    }

    /// The warnings for the issuer, and the findings by this host's clock.
    private var remarks: [String] {
        let findings: [TokenFinding?] = [
            endedHere.map { .endedByHostClock($0) },
            issuedAhead.map { .issuedAhead($0, accepted: .seconds(ClaimRules.skew)) },
            certificateFinding,
        ]
        return verdict.remarks + findings.compactMap { $0?.sentence.description }
    }

    /// The time before a certificate's expiry by which an automatic renewal would have renewed it.
    private static let certificateNotice = Duration.seconds(7 * 86_400)

    private var certificateFinding: TokenFinding? {
        guard let end = answer.certificateEnd else { return nil }
        let left = UTCTime(millisecondsSince1970: Int64(hostTime * 1000)).duration(to: end)
        guard left < Self.certificateNotice else { return nil }
        return .certificateEnds(date: end.shortestDescription, in: left)
    }

    /// The line of `check --online`.
    package var summary: String {
        let life = answer.token.lifetime.map { "\($0.spoken) left" } ?? "no expiry stated"
        let words = verdict.problem ?? "\(role), \(life)"
        return redacted("\(words)\(remarks.map { "; note: \($0)" }.joined())")
    }

    /// Returns a text that may contain the issuer's claims, redacted, because a claim may contain another secret.
    private func redacted(_ text: String) -> String {
        ReportedText(text, without: [rawToken], limit: ReportedText.longestSentence).description
    }

    /// The lines that describe the token, with their names and without the signature.
    package var lines: [(name: String, text: String)] {
        let parsed = answer.parsed
        let token = answer.token
        var lines: [(name: String, text: String)] = [("from", "\(answer.origin)"), ("role", role.description)]
        if let time = parsed.issuedAt { lines.append(("issued", moment(time, ago: "ago", ahead: "in the future"))) }
        if let time = parsed.expiry { lines.append(("expires", moment(time, ago: "ago", ahead: "from now"))) }
        lines.append(("life", token.lifetime.map { $0 > .zero ? "\($0.spoken) left" : "over" } ?? "not stated"))
        lines.append(("stated", statedExpiry))
        lines.append(("clocks", clocks))
        lines += ClaimText.lines(of: parsed.header).map { ("header", $0) }
        lines += ClaimText.lines(of: parsed.claims).map { ("claim", $0) }
        let signature = token.value.utf8.reversed().prefix { $0 != UInt8(ascii: ".") }.count * 3 / 4
        lines.append(("signed", "\(signature) bytes, not shown"))
        lines += remarks.map { ("note", $0) }
        lines.append(rejectionReason.map { ("FAIL", $0) } ?? ("ok", fitness))
        return lines.map { ($0.name, redacted($0.text)) }
    }

    /// A comparison of the token's own expiry with the expiry that the answer states.
    private var statedExpiry: String {
        guard answer.statedExpiry != nil else {
            let isExpUsable = answer.parsed.expiry.map(JSONWebToken.isPlausible) ?? false
            return
                "no \"\(expirationKey)\" in the answer\(isExpUsable ? "; exp applies" : ", and no exp that is a time")"
        }
        return "\"\(expirationKey)\" \(answer.statedFits ? "agrees" : "does not agree") with exp"
    }

    private var clocks: String {
        guard let issuerTime = answer.issuerTime else {
            return "the issuer sends no time to compare with this host's clock"
        }
        let difference = Duration.milliseconds(Int64((hostTime - issuerTime) * 1000))
        // A Date header is in whole seconds, and the answer took time to arrive.
        guard abs(difference.components.seconds) > 2 else { return "this host and the issuer agree" }
        return
            "this host is \(difference.spoken) \(difference > .zero ? "ahead of" : "behind") the issuer; one of the clocks is wrong"
    }

    private func moment(_ time: Double, ago: String, ahead: String) -> String {
        guard abs(time) < 253_402_300_800 else { return "\(time), which isn't a time in seconds since 1970" }
        let text = UTCTime(millisecondsSince1970: Int64(time) * 1000).shortestDescription
        let difference = Duration.milliseconds(Int64((time - hostTime) * 1000))
        return "\(text), \(difference.spoken) \(difference > .zero ? ahead : ago)"
    }
}

/// Formats a header or claims as lines of key and value, for people at a terminal.
private enum ClaimText {
    /// Returns the lines, sorted by key. Keys of nested objects are joined with dots, elements of arrays with commas.
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
