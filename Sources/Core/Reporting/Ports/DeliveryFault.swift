package import ReportedText

/// The reason why a delivery failed. It contains only facts, which `Conditions` turns into text.
///
/// The whole enum isn't indirect, because the leak sanitizer doesn't find references in which Swift also stores the
/// case.
package enum DeliveryFault: Error, Sendable, Hashable {
    /// No permit could be obtained.
    case noPermit(MissingPermit)
    /// The answer of the service, or of an intermediary, isn't a success.
    case answered(ServiceAnswer)
    /// There was no complete answer.
    indirect case unanswered(LostExchange)
    /// The exchange was aborted before its time limit.
    indirect case aborted(AbortReason, LostExchange)
    /// The service rejects one update after another, the last one with this fault, so the updates can't be the reason.
    indirect case everythingRejected(DeliveryFault)
    /// The service's address isn't valid.
    case invalidAddress(ReportedText)

    /// The message from the service or the network. If the service rejects an update, this message is stored with it.
    package var message: ReportedText {
        switch self {
        case .noPermit: ""
        case .answered(let answer): answer.message
        case .unanswered(let lost), .aborted(_, let lost): lost.message
        case .everythingRejected(let fault): fault.message
        case .invalidAddress(let message): message
        }
    }
}

/// The reason why no permit could be obtained.
package struct MissingPermit: Sendable, Hashable {
    package enum Cause: String, Sendable, Hashable, CaseIterable {
        /// The issuer could not be reached or did not answer in time.
        case unavailable
        /// The issuer answered and rejected the request.
        case rejected
        /// The issuer's answer can't be used.
        case unusableAnswer
        /// The configuration makes a request for a permit impossible.
        case misconfigured
        case cancelled

        /// Whether a person must act. The other causes are temporary.
        package var isRejection: Bool { self == .rejected || self == .unusableAnswer || self == .misconfigured }
    }

    package let cause: Cause
    /// The details, whose type depends on the implementation of `Delivery`.
    package let fault: any PermitFault
    /// The delay that the issuer asked for; `nil` if it asked for none.
    package let retryAfter: Duration?

    package init(_ cause: Cause, _ fault: some PermitFault, retryAfter: Duration? = nil) {
        self.cause = cause
        self.fault = fault
        self.retryAfter = retryAfter
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.cause == other.cause && one.retryAfter == other.retryAfter && one.fault.isEqual(to: other.fault)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(cause)
        hasher.combine(retryAfter)
        hasher.combine(fault)
    }
}

/// The details about a missing permit. Each implementation of `Delivery` has its own type.
package protocol PermitFault: Sendable, Hashable {}

extension PermitFault {
    fileprivate func isEqual(to other: any PermitFault) -> Bool { other as? Self == self }
}

/// An answer that isn't a success.
package struct ServiceAnswer: Sendable, Hashable {
    /// The kind of body in an answer.
    package enum Body: Sendable, Hashable {
        /// An error from the service itself, with the error's message.
        case error(ReportedText, about: Subject?)
        case empty
        case html
        case other
    }

    /// The subject of the service's error. Only subjects that affect the remedy are listed.
    package enum Subject: Sendable, Hashable {
        case disabledService
        case disabledBilling
        /// The times in the token, such as its expiry.
        case tokenTimes
    }

    /// The HTTP status.
    package let status: Int
    package let body: Body
    /// The account to which the vehicle belongs, such as a Fleet Engine provider.
    package let account: String

    package init(status: Int, body: Body, account: String) {
        self.status = status
        self.body = body
        self.account = account
    }

    /// The subject of the service's error; `nil` if the answer contains no error, or another subject.
    package var subject: Subject? { if case .error(_, let subject) = body { subject } else { nil } }

    /// Whether the answer is from the service itself, not from an intermediary.
    package var isFromService: Bool { if case .error = body { true } else { false } }

    /// The status, with the service's message if there is one.
    var message: ReportedText { if case .error(let message, _) = body { "\(status) \(message)" } else { "\(status)" } }
}

/// An exchange without a complete answer.
package struct LostExchange: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
        case cancelled
        case nameNotResolved
        case connectionFailed
        case timedOut
        /// The connection ended before the answer was complete.
        case connectionLost
        /// The server's certificate isn't trusted. The value is the reason; `nil` if it is unknown.
        case untrustedCertificate(CertificateFault?)
        /// The TLS connection failed for another reason; `nil` if it is unknown.
        case tlsFailed(TLSFault?)
        case answerTooLarge
        case malformedAnswer
        /// The answer uses an unsupported compression.
        case undecodableAnswer
        /// The exchange failed because of a fault on this machine.
        case clientFailed
    }

    package let cause: Cause
    /// A description of the failure, with addresses and times.
    package let message: ReportedText
    /// The reason why the proxy failed; `nil` if it didn't cause the failure.
    package let proxyFault: ProxyFault?
    /// The server's scheme, host and port.
    package let origin: String
    /// Whether the server is on this machine.
    package let isLocal: Bool
    /// The connection's address family, and the one to be tried next; `nil` if they don't matter.
    package let route: ReportedText?

    package init(
        _ cause: Cause, _ message: ReportedText, proxyFault: ProxyFault? = nil, origin: String = "",
        isLocal: Bool = false, route: ReportedText? = nil
    ) {
        self.cause = cause
        self.message = message
        self.proxyFault = proxyFault
        self.origin = origin
        self.isLocal = isLocal
        self.route = route
    }
}

/// The reason why an exchange was aborted before its time limit.
package enum AbortReason: String, Sendable, Hashable {
    /// The network changed, and no answer arrived on the old connection.
    case networkChanged
    /// No answer arrived while a newer position was waiting.
    case newerPosition
}
