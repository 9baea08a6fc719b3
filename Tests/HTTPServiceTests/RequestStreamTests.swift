import HTTPMessages
import HTTPService
import ReportedText
import Testing

/// The requests that a parser read from a stream, and the error that ended it.
private struct ParsedStream: Equatable, CustomTestStringConvertible {
    var requests: [String] = []
    var error: HTTPRequestError?

    init(_ pieces: [[UInt8]], limits: HTTPServiceLimits) {
        var parser = HTTPRequestParser(limits: limits)
        for piece in pieces where error == nil {
            parser.append(piece)
            do {
                while let request = try parser.nextRequest() {
                    requests.append(
                        "\(request.method.rawValue) \(request.target) \(request.keepsAlive ? "+" : "-") "
                            + "\(request.byteCount) \(String(decoding: request.body, as: UTF8.self))")
                }
            } catch { self.error = error }
        }
    }

    var testDescription: String { "\(requests) \(error.map { "\($0)" } ?? "")" }
}

private let smallLimits = HTTPServiceLimits(headBytes: 100, headerCount: 3, bodyBytes: 10)

@Suite struct RequestStream {
    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", ["GET / + 27 "]),
        ("\r\nGET /x?y=1 HTTP/1.1\r\nHost: a\r\n\r\n", ["GET /x?y=1 + 34 "]),
        ("GET / HTTP/1.1\r\nhost:a\r\nConnection: keep-alive , Close\r\n\r\n", ["GET / - 58 "]),
        ("GET / HTTP/1.0\r\n\r\n", ["GET / - 18 "]),
        ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", ["GET / + 42 "]),
        ("PUT /v HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", ["PUT /v + 50 abc"]),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", ["POST / + 47 "]),
        (
            "PATCH / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n",
            ["PATCH / + 87 abcde"]
        ),
        (
            "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPUT /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nxDELETE /3 HTTP/1.1\r\nHost: a\r\n\r\n",
            ["GET /1 + 28 ", "PUT /2 + 48 x", "DELETE /3 + 31 "]
        ),
    ])
    func isSplitIntoRequests(text: String, requests: [String]) {
        let bytes = Array(text.utf8)
        let whole = ParsedStream([bytes], limits: HTTPServiceLimits())
        #expect(whole.requests == requests)
        #expect(whole.error == nil)
        for cut in bytes.indices {
            #expect(
                ParsedStream([Array(bytes[..<cut]), Array(bytes[cut...])], limits: HTTPServiceLimits()) == whole,
                "cut at \(cut)")
        }
        #expect(ParsedStream(bytes.map { [$0] }, limits: HTTPServiceLimits()) == whole, "byte by byte")
    }

    @Test(arguments: [
        "GET /aaaaaaaaaaaa\n", "GET /aaaaaaaaaaaa HTTP/1.1\r\n", "GET /aaa\n", "\u{5}\u{0}aaaaaaaaaaaaaaaa\r\n",
    ])
    func isParsedTheSameInPiecesOfAnyLength(text: String) {
        var limits = HTTPServiceLimits()
        limits.headBytes = 10
        let bytes = Array(text.utf8)
        let whole = ParsedStream([bytes], limits: limits)
        for cut in bytes.indices {
            #expect(
                ParsedStream([Array(bytes[..<cut]), Array(bytes[cut...])], limits: limits) == whole, "cut at \(cut)")
        }
    }

    @Test(arguments: [
        ("GET\r\n", HTTPRequestError.malformedRequestLine), ("GET  / HTTP/1.1\r\n", .malformedRequestLine),
        (" GET / HTTP/1.1\r\n", .malformedRequestLine), ("GET x HTTP/1.1\r\n", .malformedRequestLine),
        ("GET http://a/ HTTP/1.1\r\n", .malformedRequestLine), ("GET / HTTP/1.1\n", .malformedRequestLine),
        ("GET /\u{1} HTTP/1.1\r\n", .malformedRequestLine), ("GET /é HTTP/1.1\r\n", .malformedRequestLine),
        ("\r\n\r\n", .malformedRequestLine), ("G(T / HTTP/1.1\r\n", .malformedRequestLine),
        ("GET / XTTP/1.1\r\n", .malformedRequestLine),
        ("GET / HTTP/2.0\r\n", .unsupportedVersion), ("GET / HTTP/1.1x\r\n", .unsupportedVersion),
        ("BREW / HTTP/1.1\r\n", .unknownMethod("BREW")), ("get / HTTP/1.1\r\n", .unknownMethod("get")),
        ("GET / HTTP/1.1\r\nHost a\r\n", .malformedHeader), ("GET / HTTP/1.1\r\nHost : a\r\n", .malformedHeader),
        ("GET / HTTP/1.1\r\nHost: a\r\n b\r\n", .malformedHeader), ("GET / HTTP/1.1\r\n: a\r\n", .malformedHeader),
        ("GET / HTTP/1.1\r\nHost: a\n", .malformedHeader), ("GET / HTTP/1.1\r\nX: a\u{0}b\r\n", .malformedHeader),
        ("GET / HTTP/1.1\r\nX: a\rb\r\n", .malformedHeader), ("GET / HTTP/1.1\r\n\r\n", .missingHost),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", .missingHost),
        ("PUT / HTTP/1.1\r\nHost: a\r\n\r\n", .lengthRequired), ("POST / HTTP/1.0\r\n\r\n", .lengthRequired),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", .conflictingLength),
        (
            "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", .conflictingLength
        ),
        ("PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", .conflictingLength),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", .malformedLength),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1,1\r\n\r\n", .malformedLength),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", .malformedLength),
        ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", .unsupportedTransferCoding("gzip")),
        ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", .malformedChunk),
        ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", .malformedChunk),
        ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", .malformedChunk),
        ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n000000001\r\n", .malformedChunk),
        ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno colon\r\n", .malformedHeader),
    ])
    func isRejected(text: String, error: HTTPRequestError) {
        let bytes = Array(text.utf8)
        #expect(ParsedStream([bytes], limits: HTTPServiceLimits()).error == error)
        #expect(ParsedStream(bytes.map { [$0] }, limits: HTTPServiceLimits()).error == error, "byte by byte")
    }

    @Test(arguments: [
        ("GET /" + String(repeating: "x", count: 97), HTTPRequestError.headTooLarge(limit: 100), 431),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "x", count: 80), .headTooLarge(limit: 100), 431),
        ("GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 1\r\nC: 1\r\n", .tooManyHeaders(limit: 3), 431),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n", .bodyTooLarge(limit: 10), 413),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", .bodyTooLarge(limit: 10), 413),
        ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n", .bodyTooLarge(limit: 10), 413),
        (
            "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n5\r\n",
            .bodyTooLarge(limit: 10), 413
        ),
        ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", .bodyTooLarge(limit: 10), 413),
        (
            "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + String(repeating: "x", count: 63),
            .headTooLarge(limit: 100), 431
        ),
    ])
    func isRejectedAboveItsLimits(text: String, error: HTTPRequestError, status: Int) {
        let bytes = Array(text.utf8)
        #expect(ParsedStream([bytes], limits: smallLimits).error == error)
        #expect(ParsedStream(bytes.map { [$0] }, limits: smallLimits).error == error, "byte by byte")
        #expect(error.status == status)
    }

    @Test func isAcceptedUpToItsLimits() {
        let text = "GET /\(String(repeating: "x", count: 61)) HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 1\r\n\r\n"
        #expect(ParsedStream([Array(text.utf8)], limits: smallLimits).requests.count == 1)
        let body = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789"
        #expect(ParsedStream([Array(body.utf8)], limits: smallLimits).requests.count == 1)
    }

    @Test func reportsAClientThatExpects100Continue() throws {
        var parser = HTTPRequestParser(limits: HTTPServiceLimits())
        parser.append("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n".utf8)
        let incomplete = try parser.nextRequest()
        #expect(incomplete == nil)
        let asked = [parser.takeContinue(), parser.takeContinue()]
        #expect(asked == [true, false])
        parser.append("x".utf8)
        let complete = try parser.nextRequest()
        #expect(complete?.body == [0x78])
        #expect(parser.isBetweenRequests)
    }
}

@Suite struct RequestTarget {
    @Test(
        arguments: [
            ("/", [""]), ("/a/b", ["a", "b"]), ("/a%2Fb/c", ["a/b", "c"]), ("/a?b/c", ["a"]), ("/a/", ["a", ""]),
            ("/%C3%A9", ["é"]), ("/%zz", nil), ("/%4", nil), ("/%ff", nil),
        ] as [(String, [String]?)])
    func hasDecodedPathSegments(target: String, segments: [String]?) {
        #expect(ServedRequest(.get, target).pathSegments == segments)
    }

    @Test(
        arguments: [
            ("/", []), ("/?", []), ("/?a=1&b=%20x&c", ["a=1", "b= x", "c="]), ("/?a=b=c", ["a=b=c"]), ("/?a=%", nil),
        ] as [(String, [String]?)])
    func hasDecodedQueryItems(target: String, items: [String]?) {
        #expect(ServedRequest(.get, target).queryItems.map { $0.map { "\($0.name)=\($0.value)" } } == items)
    }
}
