/// Base64 encoding and decoding (RFC 4648).
package enum Base64 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    private static let standard = letters + Array("+/".utf8)
    private static let forURLs = letters + Array("-_".utf8)

    /// Returns `bytes` in base64 with padding (section 4), as HTTP Basic requires.
    package static func encoded(_ bytes: some Collection<UInt8>) -> String {
        let text = encoded(bytes, alphabet: standard)
        return text + String(repeating: "=", count: -text.utf8.count & 3)
    }

    /// Returns `bytes` in base64 with the alphabet for URLs and without padding (section 5), as in JSON Web Tokens.
    package static func urlEncoded(_ bytes: some Collection<UInt8>) -> String { encoded(bytes, alphabet: forURLs) }

    private static func encoded(_ bytes: some Collection<UInt8>, alphabet: [UInt8]) -> String {
        var text: [UInt8] = []
        var bits = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 & 0xFFFF | Int(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[bits >> count & 63])
            }
        }
        if count > 0 { text.append(alphabet[bits << (6 - count) & 63]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes that `urlEncoded` has encoded as `text`; `nil` for any other text.
    package static func urlDecoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits = 0
        var count = 0
        for character in text {
            guard let value = forURLs.firstIndex(of: character) else { return nil }
            bits = bits << 6 & 0xFFFF | value
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bytes
    }
}
