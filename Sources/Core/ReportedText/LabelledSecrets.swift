/// What a text itself calls a secret: `Bearer …`, `Authorization: …`, `token=…`, `"password": "…"`, the user and the
/// password of a URL.
struct LabelledSecrets {
    private let bytes: [UInt8]
    private let shapes: SecretShapes

    /// What a name ends with, in small letters and without marks between.
    private static let names = [
        "token", "key", "secret", "password", "passwd", "pwd", "passphrase", "credential", "credentials", "signature",
        "sig", "jwt", "assertion", "auth", "authorization", "cookie", "session", "sessionid", "bearer",
    ].map { Array($0.utf8) }
    private static let headers = ["authorization", "cookie"].map { Array($0.utf8) }
    private static let passwords = ["secret", "password", "passwd", "pwd", "passphrase", "bearer"].map {
        Array($0.utf8)
    }
    private static let longestName = 40
    private static let schemes = ["bearer", "basic", "digest", "negotiate", "ntlm"].map { Array($0.utf8) }
    /// What follows `Bearer` in people's sentences.
    private static let prose: Set<String> = [
        "token", "tokens", "authentication", "authorization", "scheme", "schemes", "credential", "credentials", "realm",
        "header", "headers", "auth", "challenge", "method", "type", "error", "is", "was", "or", "and", "in", "not",
        "for", "of", "required", "missing", "format",
    ]

    init(_ bytes: [UInt8]) { (self.bytes, shapes) = (bytes, SecretShapes(bytes)) }

    func strike(_ marks: inout StruckBytes) {
        var index = 0
        while index < bytes.count {
            let end: Int?
            switch bytes[index] {
            case UInt8(ascii: "="): end = strikeValue(behind: index, isColon: false, &marks)
            case UInt8(ascii: ":") where isURL(at: index): end = strikeUser(behind: index + 3, &marks)
            case UInt8(ascii: ":"): end = strikeValue(behind: index, isColon: true, &marks)
            case let byte where (byte | 0x20).isLowercase && (index == 0 || !bytes[index - 1].isAlphanumeric):
                end = strikeScheme(at: index, &marks)
            default: end = nil
            }
            // What was struck is not looked at again, nor is what was passed over.
            index = max(index + 1, end ?? 0)
        }
    }

    // MARK: - Bearer

    private func strikeScheme(at start: Int, _ marks: inout StruckBytes) -> Int? {
        guard let scheme = Self.schemes.first(where: { isHere($0, at: start) }) else { return nil }
        let value = skip(from: start + scheme.count, atMost: 8) { $0.isBlank || $0 == UInt8(ascii: "+") }
        guard value > start + scheme.count, let word = word(at: value) else { return nil }
        if bytes[word].allSatisfy({ $0.isLowercase || $0 == UInt8(ascii: ".") }) {
            let text = String(decoding: bytes[word].prefix { $0.isLowercase }, as: UTF8.self)
            // Other schemes are words of their own, and what follows them as a secret has more than small letters.
            if scheme != Self.schemes[0] || Self.prose.contains(text) { return nil }
        }
        if bytes[word].dropLast().contains(UInt8(ascii: "=")) { return nil }
        let end = shapes.wholeToken(from: end(ofValueAt: word.lowerBound))
        marks.strike(start..<end)
        return end
    }

    // MARK: - Values with a name

    private func strikeValue(behind mark: Int, isColon: Bool, _ marks: inout StruckBytes) -> Int? {
        guard let (name, isPart, isQuoted) = name(before: mark), Self.ends(name, with: Self.names) else { return nil }
        var start = mark + 1
        if !isColon, start < bytes.count, bytes[start] == UInt8(ascii: ">") { start += 1 }
        start = skip(from: start, atMost: 8) { $0.isBlank || $0 == UInt8(ascii: "[") }
        guard start < bytes.count else { return nil }
        if Self.isQuote(bytes[start]) {
            let quote = bytes[start]
            let end = bytes[(start + 1)...].firstIndex(of: quote) ?? bytes.count
            marks.strike(start + 1..<end)
            return end
        }
        if bytes[start...].starts(with: "…".utf8) {
            // Struck out before, and what follows was left then; unless a secret is hidden that way.
            let rest = start + "…".utf8.count
            let end = word(at: rest)?.upperBound ?? rest
            marks.strike(start..<end)
            return end
        }
        if isColon, !isQuoted {
            if isPart { return nil }
            if Self.ends(name, with: Self.headers) { return strikeHeader(at: start, &marks) }
            let isCertain = Self.ends(name, with: Self.passwords) || name.contains(UInt8(ascii: "-"))
            guard isCertain || !isProse(at: start) else { return nil }
        }
        let end = shapes.wholeToken(from: end(ofValueAt: start))
        marks.strike(start..<end)
        return end
    }

    /// A scheme and what follows it; of a scheme that is not known, or of a cookie, the whole line.
    private func strikeHeader(at start: Int, _ marks: inout StruckBytes) -> Int {
        if let scheme = Self.schemes.first(where: { isHere($0, at: start) }), scheme.count < 7 {
            let value = skip(from: start + scheme.count, atMost: 8) { $0.isBlank || $0 == UInt8(ascii: "+") }
            if value < bytes.count, let word = word(at: value), !bytes[word].dropLast().contains(UInt8(ascii: "=")) {
                let end = shapes.wholeToken(from: end(ofValueAt: word.lowerBound))
                marks.strike(start..<end)
                return end
            }
        }
        let end = bytes[start...].firstIndex { byte in
            Self.isQuote(byte) || byte == 0x0A || byte == 0x0D || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
        }
        marks.strike(start..<(end ?? bytes.count))
        return end ?? bytes.count
    }

    /// The name that ends before `mark`; whether it is the end of a path or a longer name; whether it stands in quotes.
    private func name(before mark: Int) -> (name: ArraySlice<UInt8>, isPart: Bool, isQuoted: Bool)? {
        var end = mark
        while end > 0, mark - end < 2, bytes[end - 1].isBlank { end -= 1 }
        let isQuoted = end > 0 && Self.isQuote(bytes[end - 1])
        if isQuoted { end -= 1 }
        var start = end
        while start > 0, end - start < Self.longestName, Self.isOfName(bytes[start - 1]) { start -= 1 }
        guard start < end else { return nil }
        return (bytes[start..<end], start > 0 && bytes[start - 1] == UInt8(ascii: "/"), isQuoted)
    }

    private func end(ofValueAt start: Int) -> Int {
        bytes[start...].firstIndex { $0.isBlank || Self.isQuote($0) || "&;,)]}<>|".utf8.contains($0) } ?? bytes.count
    }

    /// Whether a plain word stands there, as in "invalid token: expired".
    private func isProse(at start: Int) -> Bool {
        let word = bytes[start..<end(ofValueAt: start)]
        return word.dropFirst().allSatisfy { $0.isLowercase || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") }
    }

    // MARK: - URLs

    private func isURL(at index: Int) -> Bool {
        index + 2 < bytes.count && bytes[index + 1] == UInt8(ascii: "/") && bytes[index + 2] == UInt8(ascii: "/")
    }

    /// Up to the last `@` of the authority.
    private func strikeUser(behind start: Int, _ marks: inout StruckBytes) -> Int {
        let authority = bytes[start...].prefix { byte in
            !byte.isBlank && !Self.isQuote(byte) && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "?")
        }
        guard let mark = authority.lastIndex(of: UInt8(ascii: "@")) else { return start }
        marks.strike(start..<mark)
        return authority.endIndex
    }

    // MARK: - Words

    private func isHere(_ word: [UInt8], at start: Int) -> Bool {
        let end = start + word.count
        return end < bytes.count && zip(bytes[start..<end], word).allSatisfy { $0 | 0x20 == $1 }
    }

    private func word(at start: Int) -> Range<Int>? {
        let end = bytes[start...].firstIndex { !$0.isWord } ?? bytes.count
        return start < end ? start..<end : nil
    }

    private func skip(from start: Int, atMost count: Int, while belongs: (UInt8) -> Bool) -> Int {
        var index = start
        while index < bytes.count, index - start < count, belongs(bytes[index]) { index += 1 }
        return index
    }

    private static func ends(_ name: ArraySlice<UInt8>, with endings: [[UInt8]]) -> Bool {
        let letters = name.filter(\.isAlphanumeric).map { $0 | 0x20 }
        return endings.contains { letters.suffix($0.count).elementsEqual($0) }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }

    private static func isQuote(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "`")
    }
}
