import ReportedText
import Testing
import VehicleAuthorization

/// Secrets in every encoding that a server or a program may use, and in several of these encodings.
///
/// The shown text must not depend on the secret: two secrets of the same shape must give the same text.
@Suite struct EncodedSecrets {
    enum Encoding: CaseIterable {
        case percentAll, percentReserved, jsonUnicode, jsonMinimal, base64, base64Lines

        func encode(_ text: String) -> String {
            switch self {
            case .percentAll: text.utf8.map { Self.hexadecimal($0, prefix: "%", uppercase: $0 % 2 == 0) }.joined()
            case .percentReserved:
                text.utf8.map { byte in
                    byte.isAlphanumeric || "-._~".utf8.contains(byte)
                        ? String(decoding: [byte], as: UTF8.self) : Self.hexadecimal(byte, prefix: "%")
                }.joined()
            case .jsonUnicode:
                text.utf8.map { Self.hexadecimal($0, prefix: "\\u00", uppercase: $0 % 2 == 0) }.joined()
            case .jsonMinimal:
                text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("/", with: "\\/")
                    .replacing("\n", with: "\\n").replacing("\r", with: "\\r")
            case .base64: Base64.encoded(Array(text.utf8))
            case .base64Lines: Self.wrapped(Base64.encoded(Array(text.utf8)))
            }
        }

        private static func hexadecimal(_ byte: UInt8, prefix: String, uppercase: Bool = true) -> String {
            let digits = String(byte, radix: 16, uppercase: uppercase)
            return prefix + (digits.utf8.count < 2 ? "0" : "") + digits
        }

        private static func wrapped(_ text: String) -> String {
            var lines = ""
            for (index, character) in text.enumerated() {
                if index > 0, index % 20 == 0 { lines += "\r\n" }
                lines.append(character)
            }
            return lines
        }
    }

    private static func chains(of length: Int) -> [[Encoding]] {
        length == 0 ? [[]] : chains(of: length - 1).flatMap { chain in Encoding.allCases.map { chain + [$0] } }
    }

    private static func redactedText(_ text: String, encodedWith chain: [Encoding], without secrets: [String]) -> String
    {
        let echo = chain.reduce(text) { $1.encode($0) }
        return ReportedText("got <\(echo)>", without: secrets, limit: 10_000).description
    }

    /// A secret in base64 looks different after one, two or three other bytes.
    @Test(
        arguments: (0...2).flatMap(chains).flatMap { chain in ["", "u:", "us:", "use:"].map { (chain, $0) } }
            + chains(of: 3).map { ($0, "us:") })
    func areRemoved(chain: [Encoding], prefix: String) {
        let pairs = [
            ("k3y.With/Ab+cd=", "q8n.Zxcv/Bn+mj="), ("Pass\"word\\1", "Word\"pass\\2"), ("short", "pause"),
        ]
        // For deeper encodings, one pair of secrets is enough.
        for (secret, other) in chain.count < 3 ? pairs[...] : pairs[..<1] {
            let shown = Self.redactedText("\(prefix)\(secret), end", encodedWith: chain, without: [secret])
            #expect(shown == Self.redactedText("\(prefix)\(other), end", encodedWith: chain, without: [other]))
            #expect(shown.contains("…"))
        }
    }

    /// Bearer values and tokens are removed even if they aren't among the known secrets.
    @Test(arguments: (0...2).flatMap(chains) + chains(of: 3).filter { !$0.contains(.base64Lines) })
    func areRemovedIfTheyAreBearerValuesOrTokens(chain: [Encoding]) {
        for label in ["Bearer ", "authorization: bearer ", "api_key=", "\"token\": \"", "", "Key"] {
            let start = label.isEmpty || label == "Key" ? "eyJh" : ""
            let shown = Self.redactedText("\(label)\(start)x1Y2z3X4y5Z6", encodedWith: chain, without: [])
            #expect(shown == Self.redactedText("\(label)\(start)q8W7e6R5t4P3", encodedWith: chain, without: []))
            #expect(shown.contains("…"))
        }
    }

    @Test(arguments: ["PD4/Pn5+Pz4/Pn4/", "PD4_Pn5-Pz4_Pn4_", "PD4%2fPn5%2BPz4%2FPn4%2f", "PD4\\/Pn5+Pz4\\/Pn4\\/"])
    func areRemovedFromBothAlphabetsOfBase64(echo: String) {
        #expect(ReportedText("<\(echo)>", without: ["<>?>~~?>?>~?"]).description == "<…>")
    }

    /// Text that partly looks encoded is also searched unchanged.
    @Test(arguments: [
        ("corr%ecthorse%batterystaple", "corr%ecthorse%batterystaple"), ("%41%42%43%44", "%41%42%43%44"),
        ("1abc", "%41abc"), ("nabc", "\\nabc"), ("a\\nb\\tc", "a\\nb\\tc"),
    ])
    func areRemovedFromTextThatOnlyLooksEncoded(secret: String, echo: String) {
        let shown = ReportedText("<\(echo)>", without: [secret]).description
        #expect(!shown.contains(secret) && shown.contains("…"), "\(shown)")
    }
}
