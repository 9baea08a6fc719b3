package import HTTPMessages

/// A complete request that a client sent.
package struct ServedRequest: Sendable, Hashable {
    package var method: HTTPMethod
    /// The path and the query of the request line. It begins with `/`.
    package var target: String
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// Whether the client may use the connection again.
    package var keepsAlive: Bool
    /// The number of bytes of the request on the wire, including head and framing.
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

    /// The target up to its query, still percent-encoded.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The path's parts, percent-decoded; `nil` if the encoding is malformed.
    ///
    /// The path is split before it is decoded, so that `%2F` inside a part doesn't divide it.
    package var pathSegments: [String]? {
        decodedParts(path.dropFirst().split(separator: "/", omittingEmptySubsequences: false))
    }

    /// The query's `name=value` pairs, percent-decoded, in order; `nil` if the encoding is malformed.
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

/// Returns `text` with its `%XX` decoded; `nil` if a percent sign has no two digits or the bytes aren't UTF-8.
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
