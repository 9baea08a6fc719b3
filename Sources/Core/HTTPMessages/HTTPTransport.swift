/// Sends requests: the port that `CurlTransport` implements, and tests script.
package protocol HTTPTransport: Sendable {
    /// One exchange. Any status is an answer; redirects are answers too and are never followed.
    ///
    /// Cancelling the task ends the exchange at once with `.cancelled`.
    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse

    /// Tells that this machine has a new way to the network: connections that lie idle may be dead, and are not used
    /// again; an exchange that is still connecting fails with `.connectionFailed`.
    func networkChanged()
}

extension HTTPTransport {
    /// Does nothing: a transport that keeps no connections has none to give up.
    package func networkChanged() {}
}
