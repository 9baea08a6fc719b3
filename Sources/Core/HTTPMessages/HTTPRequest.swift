/// A request to be sent by an `HTTPTransport`.
package struct HTTPRequest: Sendable, Hashable {
    package var method: HTTPMethod
    package var url: HTTPURL
    package var headers: HTTPHeaders
    package var body: [UInt8]
    package var limits: HTTPLimits

    package init(
        _ method: HTTPMethod, _ url: HTTPURL, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [],
        limits: HTTPLimits = HTTPLimits()
    ) {
        (self.method, self.url, self.headers, self.body, self.limits) = (method, url, headers, body, limits)
    }
}
