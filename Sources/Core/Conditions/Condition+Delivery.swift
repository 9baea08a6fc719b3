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
        self.init(code, answer.cause, facts: .answer(status: answer.status))
    }

    /// Creates the condition for a delivery fault.
    package init(_ fault: DeliveryFault) {
        switch fault {
        case .noPermit(let missing): self.init(missing)
        case .answered(let answer):
            self.init(ConditionCode(answer), answer.cause, facts: .answer(status: answer.status))
        case .unanswered(let lost):
            let remedy = lost.proxyFault?.wording().remedy ?? ""
            self.init(ConditionCode(lost.cause), Wording(lost.message, remedy), facts: .lost(lost.cause))
        case .aborted(let reason, let lost):
            self.init(.networkUnavailable, lost.abortCause(for: reason), facts: .aborted(reason))
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
        let code: ConditionCode =
            switch fault.kind {
            case .endpointUnreachable: .tokenEndpointUnreachable
            case .endpointTLS: .tokenEndpointTLS
            case .rejected: .tokenRequestRejected
            case .unusable: .tokenUnusable
            case .wrongClaims: .tokenClaimsWrong
            case .sourceFailed: .tokenSourceFailed
            }
        self.init(code, fault.wording, facts: .token(fault.topic))
    }

    /// Creates the condition for a flaw in tokens that are used despite that flaw.
    package init(_ warning: AuthorizationWarning) {
        self.init(.tokenSupplyAtRisk, warning.wording, facts: .tokenWarning(warning.topic))
    }

    /// Creates the condition for a `presence` of `vehicle` that hasn't reached Fleet Engine yet. `failure` is the
    /// reason; `nil` if it isn't known.
    package init(unsent presence: Presence, of vehicle: String, because failure: Condition?) {
        let reason: ReportedText = failure.map { "; \(text: $0.code.title): \($0.cause)" } ?? ""
        self.init(
            .stateNotSent, "\(vehicle) is not \(text: presence.rawValue.uppercased()) at Fleet Engine yet\(reason)",
            facts: failure.map { .causedBy($0.code, $0.facts) } ?? .none)
    }
}

extension ConditionCode {
    /// Creates the code for an answer that isn't a success. The text of its message doesn't matter.
    fileprivate init(_ answer: ServiceAnswer) {
        if case .error(_, about: let subject?) = answer.body {
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
            case .cancelled, .nameNotResolved, .connectionFailed, .timedOut, .connectionLost, .answerTooLarge,
                .clientFailed:
                .networkUnavailable
            case .tlsFailed: .tlsFailed
            case .untrustedCertificate(.notValidNow?): .certificateOutsideItsTime
            case .untrustedCertificate: .certificateUntrusted
            case .malformedAnswer: .intercepted
            case .undecodableAnswer: .answerUndecodable
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
}

extension LostExchange {
    fileprivate func abortCause(for reason: AbortReason) -> ReportedText {
        let route: ReportedText = route.map { " (\($0))" } ?? ""
        return switch reason {
        case .networkChanged: "\(origin): the network changed, and no answer came on the old connection\(route)"
        case .newerPosition:
            "\(origin): no answer, while a newer position was waiting; a new connection will send that position first\(route)"
        }
    }
}
