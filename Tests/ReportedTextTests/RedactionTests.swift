import ReportedText
import Testing
import WaypostTestSupport

@Suite struct Redactions {
    static let token = TestTokens.driver(vehicleID: "van-7")

    @Test(
        arguments: [
            ("no key in /etc/waypost/backend-key: line 3", "no key in /etc/waypost/backend-key: line 3"),
            ("hunter2 was rejected, as HUNTER2 and hunter3", "… was rejected, as … and hunter3"),
            ("abc stays", "abc stays"), ("wrong password: correct+horse+battery", "wrong password: …"),
            ("correct horse battery, correct horse", "…, …"), ("grüne%20Straße", "…"),
            ("gr\\u00fcne Stra\\u00DFe", "…"),
        ])
    func removeTheSecretsThatWereSent(text: String, shown: String) {
        let secrets = ["hunter2", "abc", "", "correct horse battery", "grüne Straße"]
        #expect(ReportedText(text, without: secrets).description == shown)
    }

    @Test(arguments: [
        ("got \(token) instead", "got … instead"), ("token=eyJhbGciOi, cut", "token=…, cut"),
        ("eyJhbGciOi, cut", "…, cut"), ("word\(token)", "word…"), ("Key\(token)", "Key…"),
        ("set keyJson or privateKeyJSON", "set keyJson or privateKeyJSON"),
    ])
    func removeJSONWebTokens(text: String, shown: String) {
        #expect(ReportedText(text).description == shown)
    }

    @Test(arguments: [
        ("got -----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\n; write a path", "got … ; write a path"),
        ("is \"-----BEGIN EC PRIVATE KEY-----\\nMHcCAQ\", not a path", "is \"…\", not a path"),
        ("-----BEGIN ENCRYPTED PRIVATE KEY-----MIIFHD", "…"),
        (
            "-----BEGIN CERTIFICATE-----MIIB-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----MIIB-----END CERTIFICATE-----"
        ),
        ("-----BEGIN ", "-----BEGIN "),
    ])
    func removePrivateKeys(text: String, shown: String) {
        #expect(ReportedText(text).description == shown)
    }

    /// A value of the configuration is a token or a key that belongs somewhere else.
    @Test func removeTokensAndKeysFromTheProgramsOwnText() {
        let text = "\"authorization.url\" is \"\(Self.token)\"; token=path, key=-----BEGIN PRIVATE KEY-----MII"
        #expect(
            ReportedText.withoutTokensAndKeys(text) == "\"authorization.url\" is \"…\"; token=path, key=…")
    }

    @Test(arguments: [
        ("Bearer abcdef", "Bearer …"), ("got Authorization: Bearer abc-def now", "got Authorization: …"),
        ("sent bearer abc-def now", "sent bearer … now"), ("bearer: abc", "bearer: …"), ("XBearer\tabc", "XBearer …"),
        ("Bearer <abc>", "Bearer <…>"),
        ("\"authorization\": [\"x\"]", "\"authorization\": [\"…\"]"),
        ("{\"Authorization\":\"Bearer q\"}", "{\"Authorization\":\"…\"}"),
        ("basic dXNlcjpwYXNz; basic checks failed", "basic …; basic checks failed"),
        ("expected a Bearer token in the header", "expected a Bearer token in the header"),
        (
            "Bearer realm=\"vans\", error=\"invalid_token\", token=\"x\"",
            "Bearer realm=\"vans\", error=\"invalid_token\", token=\"…\""
        ),
        ("Proxy-Authorization: Digest username=\"u\", response=\"r\"", "Proxy-Authorization: …"),
        ("Cookie: a=b; c=d\nnext", "Cookie: … next"), ("invalid token: expired", "invalid token: expired"),
        ("invalid token: ab12", "invalid token: …"), ("GET /x?access_token=abc&id=7", "GET /x?access_token=…&id=7"),
        ("api-key = \"a b\" x", "api-key = \"…\" x"), ("\"secret\": \"a\\\"b c\", 1", "\"secret\": \"…\", 1"),
        ("{\\\"client_secret\\\":\\\"abc\\\",\\\"id\\\":7}", "{\\\"client_secret\\\":\\\"…\\\",\\\"id\\\":7}"),
        ("token => abc, cut", "token => …, cut"), ("token=", "token="), ("token=\"", "token=\""),
        ("https://user:pass@host/path", "https://…@host/path"), ("x-goog-api-key: AIza", "x-goog-api-key: …"),
        ("%42earer%20abcdef now", "%42earer%20… now"), ("\\u0042earer abcdef", "\\u0042earer …"),
        ("token endpoint http://host/token?key=…: no answer", "token endpoint http://host/token?key=…: no answer"),
        ("key=…x1", "key=…"),
    ])
    func removeValuesAfterALabel(text: String, shown: String) {
        #expect(ReportedText(text).description == shown)
    }

    @Test(arguments: [
        "providers/my-project/vehicles/van-7 was not found", "request 8f14e45fceea167a failed, checksum 1a2b3c4d",
        "trace 550e8400-e29b-41d4-a716-446655440000", "providers/p/vehicles/Xk29dLmPq8sT3vWz1yAb is unknown",
        "vehicle.lastLocation.supplementalLocationAccuracy: must be positive",
        "type.googleapis.com/google.rpc.RetryInfo", "PERMISSION_DENIED: the caller has no permission (401/403)",
        "usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0", "2026-11-22T15:59:36.000Z, HTTP/1.1 at 127.0.0.1:8443",
        "SSL: no alternative certificate subject name matches target host name 'fleetengine.googleapis.com'",
        "key ID e83c5163316f89bfbde7d8ab23ca25604af29999", "the key: none, a token; see https://host/token: no",
        "Zürich 東 ±4 m…", "/9j4AAQSkZJRgABAQEASABIAAD/2wBDAAgGBgcGBQgHBwcJ",
        "fingerprint 3A:5F:00:41:C2:77:9B:6E:21:58:F3:40:66:6C:8D:72:45:E0:2D:39:91:53:7A:B4:60:2F:33:48:0C:55:6B:4E",
        "$GPGSV,3,1,11,03,03,111,00,04,15,270,00,06,01,010,00,13,06,292,00",
    ])
    func keepEverythingElse(text: String) {
        #expect(ReportedText(text, without: [Self.token, "a-key.With/Signs"]).description == text)
    }

    /// A cut before the redaction would leave a part of a secret that can't be recognised.
    @Test(arguments: 200...320)
    func happenBeforeTheTextIsCut(length: Int) {
        let shown = ReportedText(String(repeating: "a b", count: length / 3) + Self.token).description
        #expect(!shown.contains("eyJ".prefix(2)))
        #expect(shown.utf8.count <= ReportedText.longest)
    }

    /// Text that a program cut earlier contains only a part of the secret.
    @Test(arguments: [0, 1, 40, 200])
    func removePartsOfASecret(start: Int) {
        for length in [12, 13, 30, 100] {
            let part = Self.token.dropFirst(start).prefix(length)
            #expect(ReportedText("<\(part)>", without: ["Bearer \(Self.token)"]).description == "<…>")
        }
    }

    /// If only the start of a long text is read, it may end in a part of a secret that is too short to be recognised.
    @Test func hideTheEndOfATextThatIsReadInPart() {
        for length in 8485..<8493 {
            let text = Self.token + String(repeating: "x", count: length - Self.token.utf8.count) + " hunter2"
            let shown = ReportedText(text, without: ["hunter2"]).description
            #expect(shown == "…" || shown == "… …", "\(shown)")
        }
    }

    @Test(arguments: [
        ("\u{1B}[2J\u{7}x", "\u{FFFD}[2J\u{FFFD}x"), ("van\u{202E}7\r\n8", "van\u{FFFD}7  8"),
        ("a\u{0}b", "a\u{FFFD}b"),
    ])
    func removeControlSequences(text: String, shown: String) {
        #expect(ReportedText(text).description == shown)
    }

    @Test func acceptInvalidUTF8() {
        #expect(ReportedText(bytes: [0x61, 0xFF, 0xC3, 0x62]).description == "a\u{FFFD}\u{FFFD}b")
        let broken = Array(Self.token.utf8.prefix(30)) + [0xFF] + Array(Self.token.utf8.dropFirst(30))
        #expect(ReportedText(bytes: broken, without: [Self.token]).description == "…\u{FFFD}…")
    }

    @Test func cutBetweenScalars() {
        let text = ReportedText(String(repeating: "東 ", count: 200), limit: 20).description
        #expect(text == "東 東 東 東 …")
        #expect(ReportedText("a" + String(repeating: "\u{301}", count: 100_000)).description.utf8.count <= 300)
    }

    @Test(arguments: [
        "headers were {Authorization: Bearer \(token)} for van-7",
        "token endpoint http://host/token?key=…: the answer is not HTTP: Received HTTP/0.9; check authorization.url",
        "got \(token) now", "token=abc, password: x y", "https://u:p@h/", "Bearer abc def",
        String(repeating: "word ", count: 300), "\u{1B}[0m \u{202E}",
    ])
    func areIdempotent(text: String) {
        let once = ReportedText(text).description
        #expect(ReportedText(once).description == once)
    }

    @Test func applyToInterpolatedValues() {
        let words = "Bearer abc123"
        let number = 7
        let text: ReportedText = "status \(number): \(words); \(ReportedText(words)) and \([words])"
        #expect(text.description == "status 7: Bearer …; Bearer … and [\"Bearer …\"]")
    }

    /// The time for a long text is bounded; otherwise these texts would take hours.
    @Test(
        .timeLimit(.minutes(2)), .enabled(if: !Sanitizer.isActive, "a sanitizer multiplies the time"),
        arguments: [
            "eyJ.", "eyJ", "eyJ ", ".", "a.b.c", "token=", "token", "Bearer ", "Bearer", "Authorization: ", "%", "%25",
            "\\", "\\u005c", "://", "://a", "@", "\"", "token:\"", "key:a", " ", "-", "e\u{301}", "QUFB",
        ])
    func takeBoundedTime(part: String) {
        let text = String(repeating: part, count: 1_000_000 / part.utf8.count)
        #expect(ReportedText(text, without: [Self.token, "%%%%", "eyJeyJeyJeyJ"]).description.utf8.count <= 300)
    }
}
