import FleetEngine
import HTTPMessages
import ReportedText
package import Reporting
package import VehicleAuthorization

extension ServiceAnswer.Body {
    /// Classifies the body of a response. `error` is Fleet Engine's error if the body contains one.
    init(_ body: [UInt8], error: FleetEngineError?) {
        if let error {
            self = .error(error.summary, about: ServiceAnswer.Subject(error))
        } else if body.isEmpty {
            self = .empty
        } else {
            self = body.starts(with: Array("<".utf8)) ? .html : .other
        }
    }
}

extension ServiceAnswer.Subject {
    fileprivate init?(_ error: FleetEngineError) {
        switch error.projectFault {
        case .serviceDisabled: self = .disabledService
        case .billingDisabled: self = .disabledBilling
        case nil:
            guard error.namesTime else { return nil }
            self = .tokenTimes
        }
    }
}

extension LostExchange {
    init(_ error: HTTPTransportError, origin: String) {
        self.init(
            Cause(error), error.detail, proxyFault: error.proxyFault, origin: origin,
            isLocal: (try? HTTPURL(origin)).map { HTTPURL.isLoopback($0.host) } ?? false, route: error.route)
    }
}

extension LostExchange.Cause {
    fileprivate init(_ error: HTTPTransportError) {
        self =
            switch error.code {
            case .cancelled: .cancelled
            case .nameNotResolved: .nameNotResolved
            case .connectionFailed: .connectionFailed
            case .timedOut: .timedOut
            case .connectionLost: .connectionLost
            case .certificateNotTrusted: .untrustedCertificate(error.certificateFault)
            case .tlsFailed: .tlsFailed(error.tlsFault)
            case .responseTooLarge: .answerTooLarge
            case .malformedResponse: .malformedAnswer
            case .unknownContentEncoding: .undecodableAnswer
            case .transportFailed: .clientFailed
            }
    }
}

extension MissingPermit {
    /// Converts the error of an authorization that couldn't provide a token.
    package init(_ error: AuthorizationError) {
        self.init(Cause(error.code), error.fault, retryAfter: error.retryAfter)
    }
}

extension TokenFault: PermitFault {}

extension MissingPermit.Cause {
    fileprivate init(_ code: AuthorizationError.Code) {
        self =
            switch code {
            case .unavailable: .unavailable
            case .refused: .rejected
            case .unusableAnswer: .unusableAnswer
            case .misconfigured, .missingContext: .misconfigured
            case .cancelled: .cancelled
            }
    }
}
