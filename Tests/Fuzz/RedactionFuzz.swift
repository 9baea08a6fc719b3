// Built together with the sources of ReportedText as one module; see scripts/fuzz-redaction.

/// Tests one input of libFuzzer: three encodings, the limit, the secret's length and its place, then the bytes of the
/// secret and of the text around it.
///
/// No input may trap. No twelve consecutive bytes of the secret may remain in any encoding, and no JSON Web Token or
/// bearer value. The text must be within the limit and harmless to a terminal.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRedaction(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let start, count > 6 else { return 0 }
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    let secret = input[6...].prefix(12 + Int(input[4]) % 64).map { secretCharacters[Int($0) % secretCharacters.count] }
    let around = input.dropFirst(6 + secret.count)
    let middle = around.startIndex + (around.isEmpty ? 0 : Int(input[5]) % around.count)
    let limit = 20 + Int(input[3]) * 8
    let text = String(decoding: secret, as: UTF8.self)

    guard secret.count >= 12 else { return 0 }
    for (label, secrets) in [("", ["Bearer " + text, text]), ("Bearer ", []), ("eyJhbGci", [])] {
        var echo = Array(label.utf8) + secret
        for encoding in input[..<3] { echo = encoded(echo, with: encoding) }
        // The brackets separate the encoded text from the text around it.
        let source = Array(around[..<middle]) + "\n<".utf8 + echo + ">\n".utf8 + around[middle...]
        let once = ReportedText(bytes: source, without: secrets, limit: limit).description
        precondition(once.utf8.count <= limit, "the text exceeds the limit")
        precondition(once.unicodeScalars.allSatisfy(isHarmless), "the text contains control characters")
        precondition(
            !containsPart(of: secret, in: DecodedText(Array(once.utf8)), depth: 3), "a part of the secret is left")
    }
    return 0
}

private let secretCharacters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

private func encoded(_ text: [UInt8], with encoding: UInt8) -> [UInt8] {
    func digits(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: encoding & 0x40 != 0)
        return digits.utf8.count < 2 ? "0" + digits : digits
    }
    switch encoding % 6 {
    case 0: return text.flatMap { Array("%\(digits($0))".utf8) }
    case 1: return text.flatMap { $0.isAlphanumeric ? [$0] : Array("%\(digits($0))".utf8) }
    case 2: return text.flatMap { Array("\\u00\(digits($0))".utf8) }
    case 3: return text.flatMap { "\"\\/".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
    case 4: return base64(text)
    default: return text
    }
}

private func base64(_ text: [UInt8]) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var result: [UInt8] = []
    for start in stride(from: 0, to: text.count, by: 3) {
        let group = text[start..<min(start + 3, text.count)]
        let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
        for index in 0...group.count { result.append(alphabet[bits >> (18 - 6 * index) & 63]) }
    }
    return result
}

/// Whether twelve consecutive bytes of the secret are in `text`, or in a text that it encodes.
private func containsPart(of secret: [UInt8], in text: DecodedText, depth: Int) -> Bool {
    let pieces = Set((0...secret.count - 12).map { secret[$0..<$0 + 12] })
    if text.bytes.count >= 12 {
        for start in 0...text.bytes.count - 12 where pieces.contains(text.bytes[start..<start + 12]) { return true }
    }
    return depth > 0 && text.readings.contains { containsPart(of: secret, in: $0, depth: depth - 1) }
}

private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
}
