package import HTTPMessages

/// An answer, and how to deliver it.
package struct ServedResponse: Sendable, Hashable {
    /// The part of the answer that the client receives. All cases but `.whole` are faults for tests and the simulator.
    package enum Delivery: Sendable, Hashable {
        case whole
        /// The first bytes, then silence until the client closes the connection.
        case stall(afterBytes: Int)
        /// The first bytes, then a reset (RST) instead of an orderly end.
        case reset(afterBytes: Int)
        /// Nothing: the connection is closed cleanly.
        case drop
    }

    package var response: HTTPResponse
    /// The time to wait before the first byte.
    package var delay: Duration
    package var delivery: Delivery

    package init(_ response: HTTPResponse, delay: Duration = .zero, delivery: Delivery = .whole) {
        self.response = response
        self.delay = delay
        self.delivery = delivery
    }

    /// Creates an answer whose body is `text`.
    package init(status: Int, contentType: String, _ text: String, headers: HTTPHeaders = HTTPHeaders()) {
        var headers = headers
        headers["Content-Type"] = contentType
        self.init(HTTPResponse(status: status, headers: headers, body: Array(text.utf8)))
    }

    /// Returns an error answer with one line of JSON: `{"error":{"code":404,"message":"…"}}`.
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

/// Returns the bytes of an answer: status line, headers, body.
///
/// Adds `Content-Length`, `Connection` and, unless the handler set one, `Date`. The answer to HEAD has no body.
func renderedResponse(_ response: HTTPResponse, to method: HTTPMethod?, keepsAlive: Bool, date: String) -> [UInt8] {
    let hasBody = response.status >= 200 && response.status != 204 && response.status != 304
    let phrase = reasonPhrases[response.status] ?? "Status \(response.status)"
    var head = "HTTP/1.1 \(response.status) \(phrase)\r\n"
    if response.headers["Date"] == nil { head += "Date: \(date)\r\n" }
    for field in response.headers.fields {
        // A line break in a value could start another header.
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
