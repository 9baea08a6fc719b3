import ReportedText
public import VehicleAuthorization

/// Messages about tokens that are used despite a flaw.
extension AuthorizationWarning: CustomStringConvertible {
    /// The observation and the remedy. It never contains a token.
    public var description: String { wording.sentence.description }

    var wording: Wording {
        switch self {
        case .shortLivedTokens(let context, let lifetime, let minimumLife):
            Wording(
                "tokens for \(context) have only \(lifetime.secondsText) left when they arrive",
                """
                the issuer must return new tokens with clearly more than \(minimumLife.secondsText) left (an hour is \
                usual)
                """)
        case .longLivedTokens(let context, let lifetime, let maximumLife):
            Wording(
                """
                tokens for \(context) are valid for \(lifetime.secondsText), but Fleet Engine rejects an exp more than \
                \(maximumLife.secondsText) ahead
                """,
                "the issuer must set an earlier exp")
        case .unknownLifetime(let context, let assumed):
            Wording(
                """
                the token for \(context) contains no expiry that can be trusted; it is renewed after \
                \(assumed.secondsText)
                """,
                "the issuer must set exp and iat")
        case .rejectedTokenReissued(let context):
            Wording(
                "Fleet Engine rejected the token for \(context), but its issuer returned the same one again",
                "the issuer must make a new token each time")
        case .oldTokenReissued(let context, let minimumLife):
            Wording(
                """
                the issuer returned the token for \(context) again with less than \(minimumLife.secondsText) left
                """,
                "the issuer must make a new token earlier")
        case .questionableToken(let doubt): doubt.wording
        case .brokenContract(let words): Wording(ReportedText(words, limit: ReportedText.maximumSentenceLength), "")
        case .processesLeftRunning(let command, _, let processID?):
            Wording(
                """
                token command \(command) left process \(processID) running; the command is not started again until that \
                process has ended
                """,
                "change the command so that it stops the processes that it starts; then kill process \(processID)"
            )
        case .processesLeftRunning(let command, let count, nil):
            Wording(
                """
                token command \(command) left \(count) processes running; the command is not started again until they \
                have ended
                """,
                "change the command so that it stops the processes that it starts")
        case .processesHidden(let command):
            Wording(
                "/proc belongs to another namespace, so processes left by token command \(command) are not found",
                "mount this namespace's /proc (mount -t proc proc /proc)")
        }
    }
}

extension TokenWarning {
    /// The observation and the remedy.
    package var wording: Wording {
        switch fact {
        case .claims(let doubt, let context):
            Wording("the token for \(context) \(doubt.wording.cause)", doubt.wording.remedy)
        case .expiry(let doubt, let origin): Wording("\(origin): \(doubt.wording.cause)", doubt.wording.remedy)
        }
    }
}

extension ClaimWarning {
    fileprivate var wording: Wording {
        let account: ReportedText = "the issuer must set iss and sub to the service account's e-mail address"
        let number: ReportedText = "the issuer must write a number, in seconds since 1970"
        func objectRemedy(for claim: String) -> ReportedText { "the issuer must write an object with \(claim)" }
        return switch self {
        case .noKeyID: Wording("has no key id", "the issuer must set kid to the service account's private key id")
        case .missingAccount(let claim): Wording("has no \(claim)", account)
        case .differentAccounts: Wording("has a sub that differs from its iss", account)
        case .missingSlash(let expected):
            Wording("has an aud without the slash at its end", "the issuer must set aud to \(expected)")
        case .authorizationNotAnObject(let kind, let claim):
            Wording("has an authorization claim that is \(kind)", objectRemedy(for: claim))
        case .outsideAuthorization(let claim):
            Wording("has \(claim) outside an authorization claim", objectRemedy(for: claim))
        case .noAuthorization(let claim): Wording("has no authorization claim", objectRemedy(for: claim))
        case .serverToken:
            Wording("is a server token, valid for every vehicle", "the issuer must make driver tokens")
        case .missing(let claim): Wording("has no \(claim)", number)
        case .notANumber(let claim): Wording("has an \(claim) that is not a number", number)
        case .notATime(let claim, let time): Wording("has the \(claim) \(time), which isn't a time", number)
        case .milliseconds(let claim, let time): Wording("has the \(claim) \(time) in milliseconds", number)
        case .quoted(let claim): Wording("has its \(claim) in quotes", number)
        }
    }
}

extension ExpiryWarning {
    fileprivate var wording: Wording {
        let sameExpiry: ReportedText = "the issuer must report the same expiry in both"
        func fallback(hasTokenExpiry: Bool) -> ReportedText {
            hasTokenExpiry ? "the token's own exp applies" : "the value is ignored"
        }
        switch self {
        case .dateBeforeIssue(let time):
            return Wording(
                "the Date of its answer is \(time.humanReadable) before the token's own iat, and is ignored",
                "set the backend's clock")
        case .dateAfterExpiry(let seconds):
            return Wording(
                """
                the Date of its answer is \(seconds) s after the token's own exp, but this machine's clock is before it; \
                the token is used
                """,
                "set the clock of the server that sends this Date")
        case .noUsableClock:
            return Wording(
                """
                no clock can determine when the token expires: it has no usable iat, its issuer sent no Date, and this \
                machine's clock is wrong or the token has expired
                """,
                "the issuer must set iat")
        case .differentExpiries(let stated, let seconds, let own):
            let end =
                seconds > 0
                ? "says that the token expires in \(seconds) s" : "says that the token expired \(-seconds) s ago"
            let use = seconds < own ? "the earlier expiry applies" : "exp applies"
            return Wording("\(stated.words) \(end), but its exp says that it expires in \(own) s; \(use)", sameExpiry)
        case .otherFormat(let stated, let format, let hasTokenExpiry):
            return Wording(
                """
                \(stated.words) isn't an expiry in the format \(format.rawValue); \
                \(fallback(hasTokenExpiry: hasTokenExpiry))
                """,
                "set expirationFormat to automatic")
        case .unreadable(let stated, let hasTokenExpiry):
            return Wording(
                "\(stated.words) isn't an expiry; \(fallback(hasTokenExpiry: hasTokenExpiry))",
                "the issuer must write the expiry in seconds since 1970, or omit it")
        case .outdatedFile:
            return Wording(
                "the file seems older than its token can be, or this host's clock is wrong",
                "write a new token to the file, or set the clock")
        }
    }
}

extension StatedExpiry {
    fileprivate var words: ReportedText { "the value of \"\(key)\" (\(text))" }
}
