/// The route of the next connection to a server, chosen from the results of earlier exchanges. This type does no I/O.
///
/// A connection that is kept open may lead to a server that is being taken out of service and answers only with errors.
/// A route may also be broken for just one address family, and only after connections are accepted. libcurl's race
/// between the families doesn't detect that.
package struct ServerRoute: Sendable, Hashable {
    package enum AddressFamily: String, Sendable, Hashable, CaseIterable {
        case ipv4 = "IPv4"
        case ipv6 = "IPv6"

        package var other: Self { self == .ipv4 ? .ipv6 : .ipv4 }
    }

    /// The number of consecutive server errors after which the connection is closed. After a long outage, the wait
    /// between two requests is up to a minute.
    private static let maximumServerErrors = 2
    /// The number of failures for which a family without connections isn't tried again.
    private static let failuresWithoutFamily = 8
    /// The time after which a cancelled connection attempt is considered to have hung.
    private static let hang = Duration.seconds(2)

    private var serverErrors = 0
    private var failuresToSkip = 0
    /// The only family that connections may use; `nil` if any may.
    package private(set) var family: AddressFamily?
    /// Whether an answer has arrived over `family` since it was set.
    private var familyWorks = false

    package init() {}

    /// Whether the connection must be closed after an answer with this status.
    package func leavesConnection(after status: Int) -> Bool {
        Self.isServerError(status) && serverErrors + 1 >= Self.maximumServerErrors
    }

    /// Records an answer. Returns whether its connection was closed. If so, the name must be resolved again.
    package mutating func didAnswer(status: Int) -> Bool {
        let leaves = leavesConnection(after: status)
        familyWorks = family != nil
        serverErrors = Self.isServerError(status) && !leaves ? serverErrors + 1 : 0
        return leaves
    }

    /// Records a failure on a new connection over `failed`. The next exchange uses the other family, and the exchange
    /// after that may use either.
    package mutating func didFail(over failed: AddressFamily) {
        guard family == nil else {
            family = nil
            return
        }
        guard failuresToSkip == 0 else {
            failuresToSkip -= 1
            return
        }
        family = failed.other
        familyWorks = false
    }

    /// Records that no connection could be started over `family`, because the name has no address of that family or, if
    /// `isResolved`, because there is no route. Returns whether either family may be used from now on. If so, the
    /// exchange must be repeated at once.
    ///
    /// A family that has worked is kept while its server restarts.
    package mutating func recordFailedConnect(isResolved: Bool) -> Bool {
        guard family != nil, !isResolved || !familyWorks else { return false }
        if !familyWorks { failuresToSkip = Self.failuresWithoutFamily }
        family = nil
        return true
    }

    /// Whether a failure with this code may be due to the address family of the new connection.
    ///
    /// A connected server that is silent may just be slow. A cancelled connection attempt is considered only if it took
    /// at least `hang`, because it was probably aborted for a newer position. A shutdown, a reload or private mode may
    /// cancel an attempt at any time.
    package static func mayBeDueToFamily(
        _ code: HTTPTransportError.Code, isConnected: Bool, after time: Duration
    ) -> Bool {
        guard !isConnected else { return false }
        return code == .cancelled ? time >= hang : isDueToRoute(code)
    }

    /// Whether a failure with this code is due to the route to the server, so that another route may work.
    package static func isDueToRoute(_ code: HTTPTransportError.Code) -> Bool {
        switch code {
        case .nameNotResolved, .connectionFailed, .timedOut, .connectionLost, .tlsFailed: true
        case .cancelled, .certificateNotTrusted, .responseTooLarge, .malformedResponse, .unknownContentEncoding,
            .transportFailed:
            false
        }
    }

    /// Forgets everything, because it was learned on the previous network.
    package mutating func networkChanged() { self = Self() }

    /// Whether a status is a server's fault: 5xx, or 421, which means that this server isn't responsible for the name
    /// (RFC 9110, section 15.5.20).
    private static func isServerError(_ status: Int) -> Bool { status == 421 || (500..<600).contains(status) }
}
