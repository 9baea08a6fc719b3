/// A request to be sent by an `HTTPTransport`.
package struct HTTPRequest: Sendable, Hashable {
    package var method: HTTPMethod
    package var url: HTTPURL
    package var headers: HTTPHeaders
    package var body: [UInt8]
    package var limits: HTTPLimits
    /// What whoever makes it wants with it, for a recording of the run; nothing of it is sent.
    package var purpose = Purpose.other

    package enum Purpose: String, Sendable, Hashable { case update, state, other }

    package init(
        _ method: HTTPMethod, _ url: HTTPURL, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [],
        limits: HTTPLimits = HTTPLimits()
    ) {
        (self.method, self.url, self.headers, self.body, self.limits) = (method, url, headers, body, limits)
    }
}

extension HTTPRequest {
    /// What an answer may repeat and must not be shown: the values of all headers that are not public.
    package var secrets: [String] {
        headers.fields.filter { !Self.openHeaders.contains($0.name.lowercased()) }.flatMap { field in
            // With its scheme (`Bearer`) and without it.
            [field.value] + field.value.split(separator: " ").dropFirst().map(String.init)
        }
    }

    private static let openHeaders: Set<String> = ["accept", "content-type", "content-length", "host", "user-agent"]
}

/// The request methods that Fleet Engine, token endpoints and the status service use (RFC 9110, section 9).
package enum HTTPMethod: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
}
