/// Strikes out of a text from outside the secrets that are known, and whatever looks like one.
struct Redaction: Sendable {
    private let secrets: [KnownSecret]

    init(_ secrets: [String]) { self.secrets = secrets.compactMap(KnownSecret.init) }

    /// `source` with `…` in place of each secret.
    func applied(to source: some Sequence<UInt8>) -> String {
        let source = Array(source)
        let text = DecodedText(source)
        var marks = StruckBytes(count: text.bytes.count)
        for secret in secrets { secret.strike(in: text.bytes, &marks) }
        if !secrets.isEmpty { marks.widen { text.bytes[$0].isWord && text.bytes[$0] != UInt8(ascii: "/") } }
        LabelledSecrets(text.bytes).strike(&marks)
        SecretShapes(text.bytes).strike(&marks)

        // What stands between parts of one secret.
        marks.join { !text.bytes[$0].isAlphanumeric && !text.bytes[$0].isBlank }

        var shown: [UInt8] = []
        var position = 0
        for range in marks.ranges {
            shown += source[position..<text.starts[range.lowerBound]]
            shown += "…".utf8
            position = range.upperBound < text.starts.count ? text.starts[range.upperBound] : source.count
        }
        return String(decoding: shown + source[position...], as: UTF8.self)
    }
}

/// Which bytes are struck out.
struct StruckBytes {
    private var isStruck: [Bool]

    init(count: Int) { isStruck = Array(repeating: false, count: count) }

    mutating func strike(_ range: Range<Int>) {
        for index in range { isStruck[index] = true }
    }

    subscript(index: Int) -> Bool { isStruck[index] }

    /// Strikes out the bytes beside those that are struck, as far as `belongs` holds.
    mutating func widen(while belongs: (Int) -> Bool) {
        for index in isStruck.indices.dropFirst() where isStruck[index - 1] && !isStruck[index] && belongs(index) {
            isStruck[index] = true
        }
        for index in isStruck.indices.dropLast().reversed()
        where isStruck[index + 1] && !isStruck[index] && belongs(index) {
            isStruck[index] = true
        }
    }

    /// Strikes out a byte between two that are struck, where `belongs` holds.
    mutating func join(where belongs: (Int) -> Bool) {
        for index in isStruck.indices.dropFirst().dropLast()
        where isStruck[index - 1] && isStruck[index + 1] && !isStruck[index] && belongs(index) {
            isStruck[index] = true
        }
    }

    /// Each as long as it goes.
    var ranges: [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start: Int?
        for index in 0...isStruck.count {
            let isHere = index < isStruck.count && isStruck[index]
            if isHere, start == nil { start = index }
            if !isHere, let begun = start {
                ranges.append(begun..<index)
                start = nil
            }
        }
        return ranges
    }
}

extension UInt8 {
    var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
    var isLowercase: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self }
    var isUppercase: Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }
    var isAlphanumeric: Bool { isDigit || (self | 0x20).isLowercase }
    var isHexadecimal: Bool { isDigit || 0x61...0x66 ~= self | 0x20 }
    var isBlank: Bool { self == 0x20 || 0x09...0x0D ~= self }
    /// Of base64 in either alphabet, or between the parts of a token.
    var isWord: Bool {
        switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="),
            UInt8(ascii: "."), UInt8(ascii: "~"):
            true
        default: isAlphanumeric
        }
    }
}
