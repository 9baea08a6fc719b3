import ReportedText
import VehicleAuthorization

/// Messages about answers without a usable token.
extension AnswerFault {
    private static let incomplete: ReportedText =
        "the issuer must return the complete signed token: header, payload and signature"

    func wording(for origin: TokenOrigin) -> Wording {
        let wording = contentWording(from: origin)
        return Wording("\(origin) gave \(wording.cause)", wording.remedy)
    }

    /// Returns a description of the contents that were received instead of a token, and the remedy.
    private func contentWording(from origin: TokenOrigin) -> Wording {
        let key = origin.tokenKey
        let expected: ReportedText = "expected the token, bare or in JSON under \"\(key)\""
        let originKind = origin.kind
        switch self {
        case .nothing(let isNull): return Wording("\(isNull ? "null" : "nothing"); \(expected)", originKind.emptyRemedy)
        case .nothingPrinted(let said):
            return Wording(
                "no token on its standard output; its standard error says: \(said.listed)", originKind.emptyRemedy)
        case .page: return Wording("a page (HTML or XML), not a token", origin.pageRemedy)
        case .gzip:
            return Wording("gzip-compressed data; \(expected)", "the token provider must not compress its answer")
        case .utf16: return Wording("UTF-16 text; \(expected)", Mistake.encoding.remedy)
        case .invalidJSON(let mistake, let line, let column, let bytes, let type):
            return Wording(
                """
                \(bytes) bytes\(Self.mediaTypeSuffix(type)) that are not valid JSON (line \(line), column \(column)); \
                \(expected)
                """,
                mistake.remedy)
        case .notAnObject(let kind):
            return Wording("\(kind); expected an object with the token under \"\(key)\"", "correct the answer")
        case .missingKey(let keys, let others, let members):
            let names = keys.map { "\"\($0)\"" }.joined(separator: ", ")
            let found: ReportedText = keys.isEmpty ? "no keys" : "\(names)\(others > 0 ? " and \(others) more" : "")"
            return Wording("JSON without \"\(key)\"; it contains \(found)", members.remedy(for: origin))
        case .notAString(let kind, let members):
            return Wording("\(kind) under \"\(key)\"; expected the token as a string", members.remedy(for: origin))
        case .emptyToken: return Wording("an empty token under \"\(key)\"", "see the issuer's log")
        case .otherText(let bytes, let type, let hasLines):
            return Wording(
                "\(bytes) bytes\(Self.mediaTypeSuffix(type)) that are neither JSON nor a token; \(expected)",
                originKind == .command && hasLines
                    ? Lookalike.insideOtherText.remedy(for: originKind) : originKind.emptyRemedy)
        case .lookalike(let lookalike, _): return Wording(lookalike.words, lookalike.remedy(for: originKind))
        case .notAToken(let problem, _): return Wording("a token that \(problem)", Self.incomplete)
        case .unsigned: return Wording("a token without a signature", Self.incomplete)
        case .shortSignature(let bytes, _):
            return Wording(
                "a token whose signature is \(bytes) bytes long, but RS256 requires at least 256", Self.incomplete)
        }
    }

    private static func mediaTypeSuffix(_ mediaType: ReportedText?) -> ReportedText {
        mediaType.map { " of \($0)" } ?? ""
    }
}

extension AnswerFault.Mistake {
    fileprivate var remedy: ReportedText {
        switch self {
        case .singleQuotes: "use double quotes: JSON doesn't allow single quotes"
        case .encoding: "the issuer must write UTF-8"
        case .other: "check whether the answer is cut off, or its file is rewritten in place"
        }
    }
}

extension AnswerFault.Members {
    fileprivate func remedy(for origin: TokenOrigin) -> ReportedText {
        let key: ReportedText = "\(origin.section).\(origin.kind.rawValue)"
        return switch self {
        case .tokenShape(let name): "set \(origin.section).tokenShape to \"\(name)\""
        case .tokenUnderOtherKey(let path): "set \(origin.section).tokenKey to \"\(path)\""
        case .consumerToken: "correct \(key): the answer contains a consumer token, but a driver token is needed"
        case .driverToken: "correct \(key): the answer contains a driver token, but a consumer token is needed"
        case .serviceAccountKey: "keep the service account's key at the issuer; \(AnswerFault.Lookalike.signing)"
        case .login: "the answer is an OAuth login; \(AnswerFault.Lookalike.signing)"
        case .lookalike(let kind, let path): "\"\(path)\" contains \(kind.words): \(kind.remedy(for: origin.kind))"
        case .reportedError: "the answer seems to report an error: see the issuer's log, or the answer itself"
        case .nothing: "see the issuer's log"
        case .other: "set \(origin.section).tokenKey to the token's key; if there is no token, see the issuer's log"
        }
    }
}

extension AnswerFault.Lookalike {
    fileprivate static let signing: ReportedText =
        "the issuer must sign a token for Fleet Engine with the key of a service account"

    fileprivate var words: ReportedText {
        switch self {
        case .accessToken: "an OAuth access token, which Fleet Engine doesn't accept"
        case .apiKey: "an API key, which Fleet Engine doesn't accept"
        case .pem: "a PEM key or certificate"
        case .jsonInString: "JSON inside a string"
        case .brokenByWhiteSpace: "a token with white space or line breaks inside it"
        case .insideOtherText: "a token with other text around it"
        case .encrypted: "an encrypted token (five parts)"
        case .plainBase64: "a token in plain base64 (with +, / or =)"
        case .encodedTwice: "a token encoded again in base64"
        }
    }

    fileprivate func remedy(for originKind: TokenOrigin.Kind) -> ReportedText {
        switch self {
        case .accessToken, .apiKey, .pem, .encrypted: Self.signing
        case .insideOtherText where originKind == .command:
            "print only the token to standard output, and everything else to standard error"
        case .jsonInString, .brokenByWhiteSpace, .insideOtherText, .plainBase64, .encodedTwice:
            "return only the token, as one line of base64url without padding"
        }
    }
}

extension TokenOrigin.Kind {
    /// The remedy for an answer without a token.
    fileprivate var emptyRemedy: ReportedText {
        switch self {
        case .endpoint: "see the issuer's log"
        case .command: CommandFault.byHand
        case .file: "write a token to a temporary file, and rename that file into place"
        }
    }

}

extension TokenOrigin {
    /// The remedy if a web page was received instead of a token.
    fileprivate var pageRemedy: ReportedText {
        switch kind {
        case .endpoint:
            "correct \(section).url: it must be the token endpoint itself, with no login page or captive portal in between"
        case .command: "check which address the command requests, and that no captive portal is in between"
        case .file: "check the program that writes the file"
        }
    }
}

/// Messages about tokens with wrong claims.
extension ClaimFault {
    func wording(for context: AuthorizationContext) -> Wording {
        let wording = clauseWording(for: context)
        return Wording("the token for \(context) \(wording.cause)", wording.remedy)
    }

    /// Returns the fault as a clause whose subject is the token, such as `is for trip 7`, and the remedy.
    private func clauseWording(for context: AuthorizationContext) -> Wording {
        let kind: (noun: ReportedText, id: String, others: ReportedText) =
            switch context.subject {
            case .vehicle(let id, _): ("vehicle", id, "a consumer token")
            case .trip(let id): ("trip", id, "a driver token")
            case .shipment(let id): ("shipment", id, "a driver token")
            }
        func settingRemedy(_ setting: ReportedText) -> ReportedText { "the issuer must set \(setting)" }
        return switch self {
        case .wrongAlgorithm(let name):
            Wording(name.map { "is signed with \($0)" } ?? "names no algorithm", "the issuer must sign with RS256")
        case .noAudience(let expected): Wording("names no audience", settingRemedy("aud to \(expected)"))
        case .otherAudience(let names, let expected):
            Wording("is for \(names.listed)", settingRemedy("aud to \(expected)"))
        case .identityToken(let issuer, _):
            Wording("is an identity token of \(issuer)", AnswerFault.Lookalike.signing)
        case .notYetValid(let seconds):
            Wording("is not valid until \(seconds) s after its issue (nbf)", settingRemedy("nbf to iat, or omit nbf"))
        case .notAString(let claim, let kind):
            Wording("has a \(claim) that is \(kind)", settingRemedy("it to the id alone, as a string"))
        case .otherService(let claim):
            Wording(
                """
                is for \(claim == .vehicleid ? "on-demand" : "delivery") vehicles, but vehicle.service is \
                \(claim == .vehicleid ? "scheduledTasks" : "onDemandTrips")
                """,
                """
                correct vehicle.service, or change the issuer to set \
                \(claim == .vehicleid ? "deliveryvehicleid" : "vehicleid")
                """)
        case .misspelled(let name, let claim): Wording("names its vehicle under \(name)", settingRemedy("\(claim)"))
        case .noSubject(let claim):
            Wording("names no \(kind.noun) (it may be \(kind.others))", settingRemedy("\(claim)"))
        case .fullResourceName:
            Wording("names the vehicle by its full resource name", settingRemedy("the id alone, \(kind.id)"))
        case .otherLetterCase(let other):
            Wording(
                "is for vehicle \(other), which differs from \(kind.id) only in upper and lower case",
                "correct vehicle.vehicleId, or change the issuer to set exactly \(kind.id)")
        case .otherSubject(let names):
            Wording(
                "is for \(kind.noun) \(names.listed)",
                "correct \(kind.noun == "vehicle" ? "vehicle.vehicleId" : "the id"), or let the issuer sign for \(kind.id)"
            )
        case .otherTask(let names): Wording("is for task \(names.listed)", "check the task id and the endpoint")
        }
    }
}

extension [ReportedText] {
    /// The first three elements, each in quotes if it is empty or begins or ends with white space.
    var listed: ReportedText {
        let shown = prefix(3).map { text in
            let edges = [text.description.first, text.description.last]
            return edges.contains { $0?.isWhitespace ?? true } ? "\"\(text)\"" : text
        }
        let list = shown.dropFirst().reduce(shown.first ?? "") { "\($0), \($1)" as ReportedText }
        return count > 3 ? "\(list), …" : list
    }
}
