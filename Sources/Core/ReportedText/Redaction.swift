/// The removal of secrets from foreign text. It finds known secrets, labelled values, JSON Web Tokens and private keys,
/// whether they are plain or encoded.
struct Redaction: Sendable {
    /// The maximum number of encodings, nested in each other, that are decoded.
    private static let maximumEncodings = 3
    /// The maximum number of bytes that are read beyond the bytes that can be shown. It limits the time for long text.
    private static let maximumExcess = 8 << 10
    /// The number of bytes that are hidden at the end of text that wasn't read completely. A secret may have been cut
    /// at the end, and its first few characters aren't enough to recognise it.
    private static let hiddenEnd = 512

    private let secrets: KnownSecrets

    init(_ secrets: [String]) { self.secrets = KnownSecrets(secrets) }

    /// Returns `text` without JSON Web Tokens and private keys.
    static func withoutTokensAndKeys(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var mask = RedactionMask(count: bytes.count)
        for range in tokensAndKeys(in: bytes) { mask.redact(range) }
        return String(decoding: mask.applied(to: bytes), as: UTF8.self)
    }

    /// Returns `source` with `…` in place of each secret. Reads only the first `limit` bytes of a long `source`, and a
    /// fixed number of bytes after them.
    func applied(to source: some Sequence<UInt8>, limit: Int) -> String {
        let maximum = limit + Self.maximumExcess
        let bytes = Array(source.prefix(maximum + 1))
        var mask = RedactionMask(count: bytes.count)
        redact(DecodedText(bytes), encodings: Self.maximumEncodings, in: &mask)
        if bytes.count > maximum { mask.redact(maximum - Self.hiddenEnd..<bytes.count) }
        return String(decoding: mask.applied(to: bytes), as: UTF8.self)
    }

    private static func tokensAndKeys(in text: [UInt8]) -> [Range<Int>] {
        JSONWebTokens.ranges(in: text) + PrivateKeys.ranges(in: text)
    }

    private func redact(_ text: DecodedText, encodings: Int, in mask: inout RedactionMask) {
        let unlabelled = secrets.ranges(in: text.bytes) + Self.tokensAndKeys(in: text.bytes)
        for range in unlabelled + LabelledSecrets(text.bytes).ranges { mask.redact(text.origin(of: range)) }
        guard encodings > 0 else { return }
        for reading in text.readings { redact(reading, encodings: encodings - 1, in: &mask) }
    }
}

/// A mask of the bytes of foreign text that must not be shown.
private struct RedactionMask {
    private var isRedacted: [Bool]

    init(count: Int) { isRedacted = Array(repeating: false, count: count) }

    mutating func redact(_ range: Range<Int>) {
        for index in range { isRedacted[index] = true }
    }

    func applied(to source: [UInt8]) -> [UInt8] {
        var shown: [UInt8] = []
        for index in source.indices {
            if !isRedacted[index] {
                shown.append(source[index])
            } else if index == 0 || !isRedacted[index - 1] {
                shown += "…".utf8
            }
        }
        return shown
    }
}

/// The secrets that were sent or are stored. Case is ignored, and a plus sign is treated as a space, because forms
/// encode spaces as plus signs. A piece of a long secret is enough for a match, because another program may have cut
/// the text.
private struct KnownSecrets: Sendable {
    /// The minimum length of a secret in bytes. Shorter secrets are ignored, because they occur by chance in almost any
    /// text.
    private static let minimumLength = 4
    private static let pieceLengths = 8...12

    /// The pieces of all secrets, by length in bytes.
    private var pieces: [Int: Set<UInt128>] = [:]

    init(_ secrets: [String]) {
        for secret in secrets where secret.utf8.count >= Self.minimumLength {
            let half = min(max(secret.utf8.count / 2, Self.pieceLengths.lowerBound), Self.pieceLengths.upperBound)
            let length = min(half, secret.utf8.count)
            Self.forEachPiece(of: secret.utf8, length: length) { pieces[length, default: []].insert($1) }
        }
    }

    func ranges(in text: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for (length, pieces) in pieces {
            Self.forEachPiece(of: text, length: length) { start, piece in
                guard pieces.contains(piece) else { return }
                // Blanks at either end are kept, such as the space after `Bearer`.
                let secret = text[start..<start + length].trimming(\.isBlank)
                ranges.append(secret.startIndex..<secret.endIndex)
            }
        }
        return ranges
    }

    /// Calls `body` for each piece of `text` that is `length` bytes long. `piece` is a number that consists of these
    /// bytes.
    private static func forEachPiece(
        of text: some Sequence<UInt8>, length: Int, _ body: (_ start: Int, _ piece: UInt128) -> Void
    ) {
        let mask = UInt128(1) << UInt128(8 * length) - 1
        var piece: UInt128 = 0
        for (index, byte) in text.enumerated() {
            let folded = byte == UInt8(ascii: "+") ? 0x20 : byte.lowercased
            piece = (piece << 8 | UInt128(folded)) & mask
            if index >= length - 1 { body(index - length + 1, piece) }
        }
    }
}

/// A search for words that begin like a JSON Web Token, with `eyJ`, which is base64 for `{"` followed by a letter.
private enum JSONWebTokens {
    /// The minimum length of a token in bytes. Shorter words contain nothing secret, and may be the end of a name such
    /// as `privateKeyJSON`.
    private static let minimumLength = 8

    static func ranges(in text: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var index = 0
        while index < text.count {
            var end = index + 1
            if text[index] == UInt8(ascii: "e"), text[index...].starts(with: "eyJ".utf8) {
                end = text[index...].firstIndex { !isTokenByte($0) } ?? text.count
                if end - index >= minimumLength { ranges.append(index..<end) }
            }
            index = end
        }
        return ranges
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool { byte.isAlphanumeric || "-_.+/=~".utf8.contains(byte) }
}

/// A search for private keys in PEM (RFC 7468). A key extends to the end of its last line, or to a quotation mark.
private enum PrivateKeys {
    private static let begin = "-----BEGIN "
    private static let label = "PRIVATE KEY"
    private static let end = "-----END "
    /// The maximum length in bytes of the words before `label`, such as `ENCRYPTED`.
    private static let maximumKind = 12

    static func ranges(in text: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var rest = text[...]
        while let start = rest.firstRange(of: begin) {
            rest = rest[start.upperBound...]
            guard rest.prefix(maximumKind + label.utf8.count).firstRange(of: label) != nil else { continue }
            let quoted = rest.prefix { $0 != UInt8(ascii: "\"") }
            let last = quoted.firstRange(of: end).map { quoted[$0.upperBound...] }
            let close = last.flatMap { $0.firstRange(of: "-----") }
            rest = rest[(close?.upperBound ?? quoted.endIndex)...]
            ranges.append(start.lowerBound..<rest.startIndex)
        }
        return ranges
    }
}

extension UInt8 {
    package var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
    package var isLowercase: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self }
    package var isAlphanumeric: Bool { isDigit || (self | 0x20).isLowercase }
    package var isBlank: Bool { self == 0x20 || 0x09...0x0D ~= self }
    var lowercased: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }
}
