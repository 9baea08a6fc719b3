package import ReportedText

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
            "pages of \"\(origin)\" may ask for nothing here; only pages of this machine may"
        case .foreignSite: "pages of other sites may ask for nothing here; enter the address in the browser instead"
        case .conflictingLength: "the request states its length twice"
        case .malformedLength: "Content-Length is not a number"
        case .lengthRequired: "a request with this method must state its length"
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
