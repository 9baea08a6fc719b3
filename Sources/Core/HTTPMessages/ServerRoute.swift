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

    /// No connection could be begun: the name has no address, or there is no way to it. Returns whether only one family
    /// was tried, which has never worked, so that the exchange must be made over any.
    package mutating func couldNotConnect() -> Bool {
        guard family != nil, !familyWorks else { return false }
        family = nil
        failuresToSkip = Self.failuresWithoutFamily
        return true
    }

    /// What was learned on the previous network doesn't count.
    package mutating func networkChanged() { self = Self() }

    /// 421 says that the server isn't the one for this name (RFC 9110, section 15.5.20).
    private static func isServerError(_ status: Int) -> Bool { status == 421 || (500..<600).contains(status) }
}
