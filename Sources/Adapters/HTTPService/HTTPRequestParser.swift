import HTTPMessages
package import ReportedText

/// A parser that converts the bytes of one connection into requests (RFC 9112). The bytes may arrive in pieces of any
/// size.
///
/// The parser is strict wherever two lenient parsers could disagree about the end of a request. Lines must end with
/// CRLF and must not be folded, no space may precede a header's colon, and the length must be stated only once. After
/// an error the parser can't be used again.
package struct HTTPRequestParser: Sendable {
    /// The part of a request that is parsed next.
    private enum Part: Sendable {
        case requestLine
        case headers
        case body(length: Int)
        case chunkSize
        case chunk(length: Int)
        case trailers
        case end
    }

    private let limits: HTTPServiceLimits
    private var part = Part.requestLine
    private var buffer: [UInt8] = []
    /// The index of the first byte that hasn't been parsed yet.
    private var position = 0
    private var request = ServedRequest(.get, "/")
    /// The total size of the request line, the headers and the trailers so far, in bytes.
    private var headBytes = 0
    private var isVersion10 = false
    private var expectsContinue = false

    package init(limits: HTTPServiceLimits) { self.limits = limits }

    /// Adds bytes from the client.
    package mutating func append(_ bytes: some Sequence<UInt8>) {
        buffer.removeFirst(position)
        position = 0
        buffer.append(contentsOf: bytes)
    }

    /// Whether no byte of the next request has arrived.
    package var isBetweenRequests: Bool {
        if case .requestLine = part { position == buffer.count } else { false }
    }

    /// Returns whether to send `100 Continue`, for which the client is waiting before it sends the body. Returns `true`
    /// only once per request.
    package mutating func takeContinue() -> Bool { exchange(&expectsContinue, with: false) }

    /// Returns the next request; `nil` if it isn't complete yet.
    package mutating func nextRequest() throws(HTTPRequestError) -> ServedRequest? {
        while true {
            switch part {
            case .requestLine:
                guard let line = try nextHeadLine(else: .malformedRequestLine) else { return nil }
                // One empty line may precede a request (RFC 9112, section 2.2).
                if line.isEmpty, request.byteCount == 2 { continue }
                try startRequest(line)
                part = .headers
            case .headers:
                guard let line = try nextHeadLine(else: .malformedHeader) else { return nil }
                if line.isEmpty { part = try finishHeaders() } else { try addHeader(line) }
            case .body(let length):
                guard let body = consume(length) else { return nil }
                request.body = Array(body)
                part = .end
            case .chunkSize:
                guard let line = try nextLine(limit: 256, tooLong: .malformedChunk, else: .malformedChunk) else {
                    return nil
                }
                let length = try chunkLength(in: line)
                part = length == 0 ? .trailers : .chunk(length: length)
            case .chunk(let length):
                guard let chunk = consume(length + 2) else { return nil }
                guard chunk.suffix(2).elementsEqual("\r\n".utf8) else { throw .malformedChunk }
                request.body += chunk.dropLast(2)
                part = .chunkSize
            case .trailers:
                guard let line = try nextHeadLine(else: .malformedHeader) else { return nil }
                if line.isEmpty { part = .end } else { _ = try headerField(in: line) }
            case .end:
                let complete = request
                request = ServedRequest(.get, "/")
                headBytes = 0
                expectsContinue = false
                part = .requestLine
                return complete
            }
        }
    }

    // MARK: Bytes

    /// Returns the next line without its CRLF, or `nil` if it isn't complete.
    ///
    /// The limit applies whether or not the end of the line has arrived, so that the result doesn't depend on how the
    /// bytes were split.
    private mutating func nextLine(
        limit: Int, tooLong: HTTPRequestError, else malformed: HTTPRequestError
    ) throws(HTTPRequestError) -> ArraySlice<UInt8>? {
        let rest = buffer[position...]
        let end = rest.firstIndex(of: UInt8(ascii: "\n"))
        guard (end ?? rest.endIndex) - position <= limit + 1 else { throw tooLong }
        guard let end, let line = consume(end + 1 - position) else { return nil }
        guard line.suffix(2).elementsEqual("\r\n".utf8) else { throw malformed }
        return line.dropLast(2)
    }

    private mutating func nextHeadLine(else malformed: HTTPRequestError) throws(HTTPRequestError) -> ArraySlice<UInt8>?
    {
        let tooLarge = HTTPRequestError.headTooLarge(limit: limits.headBytes)
        let limit = max(0, limits.headBytes - headBytes)
        guard let line = try nextLine(limit: limit, tooLong: tooLarge, else: malformed) else { return nil }
        headBytes += line.count + 2
        return line
    }

    /// Returns the next `count` bytes, or `nil` if they haven't all arrived.
    private mutating func consume(_ count: Int) -> ArraySlice<UInt8>? {
        guard buffer.count - position >= count else { return nil }
        let bytes = buffer[position..<position + count]
        position += count
        request.byteCount += count
        return bytes
    }

    // MARK: Head

    private mutating func startRequest(_ line: ArraySlice<UInt8>) throws(HTTPRequestError) {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(HTTPHeaders.isTokenByte),
            parts[1].first == UInt8(ascii: "/"),
            parts[1].allSatisfy({ (0x21...0x7E).contains($0) }), parts[2].starts(with: "HTTP/".utf8)
        else { throw .malformedRequestLine }
        isVersion10 = parts[2].elementsEqual("HTTP/1.0".utf8)
        guard isVersion10 || parts[2].elementsEqual("HTTP/1.1".utf8) else { throw .unsupportedVersion }
        let name = String(decoding: parts[0], as: UTF8.self)
        guard let method = HTTPMethod(rawValue: name) else { throw .unknownMethod(ReportedText(name, limit: 32)) }
        request.method = method
        request.target = String(decoding: parts[1], as: UTF8.self)
    }

    private mutating func addHeader(_ line: ArraySlice<UInt8>) throws(HTTPRequestError) {
        guard request.headers.fields.count < limits.headerCount else {
            throw .tooManyHeaders(limit: limits.headerCount)
        }
        let (name, value) = try headerField(in: line)
        request.headers.append(name: name, value: value)
    }

    private func headerField(in line: ArraySlice<UInt8>) throws(HTTPRequestError) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(HTTPHeaders.isTokenByte)
        else { throw .malformedHeader }
        let value = line[(colon + 1)...].trimming(isBlank)
        guard value.allSatisfy({ isBlank($0) || ($0 > 0x20 && $0 != 0x7F) }) else { throw .malformedHeader }
        return (String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    private func values(of name: String) -> [String] {
        request.headers.fields.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// Checks the headers once they are complete, and records whether the connection is kept alive. Returns the part
    /// that follows the headers.
    private mutating func finishHeaders() throws(HTTPRequestError) -> Part {
        let hosts = values(of: "host").count
        guard hosts == 1 || (isVersion10 && hosts == 0) else { throw .missingHost }
        let connection = values(of: "connection").flatMap { $0.lowercased().split(separator: ",") }
            .map { (option: Substring) in option.trimming { $0 == " " || $0 == "\t" } }
        request.keepsAlive = isVersion10 ? connection.contains("keep-alive") : !connection.contains("close")
        let lengths = values(of: "content-length")
        let codings = values(of: "transfer-encoding")
        guard lengths.count + codings.count <= 1, !(isVersion10 && !codings.isEmpty) else { throw .conflictingLength }
        var part = Part.end
        if let coding = codings.first {
            guard coding.lowercased() == "chunked" else {
                throw .unsupportedTransferCoding(ReportedText(coding, limit: 32))
            }
            part = .chunkSize
        } else if let text = lengths.first {
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .malformedLength }
            guard let length = Int(text), length <= limits.bodyBytes else {
                throw .bodyTooLarge(limit: limits.bodyBytes)
            }
            if length > 0 { part = .body(length: length) }
        } else if [.post, .put, .patch].contains(request.method) {
            throw .lengthRequired
        }
        if case .end = part { return part }
        expectsContinue = !isVersion10 && values(of: "expect").contains { $0.lowercased() == "100-continue" }
        return part
    }

    /// Returns the size of a chunk. Chunk extensions, which follow a semicolon, are ignored (RFC 9112, section 7.1.1).
    private func chunkLength(in line: ArraySlice<UInt8>) throws(HTTPRequestError) -> Int {
        let digits = line.prefix { $0 != UInt8(ascii: ";") }
        guard (1...8).contains(digits.count) else { throw .malformedChunk }
        var length = 0
        for byte in digits {
            guard let digit = hexadecimalDigit(byte) else { throw .malformedChunk }
            length = length << 4 | Int(digit)
        }
        guard length <= limits.bodyBytes - request.body.count else { throw .bodyTooLarge(limit: limits.bodyBytes) }
        return length
    }
}

private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

/// The reason for rejecting a request. The client receives `status` and `description` in the response, and then the
/// connection is closed.
package struct HTTPRequestError: Error, Sendable, Hashable, CustomStringConvertible {
    package let status: Int
    package let description: String

    private init(_ status: Int, _ description: String) {
        self.status = status
        self.description = description
    }

    package static let malformedRequestLine = Self(
        400, "the request line is malformed; it must have the form METHOD /PATH HTTP/1.1")
    package static let unsupportedVersion = Self(505, "only HTTP/1.1 and HTTP/1.0 are supported")
    package static let malformedHeader = Self(400, "a header line is malformed")
    package static let missingHost = Self(400, "an HTTP/1.1 request must have exactly one Host header")
    package static let foreignSite = Self(
        403, "pages from other sites may not send requests here; enter the address in the browser instead")
    package static let conflictingLength = Self(400, "the request states its length twice")
    package static let malformedLength = Self(400, "Content-Length is not a number")
    package static let lengthRequired = Self(
        411, "a request with this method must state its length (Content-Length), 0 if it has no body")
    package static let malformedChunk = Self(400, "the chunked body is malformed")
    package static let timedOut = Self(408, "the request took too long to arrive")

    package static func unknownMethod(_ method: ReportedText) -> Self {
        Self(501, "the method \(method) is not implemented")
    }
    package static func misdirected(host: ReportedText) -> Self {
        Self(421, "the host \"\(host)\" is not served here; use 127.0.0.1, [::1] or localhost")
    }
    package static func foreignOrigin(_ origin: ReportedText) -> Self {
        Self(403, "pages from \"\(origin)\" may not send requests here; only pages from this machine may")
    }
    package static func unsupportedTransferCoding(_ coding: ReportedText) -> Self {
        Self(501, "the transfer coding \"\(coding)\" is not implemented; use chunked")
    }
    package static func headTooLarge(limit: Int) -> Self {
        Self(431, "request line and headers are larger than \(limit) bytes")
    }
    package static func tooManyHeaders(limit: Int) -> Self { Self(431, "there are more than \(limit) headers") }
    package static func bodyTooLarge(limit: Int) -> Self { Self(413, "the body is larger than \(limit) bytes") }
}

/// The limits on the resources that clients may use.
package struct HTTPServiceLimits: Sendable, Hashable {
    /// The maximum total size of the request line, headers and trailers, in bytes.
    package var headBytes: Int
    package var headerCount: Int
    package var bodyBytes: Int
    /// The maximum time for which a connection may be idle, a request may take to arrive, or a client may take to read
    /// the response.
    package var timeout: Duration
    /// The maximum number of open connections. If it is exceeded, the oldest connection that has no request in progress
    /// is closed.
    package var connections: Int

    package init(
        headBytes: Int = 16384, headerCount: Int = 64, bodyBytes: Int = 1 << 20, timeout: Duration = .seconds(60),
        connections: Int = 64
    ) {
        self.headBytes = headBytes
        self.headerCount = headerCount
        self.bodyBytes = bodyBytes
        self.timeout = timeout
        self.connections = connections
    }
}
