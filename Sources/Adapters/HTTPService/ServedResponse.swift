package import HTTPMessages

/// A response, and the way in which it is delivered to the client.
package struct ServedResponse: Sendable, Hashable {
    /// The part of the response that the client receives. All cases except `.whole` are faults for tests and the
    /// simulator.
    package enum Delivery: Sendable, Hashable {
        case whole
        /// Only the first bytes are sent; then the service is silent until the client closes the connection.
        case stall(afterBytes: Int)
        /// Only the first bytes are sent; then the connection is reset (RST).
        case reset(afterBytes: Int)
        /// Nothing is sent, and the connection is closed normally (FIN).
        case drop
    }

    package var response: HTTPResponse
    /// The time for which the service waits before it sends the response.
    package var delay: Duration
    package var delivery: Delivery

    package init(_ response: HTTPResponse, delay: Duration = .zero, delivery: Delivery = .whole) {
        self.response = response
        self.delay = delay
        self.delivery = delivery
    }

    /// Creates a response whose body is `text`.
    package init(status: Int, contentType: String, _ text: String, headers: HTTPHeaders = HTTPHeaders()) {
        var headers = headers
        headers["Content-Type"] = contentType
        self.init(HTTPResponse(status: status, headers: headers, body: Array(text.utf8)))
    }

    /// Returns an error response whose body is one line of JSON: `{"error":{"code":404,"message":"…"}}`.
    package static func refusal(status: Int, _ message: String) -> Self {
        let escaped = message.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case _ where scalar.value < 0x20: text += " "
            default: text.unicodeScalars.append(scalar)
            }
        }
        return Self(
            status: status, contentType: "application/json",
            "{\"error\":{\"code\":\(status),\"message\":\"\(escaped)\"}}\n")
    }
}

/// Returns the bytes of a response: the status line, the headers and the body.
///
/// Adds `Content-Length`, `Connection` and, unless the handler has set it, `Date`. The response to a HEAD request has
/// no body.
func responseBytes(for response: HTTPResponse, method: HTTPMethod?, keepsAlive: Bool, date: String) -> [UInt8] {
    let hasBody = response.status >= 200 && response.status != 204 && response.status != 304
    let phrase = reasonPhrases[response.status] ?? "Status \(response.status)"
    var head = "HTTP/1.1 \(response.status) \(phrase)\r\n"
    if response.headers["Date"] == nil { head += "Date: \(date)\r\n" }
    for field in response.headers.fields {
        // Control characters are removed, because a line break in a value could start another header.
        head += "\(field.name): \(String(field.value.unicodeScalars.filter { $0.value >= 0x20 }))\r\n"
    }
    if hasBody { head += "Content-Length: \(response.body.count)\r\n" }
    head += "Connection: \(keepsAlive ? "keep-alive" : "close")\r\n\r\n"
    return Array(head.utf8) + (hasBody && method != .head ? response.body : [])
}

private let reasonPhrases = [
    200: "OK", 201: "Created", 204: "No Content", 302: "Found", 304: "Not Modified", 400: "Bad Request",
    401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
    409: "Conflict", 411: "Length Required", 413: "Content Too Large", 421: "Misdirected Request",
    429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
    501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
    505: "HTTP Version Not Supported",
]
