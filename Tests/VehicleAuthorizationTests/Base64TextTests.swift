import Testing
import VehicleAuthorization

@Suite struct Base64Texts {
    @Test(arguments: [
        ("", [] as [UInt8]?), ("Zg", [0x66]), ("Zm8", [0x66, 0x6F]), ("-_8", [0xFB, 0xFF]), ("Z", nil), ("Zg==", nil),
        ("+/8", nil),
    ])
    func areDecodedWithoutPadding(text: String, bytes: [UInt8]?) {
        #expect(Base64.urlDecoded(text.utf8) == bytes)
        if let bytes { #expect(Base64.urlEncoded(bytes) == text) }
    }

    /// The examples of RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"), ("\u{FB}\u{FF}", "w7vDvw=="), ("o>?", "bz4/"),
    ])
    func areEncodedWithPadding(text: String, encoded: String) { #expect(Base64.encoded(text.utf8) == encoded) }

    @Test func surviveARoundTrip() {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 3) }
        for count in 990...1000 {
            #expect(Base64.urlDecoded(Base64.urlEncoded(bytes.prefix(count)).utf8) == Array(bytes.prefix(count)))
        }
    }
}
