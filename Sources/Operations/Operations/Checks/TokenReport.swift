package import BackendAuthorization
import Conditions
package import FleetEngine
import LinuxPlatform
import ReportedText
import StrictJSON
package import TimeAndChance
import VehicleAuthorization

/// A token fetched once from the configured provider, described for a person.
package struct TokenReport: Sendable {
    package let role: TokenRole
    package let verdict: TokenVerdict
    private let answer: TokenAnswer
    private let expirationKey: String
    /// The name of the vehicle or trip.
    private let subject: String
    /// The host's clock when the answer came, in seconds since 1970.
    private let hostTime: Double

    /// The text of the token, for Fleet Engine and for `--raw`, never for a message.
    package var rawToken: String { answer.token.value }

    /// Requests a token from the provider of `configuration`, now and without a cache; for `trip`, from the provider of
    /// consumers' tokens.
    ///
    /// - Throws: why there is no token; `.configuration` if only the configuration can be at fault.
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

    /// Requests a token. The provider's own failure is a result; a failure to ask it is thrown.
    static func ask(
        _ configuration: Configuration, trip: String?
    ) async throws(AgentError) -> Result<TokenReport, AuthorizationError> {
        let subject = trip.map(Follower.Subject.trip) ?? .vehicle(configuration.vehicle.vehicleID)
        let effective = try configuration.withProvider(for: subject)
        let resource = try configuration.resource(of: subject)
        let provider = try effective.makeProvider(
            log: LogWriter(level: .error, format: .text), reportsCertificateEnd: true)
        do throws(AuthorizationError) {
            let answer = try await provider.ask(for: AuthorizationContext(subject))
            let trip: TripName? = if case .trip(let name) = resource { name } else { nil }
            return .success(TokenReport(answer, effective, trip: trip, hostTime: UTCTime.system))
        } catch { return .failure(error) }
    }

    /// Describes `answer` for the vehicle of `configuration`, or for `trip` if there is one.
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

    /// Why Fleet Engine will reject the token, whether the service sends it or not; `nil` if that isn't certain.
    package var refusal: String? {
        verdict.rejection.map { "the token fits \(subject) and the service sends it, but \($0.sentence)" }
            ?? verdict.problem
    }

    /// The time since a token that the service uses ended by this host's clock, which may be wrong.
    private var endedHere: Duration? {
        guard verdict.fits, let end = answer.parsed.expiry, JSONWebToken.isPlausible(end), end <= hostTime else {
            return nil
        }
        return .seconds(hostTime - end)
    }

    /// The time by which the token was issued ahead of this host's clock, if Fleet Engine accepts less.
    private var issuedAhead: Duration? {
        let ahead = (answer.parsed.timeOfIssue ?? hostTime) - hostTime
        return ahead > ClaimRules.skew ? .seconds(ahead) : nil
    }

    /// Whether a token that the service uses fits, and what may be wrong with it.
    private var fitness: String {
        let isByClock = endedHere != nil || issuedAhead != nil
        let words = "fits \(subject)\(isByClock ? ", if it is this host's clock that is wrong" : "")"
        let claims = verdict.doubtfulClaims
        guard let last = claims.last else { return words }
        // No colon behind their names: what follows that of authorization would be struck out.
        let all = claims.count == 1 ? last : "\(claims.dropLast().joined(separator: ", ")) and \(last)"
        return "\(words), but Fleet Engine may reject it for its \(all) (see the note"
            + (remarks.count == 1 ? ")" : "s)")
    }

    /// Warnings for the issuer, and what this host's clock says about the token.
    private var remarks: [String] {
        let findings: [TokenFinding?] = [
            endedHere.map { .endedByHostClock($0) },
            issuedAhead.map { .issuedAhead($0, accepted: .seconds(ClaimRules.skew)) },
            certificateLapse,
        ]
        return verdict.remarks + findings.compactMap { $0?.sentence.description }
    }

    /// A certificate that is renewed automatically has been renewed this long before its end.
    private static let certificateNotice = Duration.seconds(7 * 86_400)

    private var certificateLapse: TokenFinding? {
        guard let end = answer.certificateEnd else { return nil }
        let left = UTCTime(millisecondsSince1970: Int64(hostTime * 1000)).duration(to: end)
        guard left < Self.certificateNotice else { return nil }
        return .certificateEnds(date: end.shortestDescription, in: left)
    }

    /// The line of `check --online`.
    package var summary: String {
        let life = answer.token.lifetime.map { "\($0.spoken) of life left" } ?? "its life is not stated"
        let words = verdict.problem ?? "\(role), \(life)"
        return shown("\(words)\(remarks.map { "; note: \($0)" }.joined())")
    }

    /// Redacts a text that may hold the issuer's claims, which may hold another secret.
    private func shown(_ text: String) -> String {
        ReportedText(text, without: [rawToken], limit: ReportedText.longestSentence).description
    }

    /// Short lines with their names, without the signature.
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
        lines.append(refusal.map { ("FAIL", $0) } ?? ("ok", fitness))
        return lines.map { ($0.name, shown($0.text)) }
    }

    /// The end of the token according to the rest of the answer.
    private var statedExpiry: String {
        guard answer.statedExpiry != nil else {
            let isExpUsable = answer.parsed.expiry.map(JSONWebToken.isPlausible) ?? false
            return
                "no \"\(expirationKey)\" in the answer\(isExpUsable ? "; exp counts" : ", and no exp that is a time")"
        }
        return "\"\(expirationKey)\" \(answer.statedFits ? "agrees" : "does not agree") with exp"
    }

    private var clocks: String {
        guard let issuerTime = answer.issuerTime else { return "the issuer states no time to compare with this host's" }
        let difference = Duration.milliseconds(Int64((hostTime - issuerTime) * 1000))
        // A Date header has whole seconds, and travelled.
        guard abs(difference.components.seconds) > 2 else { return "this host and the issuer agree" }
        return
            "this host is \(difference.spoken) \(difference > .zero ? "ahead of" : "behind") the issuer; which is right?"
    }

    private func moment(_ time: Double, ago: String, ahead: String) -> String {
        guard abs(time) < 253_402_300_800 else { return "\(time), which isn't a time in seconds since 1970" }
        let text = UTCTime(millisecondsSince1970: Int64(time) * 1000).shortestDescription
        let difference = Duration.milliseconds(Int64((time - hostTime) * 1000))
        return "\(text), \(difference.spoken) \(difference > .zero ? ahead : ago)"
    }
}

/// Header or claims as lines of key and value, for a person at a terminal.
private enum ClaimText {
    /// Keys in order, those of objects joined with dots, elements of arrays with commas.
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
