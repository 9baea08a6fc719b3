/// Sends requests: the port that `CurlTransport` implements, and tests script.
package protocol HTTPTransport: Sendable {
    /// One exchange. Any status is an answer; redirects are answers too and are never followed.
    ///
    /// Cancelling the task ends the exchange at once with `.cancelled`.
    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse
}
