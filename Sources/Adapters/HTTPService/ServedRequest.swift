package import HTTPMessages

/// A complete request that the service has received.
package struct ServedRequest: Sendable, Hashable {
    package var method: HTTPMethod
    /// The path and the query from the request line. The path begins with `/`.
    package var target: String
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// Whether the connection stays open for another request.
    package var keepsAlive: Bool
    /// The number of bytes that the request took on the connection, including headers and chunk framing.
    package var byteCount: Int

    package init(
        _ method: HTTPMethod, _ target: String, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [],
        keepsAlive: Bool = true, byteCount: Int = 0
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.keepsAlive = keepsAlive
        self.byteCount = byteCount
    }

    /// The part of the target before the query, still percent-encoded.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The segments of the path, percent-decoded; `nil` if the encoding is malformed.
    ///
    /// The path is split before it is decoded, so that an encoded slash (`%2F`) doesn't split a segment.
    package var pathSegments: [String]? {
        decodedParts(path.dropFirst().split(separator: "/", omittingEmptySubsequences: false))
    }

    /// The query's `name=value` pairs in order, percent-decoded; `nil` if the encoding is malformed.
    package var queryItems: [(name: String, value: String)]? {
        guard let mark = target.firstIndex(of: "?") else { return [] }
        var items: [(name: String, value: String)] = []
        for pair in target[target.index(after: mark)...].split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let decoded = decodedParts(halves) else { return nil }
            items.append((decoded[0], decoded.count > 1 ? decoded[1] : ""))
        }
        return items
    }

    private func decodedParts(_ parts: [Substring]) -> [String]? {
        let decoded = parts.compactMap(percentDecoded)
        return decoded.count == parts.count ? decoded : nil
    }
}

/// Returns `text` with every `%XX` decoded. Returns `nil` if a percent sign isn't followed by two hexadecimal digits,
/// or if the decoded bytes aren't UTF-8.
private func percentDecoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
            bytes.append(byte)
            continue
        }
        guard let high = rest.popFirst().flatMap(hexadecimalDigit), let low = rest.popFirst().flatMap(hexadecimalDigit)
        else { return nil }
        bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
}

func hexadecimalDigit(_ byte: UInt8) -> UInt8? { Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) } }
