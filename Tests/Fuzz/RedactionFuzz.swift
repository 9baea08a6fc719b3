// Built together with the sources of ReportedText as one module; see scripts/fuzz-redaction.

/// One input of libFuzzer: in which writing a secret comes back, by what it is broken up and how often, to how many
/// bytes the text is cut, how long the secret is, where it stands; then the secret, and the text around it.
///
/// No input may trap, and no twelve letters of the secret may be left in a row, in any writing that the redaction
/// knows: plain, with escapes, in wide letters, in figures. The text is as short as was asked for and steers no
/// terminal. A second redaction may strike out more, as what parted two pieces is gone or was cut off; it adds nothing.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRedaction(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let start, count > 5 else { return 0 }
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    let secret = input[5...].prefix(12 + Int(input[3]) % 64).map { letters[Int($0) % letters.count] }
    let around = input.dropFirst(5 + secret.count)
    let echo = written(
        secret, writings[Int(input[0]) % writings.count], gap: gaps[Int(input[1] >> 4)], every: input[1] % 16)
    let middle = around.startIndex + (around.isEmpty ? 0 : Int(input[4]) % around.count)
    // In brackets: figures to which letters stick, unseen ones between, are no figures.
    let text = Array(around[..<middle]) + "<\(echo)>".utf8 + around[middle...]
    let limit = 20 + Int(input[2]) * 8
    let secrets = ["Bearer " + String(decoding: secret, as: UTF8.self), String(decoding: secret, as: UTF8.self)]

    let once = ReportedText(bytes: text, without: secrets, limit: limit).description
    precondition(once.utf8.count <= limit, "longer than asked for")
    precondition(once.unicodeScalars.allSatisfy(isHarmless), "it steers a terminal")
    for view in views(of: Array(once.utf8)) {
        precondition(!holds(view, twelveOf: secret), "a piece of the secret is left")
    }
    let twice = ReportedText(once, without: secrets, limit: limit).description
    precondition(twice.utf8.count <= once.utf8.count, "the second redaction adds something")
    let foreign = ReportedText(bytes: text, limit: limit).description
    precondition(foreign.utf8.count <= limit && foreign.unicodeScalars.allSatisfy(isHarmless))
    return 0
}

// MARK: - The secret and its writings

private let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.".utf8)

private enum Writing {
    case plain, capitals, wide
    case figures(radix: Int, digits: Int, before: String, after: String)
}

private let writings: [Writing] = [
    .plain, .capitals, .wide,
    .figures(radix: 16, digits: 2, before: "%", after: ""), .figures(radix: 16, digits: 2, before: "%25", after: ""),
    .figures(radix: 16, digits: 4, before: "\\u", after: ""), .figures(radix: 16, digits: 2, before: "\\x", after: ""),
    .figures(radix: 10, digits: 1, before: "&#", after: ";"), .figures(radix: 16, digits: 1, before: "&#x", after: ";"),
    .figures(radix: 16, digits: 2, before: "", after: ":"), .figures(radix: 16, digits: 2, before: "0x", after: ", "),
    .figures(radix: 10, digits: 1, before: "", after: ", "), .figures(radix: 8, digits: 3, before: "\\", after: ""),
    .figures(radix: 16, digits: 4, before: "U+", after: " "),
    .figures(radix: 16, digits: 2, before: "\\u{", after: "}"),
    .figures(radix: 2, digits: 8, before: "", after: " "), .figures(radix: 16, digits: 2, before: "", after: ""),
    .figures(radix: 16, digits: 2, before: "=", after: ""), .figures(radix: 16, digits: 2, before: "", after: "00 "),
]

private let gaps = [
    " ", "\n", "\r\n    ", ".", "-", "\" + \"", "\u{200B}", "\u{1B}", "\u{0}", "\u{AD}", "\u{202E}", "', '", "\\n", "…",
    "é", "=\n",
]

private func written(_ secret: [UInt8], _ writing: Writing, gap: String, every: UInt8) -> String {
    var text = ""
    for (index, letter) in secret.enumerated() {
        if every > 0, index > 0, index % Int(every) == 0 { text += gap }
        switch writing {
        case .plain: text.unicodeScalars.append(Unicode.Scalar(letter))
        case .capitals: text += String(decoding: [letter], as: UTF8.self).uppercased()
        case .wide: text.unicodeScalars.append(Unicode.Scalar(0xFEE0 + UInt32(letter)) ?? "?")
        case .figures(let radix, let digits, let before, let after):
            let figure = String(letter, radix: radix)
            text += before + String(repeating: "0", count: max(0, digits - figure.utf8.count)) + figure + after
        }
    }
    return text
}

// MARK: - What may not be left

/// The text without its escapes; and for each way of reading its figures, what they say, other words as marks.
private func views(of text: [UInt8]) -> [[UInt8]] {
    let plain = DecodedText(text).bytes
    var views = [plain]
    for radix in [16, 10, 8, 2] {
        var view: [UInt8] = []
        var silence = 0
        for word in plain.split(omittingEmptySubsequences: false, whereSeparator: { !$0.isAlphanumeric }) {
            silence += 1
            guard !word.isEmpty else { continue }
            if silence > 20 || word.startIndex > 1 && plain[..<word.startIndex].suffix(4).contains(0xA6) {
                view.append(0)
            }
            silence = 0
            let name = String(decoding: word, as: UTF8.self).lowercased()
            if name.utf8.count == 1 { continue }
            let digits = name.hasPrefix("0x") ? name.dropFirst(2) : name.drop { $0 == "u" || $0 == "x" }
            if let value = UInt32(digits, radix: radix), value < 0x80, digits.utf8.count <= 8 {
                view.append(UInt8(value))
            } else if radix == 16, digits.utf8.count % 2 == 0, digits.utf8.allSatisfy(\.isHexadecimal) {
                for start in stride(from: 0, to: digits.utf8.count, by: 2) {
                    let value = UInt8(digits.dropFirst(start).prefix(2), radix: 16) ?? 0
                    if value > 0 { view.append(value) }
                }
            } else {
                view.append(0)
            }
        }
        views.append(view)
    }
    return views
}

/// Whether twelve of the secret's letters and digits stand in `view` in a row, whatever is between them but `…`, or 0.
private func holds(_ view: [UInt8], twelveOf secret: [UInt8]) -> Bool {
    let wanted = secret.filter(\.isAlphanumeric).map { $0 | 0x20 }
    guard wanted.count >= 12 else { return false }
    let pieces = Set((0...wanted.count - 12).map { wanted[$0..<$0 + 12] })
    for part in view.split(whereSeparator: { $0 == 0 || $0 == 0xA6 }) {
        let found = part.filter(\.isAlphanumeric).map { $0 | 0x20 }
        guard found.count >= 12 else { continue }
        for start in 0...found.count - 12 where pieces.contains(found[start..<start + 12]) { return true }
    }
    return false
}

private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
}
