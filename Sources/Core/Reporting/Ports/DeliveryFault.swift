package import ReportedText

/// What went wrong with a delivery, as typed facts. The program around the reporter puts them into words.
package indirect enum DeliveryFault: Error, Sendable, Hashable {
    /// There is no permit to deliver with.
    case noPermit(MissingPermit)
    /// An answer that isn't a success, from the service or from something in its place.
    case answered(ServiceAnswer)
    /// No complete answer came.
    case unanswered(LostExchange)
    /// The exchange was ended before its time limits.
    case aborted(AbortReason, LostExchange)
    /// The service rejects one update after another, the last one with this fault: it isn't the updates.
    case everythingRejected(DeliveryFault)
    /// No request can be made for the service's address.
    case invalidAddress(ReportedText)

    /// What the service or the network said, as it is kept with a rejected update.
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

/// Why there is no permit.
package struct MissingPermit: Sendable, Hashable {
    package enum Cause: String, Sendable, Hashable, CaseIterable {
        /// The issuer could not be reached or did not answer in time.
        case unavailable
        /// The issuer answered and rejected the request.
        case rejected
        /// The issuer's answer can't be used.
        case unusableAnswer
        /// It can't be asked for as things are set up.
        case misconfigured
        case cancelled

        /// Whether a person has to do something; the others resolve themselves.
        package var isRejection: Bool { self == .rejected || self == .unusableAnswer || self == .misconfigured }
    }

    package let cause: Cause
    /// The facts, as the delivery's adapter knows them.
    package let fault: any PermitFault
    /// How long the issuer asked to wait.
    package let retryAfter: Duration?

    package init(_ cause: Cause, _ fault: some PermitFault, retryAfter: Duration? = nil) {
        self.cause = cause
        self.fault = fault
        self.retryAfter = retryAfter
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.cause == other.cause && one.retryAfter == other.retryAfter && one.fault.isSame(as: other.fault)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(cause)
        hasher.combine(retryAfter)
        hasher.combine(fault)
    }
}

/// What a delivery's adapter knows about a missing permit.
package protocol PermitFault: Sendable, Hashable {}

extension PermitFault {
    fileprivate func isSame(as other: any PermitFault) -> Bool { other as? Self == self }
}

/// An answer that isn't a success.
package struct ServiceAnswer: Sendable, Hashable {
    /// What an answer's body is.
    package enum Body: Sendable, Hashable {
        /// The service's own error, with its message.
        case error(ReportedText, about: Subject?)
        case empty
        case html
        case other
    }

    /// What the service's error is about, if that changes what a person has to do.
    package enum Subject: Sendable, Hashable {
        case disabledService
        case disabledBilling
        /// The times in a token.
        case tokenTimes
    }

    /// The HTTP status.
    package let status: Int
    package let body: Body
    /// The account at the service to which the vehicle belongs.
    package let account: String

    package init(status: Int, body: Body, account: String) {
        self.status = status
        self.body = body
        self.account = account
    }

    /// Whether the service itself has answered.
    package var isOfService: Bool { if case .error = body { true } else { false } }

    /// The status with the service's message.
    var message: ReportedText { if case .error(let message, _) = body { "\(status) \(message)" } else { "\(status)" } }
}

/// An exchange that brought no complete answer.
package struct LostExchange: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
        case cancelled
        case nameNotResolved
        case connectionFailed
        case timedOut
        /// The connection ended before the answer was complete.
        case connectionLost
        /// The server's certificate isn't trusted; `nil` if it isn't known why.
        case untrustedCertificate(CertificateFault?)
        /// There is no secure connection for another reason.
        case tlsFailed
        case answerTooLarge
        case malformedAnswer
        /// The answer is compressed in a way that can't be decoded.
        case undecodableAnswer
        /// This machine can't make the exchange.
        case clientFailed
    }

    package enum CertificateFault: Sendable, Hashable { case outsideItsTime, ofAnotherName, ofUnknownAuthority }

    package let cause: Cause
    /// What happened, with addresses and times.
    package let message: ReportedText
    /// The server's scheme, host and port.
    package let origin: String
    /// Over which address family the connection was made, and which is next; `nil` if that doesn't matter.
    package let route: ReportedText?

    package init(_ cause: Cause, _ message: ReportedText, origin: String = "", route: ReportedText? = nil) {
        self.cause = cause
        self.message = message
        self.origin = origin
        self.route = route
    }
}

/// Why an exchange is ended before its time limits.
package enum AbortReason: String, Sendable, Hashable {
    /// The network changed, and no answer came on the old connection.
    case networkChanged
    /// No answer came while a newer position waited.
    case newerPosition
}
