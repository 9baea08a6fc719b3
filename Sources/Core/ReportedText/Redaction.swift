/// Strikes out of a text from outside the secrets that are known, and whatever looks like one.
struct Redaction: Sendable {
    private let secrets: [KnownSecret]

    init(_ secrets: [String]) { self.secrets = secrets.compactMap(KnownSecret.init) }

    /// What looks like an escape may be part of a secret, or stand between its parts, and is shown as it stands.
    private func strikeAsWritten(_ source: [UInt8], _ text: DecodedText, _ marks: inout StruckBytes) {
        var written = StruckBytes(count: source.count)
        for secret in secrets { secret.strike(in: source, &written) }
        for (index, start) in text.starts.enumerated() {
            let end = index + 1 < text.starts.count ? text.starts[index + 1] : source.count
            if (start..<end).contains(where: { written[$0] }) { marks.strike(index..<index + 1) }
        }
    }

    /// `source` with `…` in place of each secret.
    func applied(to source: some Sequence<UInt8>) -> String {
        let source = Array(source)
        let text = DecodedText(source)
        var marks = StruckBytes(count: text.bytes.count)
        for secret in secrets { secret.strike(in: text.bytes, &marks) }
        if !secrets.isEmpty, text.bytes.count != source.count { strikeAsWritten(source, text, &marks) }
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
    package var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
    package var isLowercase: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self }
    var isUppercase: Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }
    package var isAlphanumeric: Bool { isDigit || (self | 0x20).isLowercase }
    var isHexadecimal: Bool { isDigit || 0x61...0x66 ~= self | 0x20 }
    package var isBlank: Bool { self == 0x20 || 0x09...0x0D ~= self }
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

/// A secret that was sent or is kept, and how it is found in a text that repeats it.
///
/// Only letters and digits are compared, in small letters: what breaks a secret up, by lines, quotes or colours, hides
/// nothing. Of a long one, each piece of eight to twelve characters counts; of a short one, the whole.
struct KnownSecret: Sendable {
    /// Shorter ones would strike out half of any text, and do not count.
    private static let shortest = 4
    private static let shortestPiece = 8
    private static let longestPiece = 12
    /// What secrets are called. Such words in a secret are no part that gives it away, and a sentence about secrets
    /// stays readable.
    private static let kinds = [
        "refreshtoken", "accesstoken", "vehicletoken", "drivertoken", "bearertoken", "clientsecret",
        "clientcredentials", "apikey", "backendkey", "privatekey", "secretkey", "accesskey", "password", "passphrase",
        "authorization",
    ].map { Array($0.utf8) }
    private static let factor: UInt64 = 1_099_511_628_211

    /// As it was sent, without escapes.
    private let bytes: [UInt8]
    private let pieceLength: Int
    /// The sums of all its pieces; empty for one that counts as a whole.
    private let pieces: Set<UInt64>

    /// `nil` for one that is too short.
    init?(_ text: String) {
        bytes = DecodedText(text.utf8).bytes
        guard bytes.count >= Self.shortest else { return nil }
        let letters = bytes.filter(\.isAlphanumeric)
        pieceLength = min(Self.longestPiece, max(Self.shortestPiece, letters.count / 2))
        var pieces: Set<UInt64> = []
        for letters in [letters, text.utf8.filter(\.isAlphanumeric)] {
            Self.eachPiece(of: letters, length: pieceLength) { pieces.insert($1) }
        }
        for name in Self.kinds { Self.eachPiece(of: name, length: pieceLength) { pieces.remove($1) } }
        self.pieces = pieces
    }

    /// Strikes it out of `text`, with its escapes undone or as it is written.
    func strike(in text: [UInt8], _ marks: inout StruckBytes) {
        guard !pieces.isEmpty else { return strikeWhole(in: text, &marks) }
        let places = text.indices.filter { text[$0].isAlphanumeric }
        var end = 0
        Self.eachPiece(of: places.map { text[$0] }, length: pieceLength) { start, sum in
            guard pieces.contains(sum) else { return }
            let (first, last) = (places[start], places[start + pieceLength - 1])
            marks.strike(max(first, end)..<last + 1)
            end = last + 1
        }
    }

    /// The secret is short and ours: no text makes this slow.
    private func strikeWhole(in text: [UInt8], _ marks: inout StruckBytes) {
        var index = 0
        while index + bytes.count <= text.count {
            if text[index] == bytes[0], text[index..<index + bytes.count].elementsEqual(bytes) {
                marks.strike(index..<index + bytes.count)
                index += bytes.count
            } else {
                index += 1
            }
        }
    }

    /// A sum that goes along: that of each piece follows from the one before.
    private static func eachPiece(of letters: [UInt8], length: Int, _ body: (_ start: Int, _ sum: UInt64) -> Void) {
        guard letters.count >= length else { return }
        let leaving = (0..<length).reduce(UInt64(1)) { product, _ in product &* factor }
        var sum: UInt64 = 0
        for (index, letter) in letters.enumerated() {
            sum = sum &* factor &+ UInt64(letter | 0x20)
            if index >= length { sum = sum &- leaving &* UInt64(letters[index - length] | 0x20) }
            if index >= length - 1 { body(index - length + 1, sum) }
        }
    }
}
