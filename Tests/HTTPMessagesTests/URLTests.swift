import HTTPMessages
import Testing

@Suite struct URLs {
    @Test(
        arguments: [
            ("https://example.com", "example.com", 443, "/", "https://example.com/"),
            ("HTTPS://Example.COM/Path", "example.com", 443, "/Path", "https://example.com/Path"),
            ("https://example.com:8443/a?b=c#d", "example.com", 8443, "/a?b=c", "https://example.com:8443/a?b=c"),
            ("https://example.com:443/", "example.com", 443, "/", "https://example.com/"),
            ("https://example.com?x=1", "example.com", 443, "/?x=1", "https://example.com/?x=1"),
            ("https://example.com#frag", "example.com", 443, "/", "https://example.com/"),
            ("https://[2001:db8::1]:8443/x", "2001:db8::1", 8443, "/x", "https://[2001:db8::1]:8443/x"),
            ("https://[::1]", "::1", 443, "/", "https://[::1]/"),
            ("http://localhost:8080/a", "localhost", 8080, "/a", "http://localhost:8080/a"),
            ("http://127.0.0.1", "127.0.0.1", 80, "/", "http://127.0.0.1/"),
            ("http://127.255.0.9:1/", "127.255.0.9", 1, "/", "http://127.255.0.9:1/"),
            ("http://[::1]:9/", "::1", 9, "/", "http://[::1]:9/"),
            (
                "https://example.com/%2F%20?q=%41", "example.com", 443, "/%2F%20?q=%41",
                "https://example.com/%2F%20?q=%41"
            ),
        ])
    func areAccepted(text: String, host: String, port: Int, target: String, description: String) throws {
        let url = try HTTPURL(text)
        #expect(url.host == host)
        #expect(url.port == port)
        #expect(url.target == target)
        #expect(url.description == description)
        #expect(try HTTPURL(url.description) == url)
    }

    @Test(
        arguments: [
            ("", HTTPURL.Problem.notAbsolute), ("example.com/x", .notAbsolute), ("/path", .notAbsolute),
            ("ftp://example.com", .unsupportedScheme("ftp")), ("://x", .unsupportedScheme("")),
            ("https://", .missingHost), ("https:///path", .missingHost), ("https://:443/", .missingHost),
            ("https://user@example.com/", .userInformation), ("https://user:pass@example.com/", .userInformation),
            ("https://example.com:0/", .invalidPort("0")), ("https://example.com:65536/", .invalidPort("65536")),
            ("https://example.com:/", .invalidPort("")), ("https://example.com:+1/", .invalidPort("+1")),
            ("https://example.com:x/", .invalidPort("x")), ("https://[::1]x/", .invalidPort("x")),
            ("https://example.com/a b", .invalidCharacter(0x20)), ("https://example.com/ä", .invalidCharacter(0xC3)),
            ("https://example.com /", .invalidHost("example.com ")), ("https://example.com/a ", .surroundingSpace),
            (" https://example.com/", .surroundingSpace), ("https://example.com/\t", .surroundingSpace),
            ("https://b%C3%A4r.de/", .invalidHost("b%C3%A4r.de")),
            ("https://example.com/\r\nX: y", .invalidCharacter(0x0D)),
            ("https://exämple.com/", .invalidHost("exämple.com")), ("https://example.com/\"", .invalidCharacter(0x22)),
            ("https://example.com/<", .invalidCharacter(0x3C)), ("https://example.com/\u{7F}", .invalidCharacter(0x7F)),
            ("http://example.com/", .unencrypted(host: "example.com")),
            ("http://10.0.0.1/", .unencrypted(host: "10.0.0.1")),
            ("http://127.0.0.1.example.com/", .unencrypted(host: "127.0.0.1.example.com")),
            ("http://127.0.0.256/", .unencrypted(host: "127.0.0.256")), ("http://127.1/", .unencrypted(host: "127.1")),
            ("http://localhost.example.com/", .unencrypted(host: "localhost.example.com")),
            ("http://[::2]/", .unencrypted(host: "::2")),
        ])
    func areRejected(text: String, problem: HTTPURL.Problem) {
        #expect(throws: problem) { try HTTPURL(text) }
    }

    @Test(
        arguments: [
            ("https://a.example", "https://a.example"), ("https://a.example:8443/x", "https://a.example:8443"),
            ("http://127.0.0.1:80/x", "http://127.0.0.1"), ("https://[::1]:1/", "https://[::1]:1"),
        ])
    func haveAnOrigin(text: String, origin: String) throws {
        #expect(try HTTPURL(text).origin == origin)
    }

    @Test(
        arguments: [
            ("https://a.example", "/v1/x", "https://a.example/v1/x"),
            ("https://a.example/", "/v1", "https://a.example/v1"),
            ("https://a.example/base", "/v1?m=l", "https://a.example/base/v1?m=l"),
        ])
    func areExtendedByAPath(base: String, suffix: String, whole: String) throws {
        #expect(try HTTPURL(base).appending(target: suffix).description == whole)
        #expect(throws: HTTPURL.Problem.invalidCharacter(0x20)) { try HTTPURL(base).appending(target: suffix + " ") }
    }

    @Test(
        arguments: [
            ("van-7", "van-7"), ("a b/c?d#e%f", "a%20b%2Fc%3Fd%23e%25f"), ("ü", "%C3%BC"), ("A~._-9", "A~._-9"),
            ("\u{0}\u{FF}", "%00%C3%BF"), ("", ""), ("🚐", "%F0%9F%9A%90"), ("&=+", "%26%3D%2B"),
        ])
    func percentEncodeEverythingButUnreservedCharacters(text: String, encoded: String) {
        #expect(HTTPURL.percentEncoded(text) == encoded)
    }
}
