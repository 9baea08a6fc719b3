/// A search for secrets that follow a label, such as `Bearer …`, `token=…`, `"password": "…"` or `Authorization: …`. It
/// also finds the user information in URLs.
struct LabelledSecrets {
    private let bytes: [UInt8]

    /// The words with which the name of a secret ends. Hyphens and underscores in the name are ignored.
    private static let names = [
        "token", "key", "secret", "password", "passwd", "pwd", "passphrase", "credential", "credentials", "signature",
        "sig", "jwt", "assertion", "auth", "authorization", "cookie", "session", "sessionid", "bearer",
    ]
    /// The headers whose secret extends to the end of the line.
    private static let headers = ["authorization", "cookie"]
    private static let schemes = ["bearer", "basic"]
    private static let maximumNameLength = 40
    /// The words that aren't a token if they follow `Bearer`, as they do in sentences and in challenges (RFC 6750,
    /// section 3).
    private static let prose: Set = [
        "token", "tokens", "authentication", "authorization", "scheme", "credential", "credentials", "realm", "header",
        "error", "is", "was", "or", "and", "not", "required", "missing",
    ]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var ranges: [Range<Int>] {
        var ranges: [Range<Int>] = []
        var index = 0
        while index < bytes.count {
            let value = secretRange(at: index).flatMap { $0.isEmpty ? nil : $0 }
            if let value { ranges.append(value) }
            index = max(index + 1, value?.upperBound ?? 0)
        }
        return ranges
    }

    /// Returns the range of the secret after the separator at `index`; `nil` if there is none.
    private func secretRange(at index: Int) -> Range<Int>? {
        switch bytes[index] {
        case UInt8(ascii: "="):
            return Self.ends(name(before: index), withAnyOf: Self.names) ? valueRange(after: index) : nil
        case UInt8(ascii: ":"):
            if bytes[index...].starts(with: "://".utf8) { return userInformationRange(from: index + 3) }
            return secretRange(afterColon: index)
        case let byte where byte.isBlank || byte == UInt8(ascii: "+"):
            guard index > 0, (bytes[index - 1] | 0x20).isLowercase else { return nil }
            let name = name(before: index)
            guard Self.ends(name, withAnyOf: Self.schemes) else { return nil }
            return valueRange(after: index).flatMap { isProse($0, after: name) ? nil : $0 }
        default:
            return nil
        }
    }

    private func secretRange(afterColon colon: Int) -> Range<Int>? {
        let name = name(before: colon)
        // A name with a slash is a path, so the colon after it doesn't introduce a secret.
        guard Self.ends(name, withAnyOf: Self.names), !name.contains(UInt8(ascii: "/")) else { return nil }
        let isQuoted = Self.isQuote(bytes[name.endIndex])
        if !isQuoted, Self.ends(name, withAnyOf: Self.headers) {
            let line = bytes[(colon + 1)...].prefix { $0 != 0x0A && $0 != 0x0D }.drop(while: \.isBlank)
            return line.startIndex..<line.endIndex
        }
        return valueRange(after: colon).flatMap { !isQuoted && isProse($0, after: name) ? nil : $0 }
    }

    /// Returns the name before a separator, without the quotes and blanks after the name.
    private func name(before separator: Int) -> ArraySlice<UInt8> {
        var end = separator
        while end > 0, separator - end < 3, bytes[end - 1].isBlank || Self.isQuote(bytes[end - 1]) { end -= 1 }
        let start = bytes[max(0, end - Self.maximumNameLength)..<end].lastIndex { byte in
            !byte.isAlphanumeric && !"-_./".utf8.contains(byte)
        }
        return bytes[(start.map { $0 + 1 } ?? max(0, end - Self.maximumNameLength))..<end]
    }

    private static func ends(_ name: ArraySlice<UInt8>, withAnyOf words: [String]) -> Bool {
        let letters = String(decoding: name.filter(\.isAlphanumeric).map(\.lowercased), as: UTF8.self)
        return words.contains(where: letters.hasSuffix)
    }

    private func valueRange(after separator: Int) -> Range<Int>? {
        let start = bytes[(separator + 1)...].firstIndex { !$0.isBlank && !"[=<>+".utf8.contains($0) }
        guard let start else { return nil }
        if Self.isQuote(bytes[start]) { return start + 1..<endOfQuotation(from: start) }
        var end =
            bytes[start...].firstIndex { $0.isBlank || Self.isQuote($0) || "&;,)]}<>|".utf8.contains($0) }
            ?? bytes.count
        while end > start, ".:".utf8.contains(bytes[end - 1]) { end -= 1 }
        return start..<end
    }

    private func endOfQuotation(from start: Int) -> Int {
        var index = start + 1
        while index < bytes.count, bytes[index] != bytes[start] {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index, bytes.count)
    }

    /// Whether a value is only a word in a sentence, as in "invalid token: expired".
    private func isProse(_ value: Range<Int>, after name: ArraySlice<UInt8>) -> Bool {
        guard Self.ends(name, withAnyOf: ["bearer"]) else { return bytes[value].dropFirst().allSatisfy(\.isLowercase) }
        let word = bytes[value].prefix { $0 != UInt8(ascii: "=") }.map(\.lowercased)
        return Self.prose.contains(String(decoding: word, as: UTF8.self))
    }

    /// Returns the range of a URL's user information, which ends before the last `@` of the authority; `nil` if there
    /// is none.
    private func userInformationRange(from start: Int) -> Range<Int>? {
        let authority = bytes[start...].prefix { !$0.isBlank && !Self.isQuote($0) && !"/?#<>".utf8.contains($0) }
        return authority.lastIndex(of: UInt8(ascii: "@")).map { start..<$0 }
    }

    private static func isQuote(_ byte: UInt8) -> Bool { "\"'`".utf8.contains(byte) }
}
