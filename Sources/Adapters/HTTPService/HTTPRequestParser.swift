import HTTPMessages
package import ReportedText

/// Turns the bytes of one connection into requests (RFC 9112), in whatever pieces they arrive.
///
/// Strict where leniency lets two parsers disagree on where a request ends: CRLF only, no folded lines, no space
/// before a colon, one length. It holds at most one request and what was appended behind it.
package struct HTTPRequestParser: Sendable {
    private enum State: Sendable {
        case requestLine
        case headers
        case body(remaining: Int)
        case chunkSize
        case chunk(remaining: Int)
        case chunkEnd
        case trailers
        case failed(HTTPRequestError)
    }

    private let limits: HTTPServiceLimits
    private var state = State.requestLine
    private var buffer: [UInt8] = []
    /// Everything before it is parsed.
    private var position = 0
    /// Everything before it holds no line end that is not parsed.
    private var searched = 0
    private var request = ServedRequest(.get, "/")
    private var sectionBytes = 0
    private var isVersion10 = false
    private var owesContinue = false

    package init(limits: HTTPServiceLimits) { self.limits = limits }

    /// Takes bytes as they come from the client.
    package mutating func append(_ bytes: some Sequence<UInt8>) { buffer.append(contentsOf: bytes) }

    /// Whether no byte of a next request has come.
    package var isBetweenRequests: Bool {
        if case .requestLine = state { position == buffer.count } else { false }
    }

    /// Whether the client waits for `100 Continue` before it sends the body; true once a request.
    package mutating func takeContinue() -> Bool { exchange(&owesContinue, with: false) }

    /// The next complete request; `nil` when more bytes are needed. After an error there is nothing more to be had.
    package mutating func next() throws(HTTPRequestError) -> ServedRequest? {
        do throws(HTTPRequestError) {
            while true {
                switch try step() {
                case .goOn: continue
                case .needsBytes: return nil
                case .complete(let request): return request
                }
            }
        } catch {
            state = .failed(error)
            buffer = []
            position = 0
            searched = 0
            throw error
        }
    }

    /// What one line, or one piece of a body, led to.
    private enum Step {
        case goOn
        case needsBytes
        case complete(ServedRequest)
    }

    private mutating func step() throws(HTTPRequestError) -> Step {
        switch state {
        case .failed(let error): throw error
        case .requestLine:
            let tooLong = HTTPRequestError.requestLineTooLong(limit: limits.requestLineBytes)
            guard let line = try line(limit: limits.requestLineBytes, tooLong) else { return .needsBytes }
            if line.isEmpty, request.byteCount == 2 { return .goOn }  // RFC 9112, 2.2: one empty line may precede
            try startRequest(line)
        case .headers:
            guard let line = try headerLine() else { return .needsBytes }
            guard line.isEmpty else {
                try addHeader(line)
                return .goOn
            }
            if try startBody() { return finish() }
        case .body(let remaining):
            let taken = takeBody(remaining)
            state = .body(remaining: remaining - taken)
            return taken == remaining ? finish() : .needsBytes
        case .chunkSize:
            guard let line = try line(limit: 256, .malformedChunk) else { return .needsBytes }
            try startChunk(line)
        case .chunk(let remaining):
            let taken = takeBody(remaining)
            state = taken == remaining ? .chunkEnd : .chunk(remaining: remaining - taken)
            if taken < remaining { return .needsBytes }
        case .chunkEnd:
            guard try line(limit: 0, .malformedChunk) != nil else { return .needsBytes }
            state = .chunkSize
        case .trailers:
            guard let line = try headerLine() else { return .needsBytes }
            if line.isEmpty { return finish() }
            _ = try field(line)  // checked and dropped: nothing here needs a trailer
        }
        return .goOn
    }

    // MARK: Lines

    /// The next line without its CRLF, of at most `limit` bytes; `nil` when it is not complete.
    private mutating func line(
        limit: Int, _ tooLong: @autoclosure () -> HTTPRequestError
    ) throws(HTTPRequestError) -> ArraySlice<UInt8>? {
        guard let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = buffer.count
            guard buffer.count - position <= limit + 1 else { throw tooLong() }  // all but the LF may be there
            return nil
        }
        // Judged as above, so that the verdict does not depend on how the bytes were cut.
        guard end - position <= limit + 1 else { throw tooLong() }
        guard end > position, buffer[end - 1] == UInt8(ascii: "\r") else {
            if case .requestLine = state { throw .malformedRequestLine }
            if case .headers = state { throw .malformedHeader }
            if case .trailers = state { throw .malformedHeader }
            throw .malformedChunk
        }
        let line = buffer[position..<end - 1]
        request.byteCount += end + 1 - position
        position = end + 1
        searched = end + 1
        return line
    }

    private mutating func headerLine() throws(HTTPRequestError) -> ArraySlice<UInt8>? {
        let tooLarge = HTTPRequestError.headersTooLarge(limit: limits.headerBytes)
        guard let line = try line(limit: max(0, limits.headerBytes - sectionBytes), tooLarge) else { return nil }
        sectionBytes += line.count + 2
        return line
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
        request = ServedRequest(method, String(decoding: parts[1], as: UTF8.self), byteCount: request.byteCount)
        sectionBytes = 0
        state = .headers
    }

    private mutating func addHeader(_ line: ArraySlice<UInt8>) throws(HTTPRequestError) {
        guard request.headers.fields.count < limits.headerCount else {
            throw .tooManyHeaders(limit: limits.headerCount)
        }
        let (name, value) = try field(line)
        request.headers.append(name, value)
    }

    private func field(_ line: ArraySlice<UInt8>) throws(HTTPRequestError) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(HTTPHeaders.isTokenByte)
        else { throw .malformedHeader }
        let value = line[(colon + 1)...].trimming(isBlank)
        guard value.allSatisfy({ isBlank($0) || ($0 > 0x20 && $0 != 0x7F) }) else { throw .malformedHeader }
        return (String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    /// Reads from the headers how the body is framed; true when there is none.
    private mutating func startBody() throws(HTTPRequestError) -> Bool {
        let hosts = values(of: "Host").count
        guard hosts == 1 || (isVersion10 && hosts == 0) else { throw .missingHost }
        let connection = values(of: "Connection").flatMap { $0.lowercased().split(separator: ",") }
            .map { (option: Substring) in option.trimming { $0 == " " || $0 == "\t" } }
        request.keepsAlive = isVersion10 ? connection.contains("keep-alive") : !connection.contains("close")
        let lengths = values(of: "Content-Length")
        let codings = values(of: "Transfer-Encoding")
        guard lengths.count + codings.count <= 1, !(isVersion10 && !codings.isEmpty) else { throw .conflictingLength }
        if let coding = codings.first {
            guard coding.lowercased() == "chunked" else {
                throw .unsupportedTransferCoding(ReportedText(coding, limit: 32))
            }
            state = .chunkSize
        } else if let text = lengths.first {
            guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
                throw .malformedLength
            }
            guard let length = Int(text), length <= limits.bodyBytes else {
                throw .bodyTooLarge(limit: limits.bodyBytes)
            }
            if length == 0 { return true }
            state = .body(remaining: length)
        } else {
            guard ![.post, .put, .patch].contains(request.method) else { throw .lengthRequired }
            return true
        }
        owesContinue = !isVersion10 && values(of: "Expect").contains { $0.lowercased() == "100-continue" }
        return false
    }

    private func values(of name: String) -> [String] {
        let name = name.lowercased()
        return request.headers.fields.filter { $0.name.lowercased() == name }.map(\.value)
    }

    // MARK: Body

    private mutating func startChunk(_ line: ArraySlice<UInt8>) throws(HTTPRequestError) {
        let digits = line.prefix { $0 != UInt8(ascii: ";") }  // what follows is an extension, which may be ignored
        guard (1...8).contains(digits.count) else { throw .malformedChunk }
        var size = 0
        for byte in digits {
            guard let digit = hexadecimalDigit(byte) else { throw .malformedChunk }
            size = size << 4 | Int(digit)
        }
        guard size <= limits.bodyBytes - request.body.count else { throw .bodyTooLarge(limit: limits.bodyBytes) }
        sectionBytes = 0
        state = size == 0 ? .trailers : .chunk(remaining: size)
    }

    private mutating func takeBody(_ remaining: Int) -> Int {
        let count = min(remaining, buffer.count - position)
        request.body.append(contentsOf: buffer[position..<position + count])
        request.byteCount += count
        position += count
        searched = position
        compact()
        return count
    }

    private mutating func finish() -> Step {
        defer {
            request = ServedRequest(.get, "/")
            state = .requestLine
            compact()
        }
        return .complete(request)
    }

    /// Only when it halves the buffer: small pieces of a large one would else move all the others each time.
    private mutating func compact() {
        guard position * 2 >= buffer.count else { return }
        buffer.removeSubrange(..<position)
        position = 0
        searched = 0
    }
}

private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

/// Why a byte stream is not an acceptable request; the connection is closed after the answer.
package enum HTTPRequestError: Error, Sendable, Hashable, CustomStringConvertible {
    case malformedRequestLine
    case unsupportedVersion
    case unknownMethod(ReportedText)
    case malformedHeader
    case missingHost
    case misdirected(host: ReportedText)
    case foreignOrigin(ReportedText)
    case foreignSite
    case conflictingLength
    case malformedLength
    case lengthRequired
    case unsupportedTransferCoding(ReportedText)
    case malformedChunk
    case requestLineTooLong(limit: Int)
    case headersTooLarge(limit: Int)
    case tooManyHeaders(limit: Int)
    case bodyTooLarge(limit: Int)
    case timedOut

    /// The status that the client is answered with.
    package var status: Int {
        switch self {
        case .malformedRequestLine, .malformedHeader, .missingHost, .conflictingLength, .malformedLength,
            .malformedChunk:
            400
        case .foreignOrigin, .foreignSite: 403
        case .timedOut: 408
        case .lengthRequired: 411
        case .bodyTooLarge: 413
        case .requestLineTooLong: 414
        case .misdirected: 421
        case .headersTooLarge, .tooManyHeaders: 431
        case .unknownMethod, .unsupportedTransferCoding: 501
        case .unsupportedVersion: 505
        }
    }

    package var description: String {
        switch self {
        case .malformedRequestLine: "the request line is malformed; it must read METHOD /PATH HTTP/1.1"
        case .unsupportedVersion: "only HTTP/1.1 and HTTP/1.0 are spoken here"
        case .unknownMethod(let method): "the method \(method) is not implemented"
        case .malformedHeader: "a header line is malformed"
        case .missingHost: "an HTTP/1.1 request must have exactly one Host header"
        case .misdirected(let host):
            "the host \"\(host)\" is not served here; use 127.0.0.1, [::1] or localhost"
        case .foreignOrigin(let origin):
            "pages of \"\(origin)\" have no access; only pages of this machine have"
        case .foreignSite: "pages of other sites have no access; enter the address in the browser instead"
        case .conflictingLength: "the request states its length twice"
        case .malformedLength: "Content-Length is not a number"
        case .lengthRequired:
            "a request with this method must state its length (Content-Length), 0 for one without a body"
        case .unsupportedTransferCoding(let coding): "the transfer coding \"\(coding)\" is not implemented; use chunked"
        case .malformedChunk: "the chunked body is malformed"
        case .requestLineTooLong(let limit): "the request line is longer than \(limit) bytes"
        case .headersTooLarge(let limit): "the headers are larger than \(limit) bytes"
        case .tooManyHeaders(let limit): "there are more than \(limit) headers"
        case .bodyTooLarge(let limit): "the body is larger than \(limit) bytes"
        case .timedOut: "the request took too long to arrive"
        }
    }
}

/// What a client may cost the service. Every size and time is bounded, so that no client can block it.
package struct HTTPServiceLimits: Sendable, Hashable {
    /// Method, target and version.
    package var requestLineBytes: Int
    /// All header lines together; the trailers of a chunked body count separately.
    package var headerBytes: Int
    package var headerCount: Int
    package var bodyBytes: Int
    /// Between two requests of a connection; then it is closed without a word.
    package var idle: Duration
    /// From a request's first byte to its last, and again for a client to take the answer.
    package var exchange: Duration
    /// Open at the same time; for one more, the connection that has asked for nothing for the longest time is closed,
    /// so that clients that only hold connections shut no other out.
    package var connections: Int
    /// Whether the service answers at most 50 requests a second, so that it costs at most a tenth of a processor core.
    package var isPaced: Bool

    package init(
        requestLineBytes: Int = 8192, headerBytes: Int = 16384, headerCount: Int = 64, bodyBytes: Int = 1 << 20,
        idle: Duration = .seconds(60), exchange: Duration = .seconds(30), connections: Int = 64,
        isPaced: Bool = false
    ) {
        self.requestLineBytes = requestLineBytes
        self.headerBytes = headerBytes
        self.headerCount = headerCount
        self.bodyBytes = bodyBytes
        self.idle = idle
        self.exchange = exchange
        self.connections = connections
        self.isPaced = isPaced
    }
}
