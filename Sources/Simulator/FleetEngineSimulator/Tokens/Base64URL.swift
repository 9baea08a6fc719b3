import FoundationEssentials

/// Base64 with the URL alphabet and no padding (RFC 7515, section 2).
enum Base64URL {
    static func encode(_ bytes: [UInt8]) -> String {
        String(
            Data(bytes).base64EncodedString().compactMap { character in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            })
    }

    /// `nil` when the text has another alphabet, padding, or an impossible length.
    static func decode(_ text: Substring) -> [UInt8]? {
        guard text.utf8.count % 4 != 1, !text.contains(where: { "+/=".contains($0) }) else { return nil }
        let standard = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        return Data(base64Encoded: standard + padding).map(Array.init)
    }
}
