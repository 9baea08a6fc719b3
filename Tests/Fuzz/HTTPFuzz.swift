// Fuzzes the HTTP request parser; scripts/fuzz-http compiles this file and the parser's sources as one module.

/// Tests one input, whose first byte determines where it is cut. The parser must neither trap nor depend on the cuts.
@c(LLVMFuzzerTestOneInput)
public func fuzzHTTPRequestParser(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    guard let cut = bytes.first else { return 0 }
    let stream = bytes.dropFirst()
    let whole = parse([stream])
    let middle = stream.index(stream.startIndex, offsetBy: stream.isEmpty ? 0 : Int(cut) % stream.count)
    precondition(
        parse([stream[..<middle], stream[middle...]]) == whole, "the requests depend on where the stream is cut")
    if stream.count < 512 {
        precondition(
            parse(stream.indices.map { stream[$0...$0] }) == whole,
            "the requests differ if the stream arrives byte by byte")
    }
    let parsedBytes = whole.requests.reduce(0) { $0 + $1.byteCount }
    precondition(parsedBytes <= stream.count, "the requests are longer than the stream")
    for request in whole.requests {
        precondition(request.target.utf8.count <= limits.headBytes && request.body.count <= limits.bodyBytes)
        precondition(request.headers.fields.count <= limits.headerCount)
        _ = (request.pathSegments, request.queryItems?.count)
    }
    return 0
}

private struct ParseResult: Equatable {
    var requests: [ServedRequest] = []
    var error: HTTPRequestError?
}

private let limits = HTTPServiceLimits(headBytes: 600, headerCount: 8, bodyBytes: 300)

private func parse(_ pieces: [ArraySlice<UInt8>]) -> ParseResult {
    var parser = HTTPRequestParser(limits: limits)
    var parsed = ParseResult()
    for piece in pieces {
        parser.append(piece)
        do {
            while let request = try parser.nextRequest() { parsed.requests.append(request) }
        } catch {
            parsed.error = error
            return parsed
        }
    }
    return parsed
}
