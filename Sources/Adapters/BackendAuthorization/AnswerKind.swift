/// What the bytes of an issuer's answer are, judged by how they begin.
enum AnswerKind: Sendable, Hashable {
    case nothing
    /// HTML or XML.
    case page
    case gzip
    case utf16
    /// Without what stood before the first brace.
    case json([UInt8])
    /// Without white space around it.
    case text(String)

    init(_ bytes: [UInt8]) {
        if bytes.starts(with: [0x1F, 0x8B]) {
            self = .gzip
            return
        }
        // A mark, or a character of ASCII with its zero.
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
            || bytes.count > 1 && (bytes[0] == 0) != (bytes[1] == 0)
        {
            self = .utf16
            return
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0).drop { $0 <= 0x20 }
        switch content.first {
        case nil: self = .nothing
        case UInt8(ascii: "<"): self = .page
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""): self = .json(Array(content))
        default: self = .text(String(decoding: content, as: UTF8.self).trimmingWhitespace())
        }
    }
}
