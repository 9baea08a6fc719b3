/// A complete answer.
package struct HTTPResponse: Sendable, Hashable {
    /// The status code, 100...599 as received.
    package var status: Int
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// What the exchange cost on the wire.
    package var traffic: HTTPTraffic

    package init(
        status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [], traffic: HTTPTraffic = HTTPTraffic()
    ) {
        (self.status, self.headers, self.body, self.traffic) = (status, headers, body, traffic)
    }
}
