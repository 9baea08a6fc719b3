package import HTTPMessages

/// An answer, and how it is handed over.
package struct ServedResponse: Sendable, Hashable {
    /// How much of the answer the client gets to see; all but `.whole` are faults for tests and the simulator.
    package enum Delivery: Sendable, Hashable {
        case whole
        /// The first bytes, then silence on an open connection until the client leaves.
        case stall(afterBytes: Int)
        /// The first bytes, then a reset (RST) instead of an orderly end.
        case reset(afterBytes: Int)
        /// The connection is closed in order without a byte.
        case drop
    }

    package var response: HTTPResponse
    /// Waited before the first byte.
    package var delay: Duration
    package var delivery: Delivery

    package init(_ response: HTTPResponse, delay: Duration = .zero, delivery: Delivery = .whole) {
        (self.response, self.delay, self.delivery) = (response, delay, delivery)
    }

    /// A text answer with its content type.
    package init(status: Int, contentType: String, _ text: String, headers: HTTPHeaders = HTTPHeaders()) {
        var headers = headers
        headers["Content-Type"] = contentType
        self.init(HTTPResponse(status: status, headers: headers, body: Array(text.utf8)))
    }

    /// A refusal as one line of JSON: `{"error":{"code":404,"message":"…"}}`.
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
