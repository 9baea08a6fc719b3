import ReportedText
package import TimeAndChance

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
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.limits = limits
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

/// Header fields in the order they were added; names compare without regard to case (RFC 9110, section 5.1).
package struct HTTPHeaders: Sendable, Hashable {
    /// One field line.
    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: String
    }

    package private(set) var fields: [Field] = []

    package init() {}

    package init(_ fields: KeyValuePairs<String, String>) {
        self.fields = fields.map { Field(name: $0.key, value: $0.value) }
    }

    /// The first value under `name`; setting replaces every value, and `nil` removes the field.
    package subscript(name: String) -> String? {
        get { fields.first { Self.matches($0.name, name) }?.value }
        set {
            fields.removeAll { Self.matches($0.name, name) }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// Adds a field and keeps those of the same name.
    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Whether `byte` may stand in the name of a field or a method, a token (RFC 9110, section 5.6.2).
    package static func isTokenByte(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    /// Field names are ASCII tokens, so folding A–Z is the whole comparison.
    private static func matches(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count && zip(one.utf8, other.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension HTTPHeaders {
    /// How long the `Retry-After` field (RFC 9110, section 10.2.3) asks to wait from the moment of the answer; never
    /// negative. `nil` when the field is missing or means nothing.
    ///
    /// It holds seconds or a date, which is measured against the answer's own `Date` field, so that this machine's
    /// clock does not matter.
    package var retryAfter: Duration? {
        guard let text = self["Retry-After"] else { return nil }
        if let seconds = Int64(text) {
            return (0...Self.longestSeconds).contains(seconds) ? .seconds(seconds) : nil
        }
        guard let then = UTCTime(httpDate: text), let now = self["Date"].flatMap(UTCTime.init(httpDate:)) else {
            return nil
        }
        return max(.zero, min(.seconds(Self.longestSeconds), now.duration(to: then)))
    }

    /// A day; no server means more.
    private static let longestSeconds: Int64 = 86_400
}

/// A complete answer.
package struct HTTPResponse: Sendable, Hashable {
    /// The status code, 100...599 as received.
    package var status: Int
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// What the exchange cost on the wire.
    package var traffic: HTTPTraffic
    /// When the server's certificate ends; `nil` without TLS, and where the transport is not asked to tell.
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

/// What one exchange may cost before it is aborted.
package struct HTTPLimits: Sendable, Hashable {
    /// The longest wait for a connection, name resolution and TLS handshake included.
    package var connect: Duration
    /// The longest wait for the whole exchange.
    ///
    /// However silent a server is, its answer is waited for until then: silence alone doesn't tell a slow server
    /// from a dead one.
    package var total: Duration
    /// The largest answer body that is accepted, in bytes.
    package var responseBytes: Int

    package init(
        connect: Duration = .seconds(10), total: Duration = .seconds(15), responseBytes: Int = 1 << 20
    ) {
        self.connect = connect
        self.total = total
        self.responseBytes = responseBytes
    }
}
