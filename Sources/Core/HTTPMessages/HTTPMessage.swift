import ReportedText
package import TimeAndChance

/// A request for an `HTTPTransport`.
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
    /// The values of all headers that aren't public. An answer may repeat these values, but they must not be shown.
    package var secrets: [String] {
        headers.fields.filter { !Self.openHeaders.contains($0.name.lowercased()) }.flatMap { field in
            // Each value is included with its scheme (`Bearer`) and without it.
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
    /// A field line.
    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: String
    }

    package private(set) var fields: [Field] = []

    package init() {}

    package init(_ fields: KeyValuePairs<String, String>) {
        self.fields = fields.map { Field(name: $0.key, value: $0.value) }
    }

    /// The first value of the field `name`. Setting it replaces all values, and `nil` removes the field.
    package subscript(name: String) -> String? {
        get { fields.first { Self.matches($0.name, name) }?.value }
        set {
            fields.removeAll { Self.matches($0.name, name) }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// Adds a field, keeping existing fields of the same name.
    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Whether `byte` may be part of a field name or a method, which are tokens (RFC 9110, section 5.6.2).
    package static func isTokenByte(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    /// Whether two field names are equal. Only A–Z need folding, because field names are ASCII tokens.
    private static func matches(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count && zip(one.utf8, other.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension HTTPHeaders {
    /// The wait after the answer that the `Retry-After` field demands (RFC 9110, section 10.2.3); never negative. `nil`
    /// if the field is missing or invalid.
    ///
    /// The field contains seconds or a date. A date is compared with the answer's own `Date` field, so that this
    /// machine's clock doesn't matter.
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

    /// The maximum wait in seconds: a day. No server intends a longer wait.
    private static let maximumSeconds: Int64 = 86_400
}

/// A complete answer.
package struct HTTPResponse: Sendable, Hashable {
    /// The status code as received, 100...599.
    package var status: Int
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// The numbers of bytes that the exchange has transferred.
    package var traffic: HTTPTraffic
    /// The time when the server's certificate expires; `nil` without TLS, or if the transport isn't configured to
    /// report it.
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

/// The limits of an exchange. An exchange that exceeds them is aborted.
package struct HTTPLimits: Sendable, Hashable {
    /// The maximum wait for a connection, including name resolution and TLS handshake.
    package var connect: Duration
    /// The maximum duration of the whole exchange.
    ///
    /// A silent server is given this long, because silence alone doesn't distinguish a slow server from a dead one.
    package var total: Duration
    /// The maximum size of an answer's body, in bytes.
    package var responseBytes: Int

    package init(
        connect: Duration = .seconds(10), total: Duration = .seconds(15), responseBytes: Int = 1 << 20
    ) {
        self.connect = connect
        self.total = total
        self.responseBytes = responseBytes
    }
}
