import ReportedText
package import TimeAndRandomness

/// An HTTP request, and the limits of the exchange that sends it.
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
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.limits = limits
    }
}

extension HTTPRequest {
    /// The values of all headers that may contain a secret. A response may repeat these values, so they are removed
    /// from its text before the text is shown.
    package var secrets: [String] {
        headers.fields.filter { !Self.openHeaders.contains($0.name.lowercased()) }.flatMap { field in
            // Each value is included both with its scheme, such as `Bearer`, and without it.
            [field.value] + field.value.split(separator: " ").dropFirst().map(String.init)
        }
    }

    private static let openHeaders: Set<String> = [
        "accept", "content-type", "content-length", "host", "user-agent", "x-goog-fieldmask",
    ]
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

/// Header fields in the order in which they were added. Names are case-insensitive (RFC 9110, section 5.1).
package struct HTTPHeaders: Sendable, Hashable {
    /// The name and the value of one header line.
    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: String
    }

    package private(set) var fields: [Field] = []

    package init() {}

    package init(_ fields: KeyValuePairs<String, String>) {
        self.fields = fields.map { Field(name: $0.key, value: $0.value) }
    }

    /// The first value of the field `name`. Setting a value replaces all values of the field, and setting `nil` removes
    /// the field.
    package subscript(name: String) -> String? {
        get { fields.first { Self.namesMatch($0.name, name) }?.value }
        set {
            fields.removeAll { Self.namesMatch($0.name, name) }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// Adds a field, keeping existing fields of the same name.
    package mutating func append(name: String, value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Whether `byte` is allowed in a token, such as a field name or a method (RFC 9110, section 5.6.2).
    package static func isTokenByte(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    /// Whether two field names are equal, ignoring case. Only the case of A–Z matters, because field names are ASCII
    /// tokens.
    private static func namesMatch(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count && zip(one.utf8, other.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension HTTPHeaders {
    /// The wait that the `Retry-After` field demands, counted from the response (RFC 9110, section 10.2.3). It is never
    /// negative. `nil` if the field is missing or invalid.
    ///
    /// The field contains a number of seconds or a date. A date is compared with the `Date` field of the same response,
    /// so that an error of this machine's clock has no effect.
    package var retryAfter: Duration? {
        guard let text = self["Retry-After"] else { return nil }
        if let seconds = Int64(text) {
            return (0...Self.maximumSeconds).contains(seconds) ? .seconds(seconds) : nil
        }
        guard let then = UTCTime(httpDate: text), let now = self["Date"].flatMap(UTCTime.init(httpDate:)) else {
            return nil
        }
        return max(.zero, min(.seconds(Self.maximumSeconds), now.duration(to: then)))
    }

    /// The maximum wait in seconds: one day. A longer wait is probably a mistake.
    private static let maximumSeconds: Int64 = 86_400
}

/// A complete HTTP response.
package struct HTTPResponse: Sendable, Hashable {
    /// The status code as received, 100...599.
    package var status: Int
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// The numbers of bytes that the exchange has sent and received.
    package var traffic: HTTPTraffic
    /// The time at which the server's certificate expires. `nil` if the exchange didn't use TLS, or if the transport
    /// isn't configured to report this time.
    package var certificateEnd: UTCTime?

    package init(
        status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [], traffic: HTTPTraffic = HTTPTraffic(),
        certificateEnd: UTCTime? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.traffic = traffic
        self.certificateEnd = certificateEnd
    }
}

/// The limits for an exchange. An exchange that exceeds one of them is aborted.
package struct HTTPLimits: Sendable, Hashable {
    /// The maximum time until a connection is established, including name resolution and the TLS handshake.
    package var connect: Duration
    /// The maximum duration of the whole exchange.
    ///
    /// A server that sends nothing is given the whole time, because its silence doesn't show whether it is slow or
    /// dead.
    package var total: Duration
    /// The maximum size of the response's body, in bytes.
    package var responseBytes: Int

    package init(
        connect: Duration = .seconds(10), total: Duration = .seconds(15), responseBytes: Int = 1 << 20
    ) {
        self.connect = connect
        self.total = total
        self.responseBytes = responseBytes
    }
}
