/// How the next connection to a server is made, judged by what became of earlier exchanges. Pure.
///
/// A connection that was kept may lead to a server that is being taken out of service and answers only errors. And a
/// path may be broken for one address family only, after its connections are accepted, so that libcurl's race between
/// the families doesn't notice.
package struct ServerRoute: Sendable, Hashable {
    package enum AddressFamily: String, Sendable, Hashable, CaseIterable {
        case ipv4 = "IPv4"
        case ipv6 = "IPv6"

        package var other: Self { self == .ipv4 ? .ipv6 : .ipv4 }
    }

    /// After this many server errors in a row their connection is closed.
    private static let maximumServerErrors = 3
    /// A family over which no connection could be begun isn't tried again for this many failures.
    private static let failuresWithoutFamily = 8
    /// A connection that is cancelled after this time in the making counts as one that hangs.
    private static let hang = Duration.seconds(2)

    private var serverErrors = 0
    private var failuresToSkip = 0
    /// The only family that connections may use; `nil` if any may.
    package private(set) var family: AddressFamily?
    /// Whether an answer has come over that family since it is the only one.
    private var familyWorks = false

    package init() {}

    /// Whether the connection must be closed if the answer with this status came on it.
    package func leavesConnection(after status: Int) -> Bool {
        Self.isServerError(status) && serverErrors + 1 >= Self.maximumServerErrors
    }

    /// An answer came. Returns whether its connection was left, so that the name must be looked up again.
    package mutating func answered(status: Int) -> Bool {
        let leaves = leavesConnection(after: status)
        familyWorks = family != nil
        serverErrors = Self.isServerError(status) && !leaves ? serverErrors + 1 : 0
        return leaves
    }

    /// An exchange failed on a new connection over `failed`. The next one uses the other family, or any after that.
    package mutating func failed(over failed: AddressFamily) {
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

    /// No connection could be begun over the only family: the name has no address of it, or, if `isResolved`, there is
    /// no way to it. Returns whether any family may be used from now on, so that the exchange must be repeated at once.
    /// A server that restarts doesn't make a family that has worked a bad one.
    package mutating func couldNotConnect(isResolved: Bool) -> Bool {
        guard family != nil, !isResolved || !familyWorks else { return false }
        if !familyWorks { failuresToSkip = Self.failuresWithoutFamily }
        family = nil
        return true
    }

    /// Whether a failure with this code may be due to the address family of the new connection.
    ///
    /// Once connected, a silent server may be slow. Before that a cancelled exchange counts only if it hung for `time`:
    /// it was probably aborted for a newer position. A stop, a reload or private mode may cancel it at any time.
    package static func isOfFamily(
        _ code: HTTPTransportError.Code, isConnected: Bool, after time: Duration
    ) -> Bool {
        guard !isConnected else { return false }
        return code == .cancelled ? time >= hang : isOfRoute(code)
    }

    /// Whether a failure with this code is one of the route to the server, so that another one may work.
    package static func isOfRoute(_ code: HTTPTransportError.Code) -> Bool {
        switch code {
        case .nameNotResolved, .connectionFailed, .timedOut, .connectionLost, .tlsFailed: true
        case .cancelled, .certificateNotTrusted, .responseTooLarge, .malformedResponse, .unknownContentEncoding,
            .transportFailed:
            false
        }
    }

    /// What was learned on the previous network doesn't count.
    package mutating func networkChanged() { self = Self() }

    /// 421 says that the server isn't the one for this name (RFC 9110, section 15.5.20).
    private static func isServerError(_ status: Int) -> Bool { status == 421 || (500..<600).contains(status) }
}
