/// The bytes of a text with its escapes undone, however often they were applied, and where each of them stands: what
/// the redaction looks at, for a token is one in a URL and in JSON too.
///
/// Undone are `%2E`, `\u002E`, `\x2E`, a backslash before a punctuation mark or before `n`, `r`, `t`, and HTML's
/// `&#46;`, `&amp;`, `&quot;`. Invisible characters are left out, wide ones (`．`) are those that they look like.
struct DecodedText {
    private(set) var bytes: [UInt8] = []
    /// Where in the source each byte begins; it ends where the next one begins.
    private(set) var starts: [Int] = []

    init(_ source: some Sequence<UInt8>) {
        bytes.reserveCapacity(source.underestimatedCount)
        starts.reserveCapacity(source.underestimatedCount)
        for (index, byte) in source.enumerated() {
            bytes.append(byte)
            starts.append(index)
            // What an escape stood for may complete another one. Each round takes at least a byte away.
            while undoEscape() {}
        }
    }

    private mutating func undoEscape() -> Bool {
        let count = bytes.count
        guard let last = bytes.last else { return false }
        if last < 0x20 || last == 0x7F, !last.isBlank { return replace(1, with: nil) }
        if last >= 0x80 {
            if let wide = wideCharacter { return replace(3, with: wide) }
            let length = invisibleLength
            return length > 0 && replace(length, with: nil)
        }
        if count >= 3, bytes[count - 3] == UInt8(ascii: "%"), let value = number(ofLast: 2) {
            return replace(3, with: value)
        }
        if count >= 4, bytes[count - 4] == Self.backslash, bytes[count - 3] == UInt8(ascii: "x"),
            let value = number(ofLast: 2)
        {
            return replace(4, with: value)
        }
        if count >= 6, bytes[count - 6] == Self.backslash, bytes[count - 5] == UInt8(ascii: "u"),
            let value = number(ofLast: 4)
        {
            return replace(6, with: value)
        }
        if count >= 2, bytes[count - 2] == Self.backslash, let byte = Self.meaning(ofEscaped: last) {
            return replace(2, with: byte)
        }
        return last == UInt8(ascii: ";") && undoEntity()
    }

    private mutating func undoEntity() -> Bool {
        let tail = bytes.suffix(9)
        guard let start = tail.lastIndex(of: UInt8(ascii: "&")) else { return false }
        let name = tail[(start + 1)...].dropLast()
        let value: Int?
        if name.elementsEqual("amp".utf8) {
            value = 0x26
        } else if name.elementsEqual("quot".utf8) {
            value = 0x22
        } else if name.starts(with: "#x".utf8) || name.starts(with: "#X".utf8) {
            value = Self.number(name.dropFirst(2), radix: 16)
        } else {
            value = name.first == UInt8(ascii: "#") ? Self.number(name.dropFirst(), radix: 10) : nil
        }
        guard let value else { return false }
        return replace(bytes.count - start, with: value)
    }

    /// Puts `value` in the place of the last `count` bytes: itself if it is a byte, a mark if it is more and seen.
    private mutating func replace(_ count: Int, with value: Int?) -> Bool {
        let start = starts[starts.count - count]
        bytes.removeLast(count)
        starts.removeLast(count)
        if var value, !Self.invisible.contains(value) {
            if Self.wide.contains(value) { value -= Self.wide.lowerBound - 0x21 }
            bytes.append(value < 0x100 ? UInt8(value) : Self.beyond)
            starts.append(start)
        }
        return true
    }

    private static let backslash = UInt8(ascii: "\\")
    /// Never part of UTF-8.
    private static let beyond: UInt8 = 0xFF
    /// Of those that an escape may stand for.
    private static let invisible: Set<Int> = Set(0x200B...0x200F).union(0x202A...0x202E).union(0x2060...0x206F)
        .union([0xFEFF])

    /// The visible characters of ASCII once more.
    private static let wide = 0xFF01...0xFF5E

    private static func meaning(ofEscaped byte: UInt8) -> Int? {
        if "nrt".utf8.contains(byte) { return 0x20 }
        return "\"'/.-_=+&\\".utf8.contains(byte) ? Int(byte) : nil
    }

    private func number(ofLast digits: Int) -> Int? { Self.number(bytes.suffix(digits), radix: 16) }

    /// The number that `digits` state without a sign; `nil` when there are none, or one is not of base `radix`.
    static func number(_ digits: ArraySlice<UInt8>, radix: Int) -> Int? {
        digits.allSatisfy(\.isHexadecimal) ? Int(String(decoding: digits, as: UTF8.self), radix: radix) : nil
    }

    /// The one at the end, if it is one.
    private var wideCharacter: Int? {
        guard bytes.count >= 3, bytes[bytes.count - 3] == 0xEF, 0xBC...0xBD ~= bytes[bytes.count - 2] else {
            return nil
        }
        let value = 0xF000 | Int(bytes[bytes.count - 2] & 0x3F) << 6 | Int(bytes[bytes.count - 1] & 0x3F)
        return Self.wide.contains(value) ? value : nil
    }

    /// Of a soft hyphen, a zero-width character, a mark of direction or a variation selector at the end; 0 for others.
    private var invisibleLength: Int {
        if bytes.count >= 2, bytes.suffix(2).elementsEqual([0xC2, 0xAD]) { return 2 }
        guard bytes.count >= 3 else { return 0 }
        let last = bytes[bytes.count - 1]
        switch (bytes[bytes.count - 3], bytes[bytes.count - 2]) {
        case (0xE2, 0x80): return 0x8B...0x8F ~= last || 0xAA...0xAE ~= last ? 3 : 0
        case (0xE2, 0x81): return 0xA0...0xAF ~= last ? 3 : 0
        case (0xEF, 0xB8): return 0x80...0x8F ~= last ? 3 : 0
        case (0xEF, 0xBB): return last == 0xBF ? 3 : 0
        default: return 0
        }
    }
}
