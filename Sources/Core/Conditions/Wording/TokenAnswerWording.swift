import ReportedText
public import VehicleAuthorization

/// Answers without a usable token, and tokens with wrong or doubtful claims, in words.
extension AnswerFault {
    func wording(for origin: TokenOrigin) -> Wording {
        let key = origin.tokenKey
        let expected: ReportedText = "expected the token, bare or in JSON under \"\(key)\""
        func gave(_ what: ReportedText, _ remedy: ReportedText) -> Wording { Wording("\(origin) gave \(what)", remedy) }
        switch self {
        case .nothing(let isNull): return gave("\(isNull ? "null" : "nothing"); \(expected)", origin.means.emptyRemedy)
        case .nothingPrinted(let said):
            return gave(
                "no token on its standard output; it said: \(said.listed)",
                "run it by hand as the service's user")
        case .page: return gave("a page (HTML or XML), not a token", origin.means.pageRemedy)
        case .gzip: return gave("bytes compressed with gzip; \(expected)", "switch off the compression at their source")
        case .utf16: return gave("text in UTF-16; \(expected)", "let the issuer write UTF-8")
        case .invalidJSON(let mistake, let line, let column, let bytes, let type):
            return gave(
                """
                \(bytes) bytes\(type.map { " of \($0)" } ?? "") that are not valid JSON (line \(line), column \
                \(column)); \(expected)
                """,
                mistake.remedy)
        case .notAnObject(let kind):
            return gave("\(kind); expected an object with the token under \"\(key)\"", "correct the answer")
        case .missingKey(let keys, let others, let members):
            let names = keys.map { "\"\($0)\"" }.joined(separator: ", ")
            let rest = others > 0 ? " and \(others) more" : ""
            let found: ReportedText = keys.isEmpty ? "no keys" : "\(names)\(rest)"
            return gave("JSON without \"\(key)\"; it has \(found)", members.remedy(origin))
        case .notAString(let kind, let members):
            return gave("\(kind) under \"\(key)\"; expected the token as a string", members.remedy(origin))
        case .emptyToken: return gave("an empty token under \"\(key)\"", "see the issuer's log")
        case .otherText(let bytes, let type, let hasLines):
            return gave(
                "\(bytes) bytes\(type.map { " of \($0)" } ?? "") that are neither JSON nor a token; \(expected)",
                origin.means == .command && hasLines
                    ? "print the token alone: other words belong on standard error" : origin.means.emptyRemedy)
        case .lookalike(let lookalike, let place):
            return gave("\(lookalike.words) \(place.words(key))", lookalike.remedy(origin.means))
        case .notAToken(let problem, let place):
            return gave(
                "a token \(place.words(key)) that \(problem)",
                "let the issuer give a signed one: header, payload and signature")
        case .unsigned(let place):
            return gave("a token \(place.words(key)) without a signature", "check whether it was cut off")
        case .shortSignature(let bytes, let place):
            return gave(
                "a token \(place.words(key)) whose signature has \(bytes) bytes; expected 256 or more for RS256",
                "check whether it was cut off")
        }
    }
}

extension AnswerFault.Place {
    fileprivate func words(_ key: String) -> ReportedText {
        switch self {
        case .underKey: "under \"\(key)\""
        case .jsonString: "as a JSON string"
        case .bareText: "as bare text"
        }
    }
}

extension AnswerFault.Mistake {
    fileprivate var remedy: ReportedText {
        switch self {
        case .singleQuotes: "use double quotes: JSON has no single ones"
        case .encoding: "let the issuer write UTF-8, as JSON must be"
        case .other: "check whether it was cut off, or is written in place"
        }
    }
}

extension AnswerFault.Members {
    fileprivate func remedy(_ origin: TokenOrigin) -> ReportedText {
        let key = "\(origin.section).\(origin.means.rawValue)"
        return switch self {
        case .shape(let name): "set \"tokenShape\": \"\(name)\""
        case .tokenUnder(let path): "set tokenKey to \"\(path)\""
        case .consumersToken: "correct \(key): that is a consumer's token, and the driver's is needed"
        case .driversToken: "correct \(key): that is a driver's token, and the trip's is needed"
        case .serviceAccountKey:
            "that is the key of a service account: keep it at the issuer, and let the issuer sign tokens with it"
        case .login: "that is a login (OAuth): let the issuer sign tokens with the key of a service account"
        case .lookalike(let kind, let path): "it has \(kind.words) under \"\(path)\": \(kind.remedy(origin.means))"
        case .reportedError: "it seems to report an error: see the issuer's log, or the answer itself"
        case .nothing: "see the issuer's log"
        case .other: "set tokenKey to the token's key; if there is no token, see the issuer's log"
        }
    }
}

extension AnswerFault.Lookalike {
    fileprivate var words: ReportedText {
        switch self {
        case .accessToken: "an OAuth access token, which Fleet Engine doesn't accept,"
        case .apiKey: "an API key, which Fleet Engine doesn't accept,"
        case .pem: "a key or certificate in PEM"
        case .writtenJSON: "JSON inside a string"
        case .broken: "a token with white space in its middle"
        case .surrounded: "a token with other text around it"
        case .encrypted: "an encrypted token (five parts)"
        case .plainBase64: "a token in plain base64 (with +, / or =)"
        case .encoded: "a token encoded once more in base64"
        }
    }

    fileprivate func remedy(_ means: TokenOrigin.Means) -> ReportedText {
        switch self {
        case .accessToken, .apiKey, .pem:
            "let the issuer sign a token for Fleet Engine with the key of a service account"
        case .writtenJSON: "let the issuer encode its answer once"
        case .broken: "let the issuer write it in one line"
        case .surrounded:
            means == .command ? "print the token alone: other words belong on standard error" : "give the token alone"
        case .encrypted: "let the issuer give a signed one, of three parts"
        case .plainBase64: "let the issuer write base64url without padding"
        case .encoded: "decode it at its source (base64 -d)"
        }
    }
}

extension TokenOrigin.Means {
    /// The remedy for an answer without a token.
    fileprivate var emptyRemedy: ReportedText {
        switch self {
        case .endpoint: "see the issuer's log"
        case .command: "run it by hand as the service's user"
        case .file: "write a token to the file, and put it in place by renaming"
        }
    }

    /// The remedy for a page in place of a token.
    fileprivate var pageRemedy: ReportedText {
        switch self {
        case .endpoint:
            "check that the address is the token endpoint itself, with no login page or captive portal in between"
        case .command: "check which address the command asks, and that no login page or captive portal is in between"
        case .file: "check the program that writes the file, and where its tokens come from"
        }
    }
}

extension ClaimFault {
    func wording(for context: AuthorizationContext) -> Wording {
        let kind: (noun: String, id: String, others: String) =
            switch context.subject {
            case .vehicle(let id, _): ("vehicle", id, "a consumer's")
            case .trip(let id): ("trip", id, "a driver's")
            case .shipment(let id): ("shipment", id, "a driver's")
            }
        func token(_ end: ReportedText, _ remedy: ReportedText) -> Wording {
            Wording("the token for \(context) \(end)", remedy)
        }
        switch self {
        case .algorithm(let name):
            return token("is signed with \(name ?? "nothing")", "let the issuer sign with RS256")
        case .noAudience(let expected): return token("names no audience", "let the issuer set aud to \(expected)")
        case .audience(let names, let expected):
            return token("is for \(names.listed)", "let the issuer set aud to \(expected)")
        case .identityToken(let issuer, let expected):
            return token(
                "is an identity token of \(issuer), not one for Fleet Engine",
                "let the backend sign one with the key of a service account, with aud \(expected)")
        case .notYetValid(let seconds):
            return token(
                "is not valid before \(seconds) s after its issue (nbf)", "let the issuer set nbf to iat, or drop it")
        case .notAString(let claim, let kind):
            return token("has a \(claim) that is \(kind)", "let the issuer write the id alone, as a string")
        case .otherService(.deliveryvehicleid):
            return token(
                "is for delivery vehicles, but vehicle.service is onDemandTrips",
                "let the issuer set vehicleid, or correct vehicle.service")
        case .otherService(.vehicleid):
            return token(
                "is for on-demand vehicles, but vehicle.service is scheduledTasks",
                "let the issuer set deliveryvehicleid, or correct vehicle.service")
        case .misspelled(let name, let claim):
            return token("names its vehicle under \(name)", "let the issuer write \(claim)")
        case .noSubject(let claim):
            return token("names no \(kind.noun) (it may be \(kind.others))", "let the issuer set \(claim)")
        case .wholePath:
            return token("names the vehicle with its whole path", "let the issuer write the id alone, \(kind.id)")
        case .otherCase(let other):
            return token(
                "is for vehicle \(other), which differs from \(kind.id) in upper and lower case",
                "let the issuer write the vehicle's own id")
        case .otherSubject(let names):
            return token("is for \(kind.noun) \(names.listed)", "check the \(kind.noun) id and the endpoint")
        case .otherTask(let names): return token("is for task \(names.listed)", "check the task id and the endpoint")
        }
    }
}

extension [ReportedText] {
    /// The first three, in quotes if white space around them would not be seen.
    var listed: ReportedText {
        let shown = prefix(3).map { text in
            let edges = [text.description.first, text.description.last]
            return edges.contains { $0?.isWhitespace ?? true } ? "\"\(text)\"" : text
        }
        return shown.dropFirst().reduce(shown.first ?? "") { "\($0), \($1)" as ReportedText }
            .appending(count > 3 ? ", …" : "")
    }
}

extension ReportedText {
    fileprivate func appending(_ text: ReportedText) -> ReportedText { "\(self)\(text)" }
}

extension AuthorizationWarning: CustomStringConvertible {
    /// What was seen and what to change; never a token.
    public var description: String { wording.sentence.description }

    private var wording: Wording {
        switch self {
        case .shortLivedTokens(let context, let lifetime, let minimumLife):
            Wording(
                "tokens for \(context) have \(lifetime.secondsText) of life when they come",
                """
                let the issuer give new ones, with clearly more than \(minimumLife.secondsText) (an hour is usual)
                """)
        case .longLivedTokens(let context, let lifetime, let maximumLife):
            Wording(
                """
                tokens for \(context) live \(lifetime.secondsText); Fleet Engine rejects an exp more than \
                \(maximumLife.secondsText) ahead
                """,
                "let the issuer give them that or less")
        case .unknownLifetime(let context, let assumed):
            Wording(
                """
                the token for \(context) states no expiry that can be trusted; it is renewed after \
                \(assumed.secondsText)
                """,
                "let the issuer set exp and iat")
        case .rejectedTokenAgain(let context):
            Wording(
                "Fleet Engine rejected the token for \(context), and its issuer gave the same one again",
                "let the issuer make a new one each time")
        case .oldTokenAgain(let context, let minimumLife):
            Wording(
                """
                the issuer gives the token for \(context) again with less than \(minimumLife.secondsText) of life left
                """,
                "let it make a new one by then")
        case .questionableToken(let doubt): doubt.wording
        case .brokenContract(let words): Wording(ReportedText(words, limit: ReportedText.longestSentence), "")
        case .processesLeft(let command, _, let processID?):
            Wording(
                "token command \(command) left process \(processID) running, which could not be ended",
                "end process \(processID): the command isn't started before; let it end what it starts")
        case .processesLeft(let command, let count, nil):
            Wording(
                "token command \(command) left \(count) processes running, which are still being ended",
                "let the command end what it starts: it isn't started again before")
        case .processesHidden(let command):
            Wording(
                "/proc is another namespace's: what token command \(command) leaves running is not found",
                "mount the right one (mount -t proc proc /proc)")
        }
    }
}

extension TokenWarning {
    /// What was seen and what to correct.
    package var wording: Wording {
        switch fact {
        case .claims(let doubt, let context):
            Wording("the token for \(context) \(doubt.words.cause)", doubt.words.remedy)
        case .expiry(let doubt, let origin): Wording("\(origin): \(doubt.words.cause)", doubt.words.remedy)
        }
    }
}

extension ClaimWarning {
    fileprivate var words: Wording {
        switch self {
        case .noKeyID: Wording("names no key", "let the issuer set kid to the service account's private key id")
        case .noAccount(let claim):
            Wording("has no \(claim)", "let the issuer set iss and sub to the service account's e-mail address")
        case .twoAccounts:
            Wording("has another sub than iss", "let the issuer set both to the service account's e-mail address")
        case .noSlash(let expected):
            Wording("has an aud without the slash at its end", "let the issuer set aud to \(expected)")
        case .authorizationIsNoObject(let kind, let claim):
            Wording("has an authorization claim that is \(kind)", "let the issuer write an object with \(claim)")
        case .outsideAuthorization(let claim):
            Wording("has \(claim) outside of an authorization claim", "let the issuer put it into one")
        case .noAuthorization(let claim):
            Wording("has no authorization claim", "let the issuer put \(claim) into one")
        case .serverToken:
            Wording("is a server token, valid for every vehicle", "let the backend issue driver tokens")
        case .missing(let claim): Wording("has no \(claim)", "let the issuer set it, in seconds since 1970")
        case .noNumber(let claim):
            Wording("has an \(claim) that is no number", "let the issuer set it, in seconds since 1970")
        case .noTime(let claim, let time):
            Wording("has the \(claim) \(time), which is no time", "let the issuer set it, in seconds since 1970")
        case .milliseconds(let claim, let time):
            Wording("has the \(claim) \(time) in milliseconds", "let the issuer divide it by 1000")
        case .quoted(let claim): Wording("has its \(claim) in quotes", "let the issuer write a number")
        }
    }
}

extension ExpiryWarning {
    fileprivate var words: Wording {
        switch self {
        case .dateBeforeIssue(let time):
            Wording(
                "the Date of its answer is \(time.spoken) before the token's own iat and is ignored",
                "set the backend's clock")
        case .dateAfterExpiry(let seconds):
            Wording(
                """
                the Date of its answer is \(seconds) s after the token's own exp, but this machine's clock is not; the \
                token is used
                """,
                "set the clock of the server that sends that Date")
        case .unjudged:
            Wording(
                """
                the token's end cannot be judged: it has no usable iat, its issuer sent no Date, and this machine's \
                clock seems wrong or the token expired
                """,
                "let the issuer set iat")
        case .stated(let stated, let seconds, let own) where seconds <= 0:
            Wording(
                """
                its \(stated.words) says that the token ended \(-seconds) s ago, its own exp leaves \(own) s; it is \
                used, and renewed early
                """,
                "let the issuer state the same end in both")
        case .stated(let stated, let seconds, let own):
            Wording(
                """
                its \(stated.words) leaves \(seconds) s, the token's own exp \(own) s; \
                \(seconds < own ? "it is renewed by the earlier" : "exp counts")
                """,
                "let the issuer state the same end in both")
        case .otherFormat(let stated, let format, let hasOwn):
            Wording(
                "its \(stated.words) is no expiry in the format \(format.rawValue); \(Self.fate(hasOwn))",
                "set expirationFormat to automatic")
        case .unreadable(let stated, let hasOwn):
            Wording(
                "its \(stated.words) is no expiry; \(Self.fate(hasOwn))",
                "let the issuer write it in seconds since 1970, or leave it out")
        case .oldFile:
            Wording(
                "the file seems older than its token can be, or this host's clock is wrong",
                "let the program that writes the file write a new token, or set the clock")
        }
    }

    private static func fate(_ hasOwn: Bool) -> ReportedText {
        hasOwn ? "the token's own exp counts" : "it is ignored"
    }
}

extension StatedExpiry {
    fileprivate var words: ReportedText { "\"\(key)\" \(text)" }
}
