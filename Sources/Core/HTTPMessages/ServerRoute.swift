/// The rule that decides how to reach a server: when to replace the connection, and which address family to use. It
/// depends on the results of earlier exchanges, and does no I/O.
///
/// There are two problems to solve. A connection that is kept open may lead to a server that is being taken out of
/// service and responds only with errors. Also, connections over one address family may fail, but only after they have
/// been accepted. libcurl's race between the families doesn't detect such failures.
package struct ServerRoute: Sendable, Hashable {
    package enum AddressFamily: String, Sendable, Hashable, CaseIterable {
        case ipv4 = "IPv4"
        case ipv6 = "IPv6"

        package var other: Self { self == .ipv4 ? .ipv6 : .ipv4 }
    }

    /// The number of consecutive server errors after which the connection is closed. It is small because, after a long
    /// outage, up to a minute passes between two requests.
    private static let maximumServerErrors = 2
    /// The number of failures that don't cause a switch to the other family, once that family has proved unusable.
    private static let failuresWithoutFamily = 8
    /// The time after which a connection attempt is considered to have hung if it is cancelled.
    private static let hang = Duration.seconds(2)

    private var serverErrors = 0
    private var failuresToSkip = 0
    /// The only family that connections may use; `nil` if both are allowed.
    package private(set) var family: AddressFamily?
    /// Whether a response has arrived since `family` was set.
    private var familyWorks = false

    package init() {}

    /// Whether the connection must be closed after a response with this status. It must if there were too many server
    /// errors in a row.
    package func mustCloseConnection(after status: Int) -> Bool {
        Self.isServerError(status) && serverErrors + 1 >= Self.maximumServerErrors
    }

    /// Records a response with this status. Returns whether its connection is closed; the name must then be resolved
    /// again.
    package mutating func recordResponse(status: Int) -> Bool {
        let leaves = mustCloseConnection(after: status)
        familyWorks = family != nil
        serverErrors = Self.isServerError(status) && !leaves ? serverErrors + 1 : 0
        return leaves
    }

    /// Records a failure on a new connection over `failed`. The next exchange uses only the other family, unless that
    /// family has proved unusable. If that exchange fails too, both families are allowed again.
    package mutating func recordFailure(over failed: AddressFamily) {
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

    /// Records that no connection could be started over `family`. Either the name has no address of that family or, if
    /// `isResolved`, the address can't be reached. Returns whether both families are allowed from now on. If so, the
    /// exchange must be repeated at once.
    ///
    /// A family that has worked is kept if its address can't be reached, because the server may just be restarting.
    package mutating func recordFailedConnect(isResolved: Bool) -> Bool {
        guard family != nil, !isResolved || !familyWorks else { return false }
        if !familyWorks { failuresToSkip = Self.failuresWithoutFamily }
        family = nil
        return true
    }

    /// Whether a failure with this code may be due to the address family of the new connection.
    ///
    /// If the connection was established, a silent server may just be slow. A cancelled attempt to connect counts only
    /// if it took at least `hang`, because such an attempt was probably cancelled in favour of a newer position. A
    /// shorter attempt may have been cancelled by a shutdown, a reload or private mode.
    package static func mayBeDueToFamily(
        _ code: HTTPTransportError.Code, isConnected: Bool, after time: Duration
    ) -> Bool {
        guard !isConnected else { return false }
        return code == .cancelled ? time >= hang : isDueToRoute(code)
    }

    /// Whether a failure with this code is due to the network path to the server, so that a new connection may work.
    package static func isDueToRoute(_ code: HTTPTransportError.Code) -> Bool {
        switch code {
        case .nameNotResolved, .connectionFailed, .timedOut, .connectionLost, .tlsFailed: true
        case .cancelled, .certificateNotTrusted, .responseTooLarge, .malformedResponse, .unknownContentEncoding,
            .transportFailed:
            false
        }
    }

    /// Forgets everything that was learned on the previous network.
    package mutating func reset() { self = Self() }

    /// Whether a status means that the server is at fault. Such statuses are 5xx, and 421, which means that this server
    /// isn't responsible for the name (RFC 9110, section 15.5.20).
    private static func isServerError(_ status: Int) -> Bool { status == 421 || (500..<600).contains(status) }
}
