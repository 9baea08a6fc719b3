package import ReportedText
package import Reporting
public import VehicleAuthorization

/// Messages about failures to obtain a token. Such failures are described only here and, for their parts, in the other
/// files named `Token...Wording.swift`.
extension TokenFault {
    package var wording: Wording {
        switch self {
        case .incompleteContext(let context):
            switch context.subject {
            case .vehicle: Wording("no vehicle id is set", "set vehicle.vehicleId")
            case .trip: Wording("no trip id is specified", "specify a trip")
            case .shipment: Wording("no tracking id is specified", "specify a shipment")
            }
        case .unsuitableContext(let context):
            Wording(
                "the provider has no tokens for \(context.map { "\($0)" } ?? "a request without a context")",
                "use the other kind of provider: driver tokens are for vehicles, consumer tokens for trips")
        case .unanswered(let origin, let fault, let message):
            Wording("\(origin): \(message)", fault.remedy(for: origin))
        case .rejected(let origin, let rejection): rejection.wording(for: origin)
        case .unusableAnswer(let origin, let fault): fault.wording(for: origin)
        case .expired(let origin, let fault): fault.wording(for: origin)
        case .wrongClaims(let fault, let context): fault.wording(for: context)
        case .commandFailed(let origin, let fault): fault.wording(for: origin)
        case .programUnusable(let key, let fault): Wording("\(key): \(fault.wording.cause)", fault.wording.remedy)
        case .sourceUnusable(let fault): fault.wording
        case .invalidSetting(let key, let fault): fault.wording(for: key)
        case .providerFailed(let fault): fault.wording
        case .reported(_, let message): Wording(message, "")
        case .resourcesExhausted(let key, let reason):
            Wording(
                "\(key): the system can't start another process or thread now: \(reason)",
                "raise the limits on processes and memory (ulimit -u, -v and -d, TasksMax=)")
        case .cancelled: Wording("the request for a token was cancelled", "")
        }
    }
}

extension MissingPermit {
    /// The token's fault; `nil` if the missing permit isn't a token.
    var tokenFault: TokenFault? { (fault as any Sendable) as? TokenFault }

    /// The fault and its remedy in one line.
    package var sentence: ReportedText { tokenFault?.wording.sentence ?? "\(fault)" }
}

extension AuthorizationError: CustomStringConvertible {
    /// The failure, the value at fault and the remedy, without any token or credential.
    public var description: String { fault.wording.sentence.description }
}

extension ExchangeFault {
    /// Returns the remedy; empty if no remedy is known.
    fileprivate func remedy(for origin: TokenOrigin) -> ReportedText {
        let section = origin.section
        let url: ReportedText = "check \(section).url"
        switch self {
        case .proxyFailed(let fault): return fault.wording().remedy
        case .nameNotResolved: return "check the host in \(section).url and the network's name server"
        case .connectionFailed: return "\(url), and that the backend runs"
        case .timedOut: return "check the network and the backend's load, or raise \(section).timeoutSeconds"
        case .answerTruncated, .connectionLost(isEncrypted: true): return "see the backend's log"
        case .connectionLost(isEncrypted: false):
            return "see the backend's log, and use https if the port expects it"
        case .tlsFailed: return "check that the port of \(section).url speaks https"
        case .oldTLS: return "the backend must support TLS 1.2 or newer"
        case .certificateRequired, .certificateRejected: return origin.requiredCertificateRemedy
        case .untrustedCertificate(.notValidNow?):
            return "renew the backend's certificate, or set this machine's clock if it is wrong"
        case .untrustedCertificate(.otherHostName?):
            return "correct the host in \(section).url, or install a certificate for this host in the backend"
        case .untrustedCertificate(.unknownAuthority?):
            return "if the certificate authority is your own, add its certificate to \(section).caFile"
        case .untrustedCertificate(nil): return "\(url) and caFile, and the backend's certificate"
        case .clientFailed: return "run waypost check, and correct \(section)"
        case .answerTooLarge: return "\(url): expected a small JSON object with the token"
        case .malformedAnswer: return "\(url): expected HTTP"
        case .undecodableAnswer: return "switch off compression in the backend or its proxy"
        }
    }
}

extension TokenOrigin {
    /// The remedy if a client certificate is missing or wrong.
    fileprivate var requiredCertificateRemedy: ReportedText {
        sendsCertificate
            ? """
            check that \(section).clientCertificateFile has not expired (waypost check) and that the backend trusts its \
            authority
            """ : "set \(section).clientCertificateFile and clientKeyFile"
    }

    /// The remedy if the backend doesn't know or accept the client's credentials.
    fileprivate var authenticate: ReportedText {
        credentials.isEmpty
            ? "add \(section).headers or a client certificate" : "check \(credentials.joined(separator: " and "))"
    }
}

extension EndpointRejection {
    fileprivate func wording(for origin: TokenOrigin) -> Wording {
        let meaning = detail?.wording(for: origin) ?? statusWording(for: origin)
        let said: ReportedText = message.map { "; it says \"\($0)\"" } ?? ""
        let page: ReportedText = isPage ? ", with a page (HTML or XML)" : ""
        let other: ReportedText = isPage ? "; another server, a proxy or a login page may be answering" : ""
        return Wording(
            "\(origin) answered \(status)\(page): \(meaning.cause)\(said)", "\(meaning.remedy)\(other)")
    }

    private func statusWording(for origin: TokenOrigin) -> Wording {
        let section = origin.section
        let content: ReportedText = "check \(section).headers and body, and the backend's log"
        switch status {
        case 400:
            return Wording(
                "it doesn't understand the request", "check \(section).url, headers, body and client certificate")
        case 401:
            return Wording(
                origin.credentials.isEmpty ? "no headers are configured" : "it rejects our credentials",
                origin.authenticate)
        case 403: return origin.denial
        case 404, 410: return Wording("it doesn't know the address or the vehicle", "check \(section).url")
        case 406, 415, 422: return Wording("it doesn't accept the request's content", content)
        case 407:
            return Wording(
                "a proxy on the route requires credentials",
                "allow the backend's address in the proxy, or configure the proxy's user and password")
        case 511:
            return Wording(
                "the network requires a login (a captive portal)", "log in there, or use another network")
        case 502, 504: return Wording("a proxy got no answer from the backend", "check that the backend runs")
        case 408, 425, 429, 500...: return Wording("it could not handle the request", "check the backend's log")
        default: return Wording("it rejects the request", "check \(section).url and the backend's log")
        }
    }
}

extension EndpointRejection.Detail {
    fileprivate func wording(for origin: TokenOrigin) -> Wording {
        let section = origin.section
        switch self {
        case .redirectToItself: return Wording("a redirect to the same address", "see the backend's log")
        case .redirect(let target):
            return Wording(
                "a redirect\(target.map { " to \($0)" } ?? ""), which is not followed",
                "set \(section).url to the final address, or, if that is a login page, \(origin.authenticate)")
        case .allowedMethods(let methods):
            let allowed = methods.isEmpty ? "" : "; it allows \(methods.joined(separator: ", "))"
            return Wording("it expects another method\(allowed)", "check \(section).method")
        case .httpsExpected: return Wording("its port expects https", "write https in \(section).url")
        case .certificateRequired:
            return Wording("it requires a client certificate", origin.requiredCertificateRemedy)
        case .certificateRejected:
            return Wording("it rejects our client certificate", origin.requiredCertificateRemedy)
        case .spentGrant:
            return Wording(
                "the grant has already been used or has expired",
                """
                give the vehicle a reusable grant: the service, waypost check and waypost token each consume a \
                single-use refresh token
                """)
        }
    }
}

extension TokenOrigin {
    /// The message about credentials that the backend accepts, but that don't permit this token.
    fileprivate var denial: Wording {
        let keys = credentials.isEmpty ? "\(section).headers" : credentials.joined(separator: " and ")
        return switch subject {
        case .vehicle, nil:
            Wording(
                "it refuses to issue a token for this vehicle",
                "check vehicle.vehicleId, \(keys), and the vehicle's enrolment in the backend")
        case .trip: Wording("it refuses to issue a token for this trip", "check whose trip it is, and \(keys)")
        case .shipment:
            Wording("it refuses to issue a token for this shipment", "check whose shipment it is, and \(keys)")
        }
    }
}

extension ExpiryFault {
    fileprivate func wording(for origin: TokenOrigin?) -> Wording {
        let giver = origin.map { "\($0)" } ?? "the issuer"
        let newOne: ReportedText = "the issuer must make a new token: check its clock and cache"
        switch self {
        case .endsBeforeIssue:
            return Wording(
                "\(giver) gave a token whose exp is not after its iat",
                "the issuer must set exp to the time when the token expires")
        case .expiredWhenReturned(let evidence):
            let by: ReportedText =
                switch evidence {
                case .issuer: " by the endpoint's own clock (its Date header)"
                case .synchronizedHost: " by this host's clock, which is synchronised"
                case .statement: ""
                }
            return Wording("\(giver) gave a token that had already expired\(by)", newOne)
        case .expiredDuringFetch(let context):
            return Wording("the token for \(context) had already expired when it arrived", newOne)
        }
    }
}

extension ProviderFault {
    fileprivate var wording: Wording {
        let callBack: ReportedText = "make the provider call its completion handler on every path"
        return switch self {
        case .silent(let time):
            Wording("the token provider gave neither a token nor an error in \(time.humanReadable)", callBack)
        case .notCalledBack(let time):
            Wording("the token provider did not call back within \(time.humanReadable)", callBack)
        case .blockedByEarlierCall(let time):
            Wording("the token provider was blocked by another fetchToken for \(time.humanReadable)", callBack)
        case .busy:
            Wording("the token provider has not returned from an earlier fetchToken, which has timed out", callBack)
        case .emptyAnswer:
            Wording("the token provider called back with neither a token nor an error", callBack)
        case .noCompletionForm:
            Wording(
                "the token provider has no fetchToken(with:completion:)", "implement it, or the async form")
        case .cancellationReported:
            Wording("the token provider gave up: it reported a cancellation", "see the provider's log")
        case .failed(let message): Wording("the token provider failed: \(message)", "see the provider's log")
        }
    }
}
