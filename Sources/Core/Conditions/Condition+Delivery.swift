package import Reporting
import ReportedText
package import VehicleAuthorization

extension Condition {
    /// Creates the condition for a failed upload; returns `nil` if the upload was delivered.
    package init?(_ outcome: DeliveryOutcome) {
        guard let fault = outcome.fault else { return nil }
        guard case .answered(let answer) = fault else {
            self.init(fault)
            return
        }
        let code: ConditionCode =
            switch outcome {
            case .rejected: .updateRejected
            case .tooLarge: .requestTooLarge
            case .intercepted: .intercepted
            case .throttled: .throttled
            case .delivered, .prepareAgain, .retry, .unanswered, .held: ConditionCode(answer)
            }
        self.init(answer, as: code)
    }

    private init(_ answer: ServiceAnswer, as code: ConditionCode) {
        self.init(
            code, Wording(answer.cause, answer.remedy(for: code)),
            facts: .answer(status: answer.status, about: answer.subject))
    }

    /// Creates the condition for a delivery fault.
    package init(_ fault: DeliveryFault) {
        switch fault {
        case .noPermit(let missing): self.init(missing)
        case .answered(let answer): self.init(answer, as: ConditionCode(answer))
        case .unanswered(let lost):
            let code = lost.proxyFault.map(ConditionCode.init) ?? ConditionCode(lost.cause)
            self.init(code, Wording(lost.message, lost.remedy), facts: .lost(lost.cause))
        case .aborted(let reason, let lost):
            let wording = Wording(lost.abortCause(for: reason), lost.remedy)
            self.init(.networkUnavailable, wording, facts: .aborted(reason))
        case .everythingRejected(let fault):
            self.init(
                .everythingRejected, "\(fault.message); Fleet Engine rejects one update after another",
                facts: Condition(fault).facts)
        case .invalidAddress(let message): self.init(.serviceRefuses, message)
        }
    }

    /// Creates the condition for a missing permit.
    package init(_ missing: MissingPermit) {
        guard let fault = missing.tokenFault else {
            self.init(.tokenSourceFailed, "\(missing.fault)")
            return
        }
        self.init(ConditionCode(fault), fault.wording, facts: .token(fault.topic))
    }

    /// Creates the condition for flaws in a token that is used despite them. There must be at least one.
    package init(_ warnings: [AuthorizationWarning]) {
        let wordings = warnings.map(\.wording)
        self.init(
            .tokenSupplyAtRisk, wordings[0], and: Array(wordings.dropFirst()),
            facts: .tokenWarnings(warnings.map(\.topic)))
    }

    /// Creates the condition for a `presence` of `vehicle` that hasn't reached Fleet Engine yet. `failure` is the
    /// reason; `nil` if it isn't known. It is described by its title, and by its cause if `withCause` is `true`.
    package init(unsent presence: Presence, of vehicle: String, because failure: Condition?, withCause: Bool = true) {
        let reason: ReportedText =
            failure.map { "; \(text: $0.code.title)\(withCause ? ": \($0.cause)" : "")" as ReportedText } ?? ""
        self.init(
            .stateNotSent, "\(vehicle) is not \(text: presence.rawValue.uppercased()) at Fleet Engine yet\(reason)",
            facts: failure.map { .causedBy($0.code, $0.facts) } ?? .none)
    }
}

extension ConditionCode {
    /// Creates the code for a failure to obtain a token.
    package init(_ fault: TokenFault) {
        self =
            switch fault.kind {
            case .endpointUnreachable: .tokenEndpointUnreachable
            case .endpointTLS: .tokenEndpointTLS
            case .rejected: .tokenRequestRejected
            case .unusable: .tokenUnusable
            case .wrongClaims: .tokenClaimsWrong
            case .sourceFailed: .tokenSourceFailed
            }
    }

    /// Creates the code for an answer that isn't a success. The text of its message doesn't matter.
    fileprivate init(_ answer: ServiceAnswer) {
        if let subject = answer.subject {
            self =
                switch subject {
                case .disabledService: .apiDisabled
                case .disabledBilling: .billingDisabled
                case .tokenTimes: .tokenRejected
                }
            return
        }
        self =
            switch answer.status {
            case 401: .tokenRejected
            case 403: .tokenNotPermitted
            case 404: .vehicleUnknown
            case 429: .throttled
            case 501 where answer.isFromService: .apiDisabled
            // HTML may come from Fleet Engine's own front end, or from a proxy whose server is down. Both are gateway
            // errors.
            case 408, 409, 499, 500...: answer.isFromService ? .serviceBusy : .gatewayError
            default: .serviceRefuses
            }
    }

    fileprivate init(_ cause: LostExchange.Cause) {
        self =
            switch cause {
            case .cancelled, .nameNotResolved, .connectionFailed, .timedOut, .connectionLost: .networkUnavailable
            case .tlsFailed: .tlsFailed
            case .untrustedCertificate(.notValidNow?): .certificateOutsideItsTime
            // The transport itself fails if a certificate file is unusable.
            case .untrustedCertificate, .clientFailed: .certificateUntrusted
            case .malformedAnswer, .answerTooLarge, .undecodableAnswer: .intercepted
            }
    }
}

extension ConditionCode {
    /// Creates the code for a proxy through which no connection was made. A proxy that can't be reached is out of
    /// coverage like any other server. A proxy that rejects the connection has answered in Fleet Engine's place.
    fileprivate init(_ fault: ProxyFault) {
        self =
            switch fault.cause {
            case .nameNotResolved, .notConnected, .timedOut, .connectionLost, .serverNotReached, .answered(status: 500),
                .answered(status: 502...504):
                .networkUnavailable
            case .answered, .notAProxy, .rejected: .intercepted
            case .untrustedCertificate: .certificateUntrusted
            case .tlsFailed, .certificateRequested: .tlsFailed
            }
    }
}

extension ServiceAnswer {
    /// A description of the answer, for use as a condition's cause.
    fileprivate var cause: ReportedText {
        switch (body, status) {
        case (.error(let message, _), _): "\(status) \(message)"
        case (_, 300..<400): "\(status) redirect, not followed"
        case (_, 511): "511 network authentication required"
        case (.empty, _): "\(status) with an empty body"
        case (.html, _): "\(status) with HTML, not from Fleet Engine"
        case (.other, _): "\(status) with a body that isn't from Fleet Engine"
        }
    }

    /// Returns the remedy; empty if the catalog's remedy for `code` applies. Portals answer with HTML.
    fileprivate func remedy(for code: ConditionCode) -> ReportedText {
        switch body {
        case .other where code == .intercepted:
            "correct upload.endpoint; if it is correct, log in to the network (a captive portal or a proxy), or use another network"
        case .error(_, .tokenTimes?): "let the issuer return a new token, and check its clock"
        default: ""
        }
    }
}

extension LostExchange {
    /// The remedy; empty if the catalog's remedy for the code applies.
    fileprivate var remedy: ReportedText {
        if let proxyFault { return proxyFault.wording().remedy }
        return switch cause {
        case .connectionLost where isLocal:
            "check the program that listens there, and correct upload.endpoint (http or https)"
        case .untrustedCertificate(.otherHostName?):
            "correct the host in upload.endpoint, or log in to the network (a captive portal)"
        case .connectionFailed where isLocal: "start the program that should listen there, or correct upload.endpoint"
        case .undecodableAnswer: "turn off compression in the proxy, or correct upload.endpoint"
        case .untrustedCertificate(.unknownAuthority?):
            "if the certificate authority is your own, set upload.caFile; otherwise, another server is answering (a captive portal or a proxy): log in to the network, or use another network"
        case .tlsFailed(.certificateRequested?):
            "correct upload.endpoint, or the proxy on the route: Fleet Engine requests no client certificate"
        case .tlsFailed(.noCommonVersion?):
            "correct upload.endpoint, or the proxy on the route: it must support TLS 1.2"
        case .clientFailed: "run waypost check, and correct upload.caFile"
        default: ""
        }
    }

    fileprivate func abortCause(for reason: AbortReason) -> ReportedText {
        let route: ReportedText = route.map { " (\($0))" } ?? ""
        let answer: ReportedText = proxyFault.map { "no answer through the proxy \($0.origin)" } ?? "no answer"
        return switch reason {
        case .networkChanged: "\(origin): the network changed, and \(answer) came on the old connection\(route)"
        case .newerPosition:
            "\(origin): \(answer), while a newer position was waiting; a new connection will send that position first\(route)"
        }
    }
}
