import ReportedText
import Testing
import WaypostTestSupport

@Suite struct Redactions {
    static let token = TestTokens.driver(vehicleID: "van-7")
    static let half = String(token.prefix(token.utf8.count / 2))

    /// The token with `mark` behind every so many characters.
    private static func broken(every count: Int, _ mark: String) -> String {
        var text = ""
        for (index, character) in token.enumerated() {
            if index > 0, index % count == 0 { text += mark }
            text.append(character)
        }
        return text
    }

    @Test(
        arguments: [
            ("no key in /etc/waypost/backend-key: line 3", "no key in /etc/waypost/backend-key: line 3"),
            ("x86_64-linux-gnu at ip-10-0-0-12.compute.internal", "x86_64-linux-gnu at ip-10-0-0-12.compute.internal"),
            ("got \(token) instead", "got … instead"),
            ("token=eyJhbGciOi, cut", "token=…, cut"),
            ("eyJhbGciOi, cut", "…, cut"), ("key e83c5163316f89bfbde7 is bad", "key … is bad"),
            ("words of plain text without figures", "words of plain text without figures"),
            (String(repeating: "a", count: 41), "…"), ("hunter2 was refused", "… was refused"),
            ("abc stays", "abc stays"), ("key wJalrXU/K7MDENG/bPxRfi is bad", "key … is bad"),
            ("key /9j4AAQSkZJRgABAQEASABI= is bad", "key /…= is bad"),
            ("GET /token/driver/Van-7 of Backend/2.4", "GET /token/driver/Van-7 of Backend/2.4"),
            ("in /srv/e83c5163316f89bfbde7/token", "in /srv/…/token"),
        ])
    func strikesOutWhatMayBeASecret(text: String, shown: String) {
        #expect(ReportedText(text, without: ["hunter2", "abc", ""]).description == shown)
    }

    @Test(arguments: [
        ("Bearer abcdef", "…"), ("got Authorization: Bearer abc-def now", "got Authorization: … now"),
        ("\"authorization\": [\"x\"]", "\"authorization\": [\"…\"]"),
        ("{\"Authorization\":\"Bearer q\"}", "{\"Authorization\":\"…\"}"),
        ("basic dXNlcjpwYXNz; basic checks failed", "…; basic checks failed"),
        ("expected a Bearer token in the header", "expected a Bearer token in the header"),
        ("Proxy-Authorization: Digest username=\"u\"", "Proxy-Authorization: …\"u\""),
        ("Cookie: a=b; c=d\nnext", "Cookie: … next"), ("invalid token: expired", "invalid token: expired"),
        ("invalid token: ab12", "invalid token: …"), ("password: hunter", "password: …"),
        ("GET /x?access_token=abc&id=7", "GET /x?access_token=…&id=7"), ("api-key = \"a b\" x", "api-key = \"…\" x"),
        ("{\\\"client_secret\\\":\\\"abc\\\",\\\"id\\\":7}", "{\\\"client_secret\\\":\\\"…\\\",\\\"id\\\":7}"),
        ("https://user:pass@host/path", "https://…@host/path"), ("x-goog-api-key: AIza", "x-goog-api-key: …"),
        ("%42earer%20abcdef", "…"), ("\\u0042earer abcdef", "…"),
    ])
    func strikesOutWhatIsCalledASecret(text: String, shown: String) {
        #expect(ReportedText(text).description == shown)
    }

    @Test(arguments: [
        "providers/my-project/vehicles/van-7 was not found", "request 8f14e45fceea167a failed, checksum 1a2b3c4d",
        "trace 550e8400-e29b-41d4-a716-446655440000", "vehicles/van-550e8400-e29b-41d4-a716-446655440000",
        "vehicle.lastLocation.supplementalLocationAccuracy: must be positive",
        "type.googleapis.com/google.rpc.RetryInfo", "PERMISSION_DENIED: the caller has no permission (401/403)",
        "usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0", "2026-11-22T15:59:36.000Z, HTTP/1.1 at 127.0.0.1:8443",
        "SSL: no alternative certificate subject name matches target host name 'fleetengine.googleapis.com'",
        "MOD=NEO-M8N-0, FWVER=SPG 4.04 (7f89f7), PROTVER=32.01", "the key: none, a token; see https://host/token: no",
        "Zürich 東 ±4 m…", "providers/p/vehicles/Xk29dLmPq8sT3vWz1yAb is unknown", "set keyJson or privateKeyJSON",
        "my-company-delivery-vehicle-0000017",
        // Figures that are no characters.
        "tried 10.0.0.41, 10.0.0.42, 192.168.66.77 and 2001:0db8:85a3:0000:0000:8a2e:0370:7334",
        "from 2026-11-22 15:59:36 to 2026-11-23 16:45:37, 48.85837, 2.294481, 35 m, then 52.52437, 13.41053, 34 m",
        "fingerprint 3A:5F:00:41:C2:77:9B:6E:21:58:F3:40:66:6C:8D:72:45:E0:2D:39:91:53:7A:B4:60:2F:33:48:0C:55:6B:4E",
        "$GPGSV,3,1,11,03,03,111,00,04,15,270,00,06,01,010,00,13,06,292,00", "aa:bb:cc:41:42:43, 41:42:43:44:45:46",
        "$GPGSA,A,3,22,25,28,32,36,40,44,48,51,56,,,2.0,1.2,1.6", "use 4800, 9600, 19200, 38400, 57600 or 115200",
    ])
    func leavesUsefulWords(text: String) { #expect(ReportedText(text).description == text) }

    /// Every way in which a server, or what stands before it, might give a token back.
    @Test(arguments: [
        token, half, String(token.dropFirst(40)), token.replacing(".", with: "%2E"),
        token.replacing(".", with: "\\u002e"),
        token.replacing(".", with: "%252E"), token.replacing(".", with: "&#46;"), token.uppercased(),
        broken(every: 1, "\u{200B}"), broken(every: 20, "\r\n  "), broken(every: 7, " "), broken(every: 9, "\u{1B}"),
        broken(every: 30, "\" + \""), broken(every: 4, "."),
        token.utf8.map { "%" + String($0, radix: 16) }.joined(),
        token.utf8.map { "\\u00" + String($0, radix: 16) }.joined(),
    ])
    func strikesOutTheTokenThatWasSent(echo: String) {
        let shown = ReportedText("refused: <\(echo)> is no token", without: ["Bearer \(Self.token)"]).description
        #expect(shown == "refused: <…> is no token")
        #expect(
            ReportedText("refused: <\(echo)> is no token").description.utf8.count < 60 || echo.contains(" ")
                || echo == echo.uppercased())
    }

    private static func figures(_ text: String, radix: Int, digits: Int = 1, mark: String = "", _ gap: String) -> String
    {
        text.utf8.map { byte in
            let figure = String(byte, radix: radix)
            return mark + String(repeating: "0", count: max(0, digits - figure.utf8.count)) + figure
        }.joined(separator: gap)
    }

    /// The figures of its characters, whichever language or tool wrote them: whoever's token it is.
    @Test(arguments: [
        figures(token, radix: 16, ":"), figures(token, radix: 16, " "), figures(token, radix: 10, ", "),
        figures(token, radix: 10, ",\n            "), figures(token, radix: 16, mark: "0x", ", "),
        figures(token, radix: 8, mark: "\\", ""), figures(token, radix: 2, " "),
        figures(token, radix: 2, digits: 8, " "),
        figures(token, radix: 16, digits: 4, mark: "U+", " "), figures(token, radix: 16, mark: "\\u{", "}"),
        figures(token, radix: 16, mark: "=", ""), figures(token, radix: 16, digits: 6, mark: "\\", " "),
        figures(token, radix: 16, digits: 8, mark: "\\U", ""), figures(token, radix: 10, mark: "&#", ""),
        figures(token.uppercased(), radix: 16, "-").uppercased(), figures(token, radix: 16, "\u{2009}"),
        stride(from: 0, to: 120, by: 2).map { figures(String(token.dropFirst($0).prefix(2)), radix: 16, "") }
            .joined(separator: " "),
        figures(String(token.prefix(12)), radix: 16, " "), figures(token, radix: 16, "00 ") + "00",
        figures("123456789012", radix: 16, ""),
    ])
    func strikesOutATokenInFigures(echo: String) {
        for secrets in [[], [Self.token]] {
            let shown = ReportedText("refused: <\(echo)> is no token", without: secrets).description
            #expect(shown.hasPrefix("refused: <") && shown.hasSuffix("> is no token") && shown.contains("…"))
            #expect(shown.utf8.count < 36, "\(shown)")
        }
    }

    @Test(arguments: [
        String(String.UnicodeScalarView(token.unicodeScalars.compactMap { Unicode.Scalar($0.value + 0xFEE0) })),
        token.unicodeScalars.map { "\\u" + String($0.value + 0xFEE0, radix: 16) }.joined(),
        token.unicodeScalars.map { "&#x" + String($0.value + 0xFEE0, radix: 16) + ";" }.joined(),
    ])
    func strikesOutATokenInWideLetters(echo: String) {
        #expect(ReportedText("refused: <\(echo)> is no token").description == "refused: <…> is no token")
    }

    /// As escapes these marks would take letters of the secret away, but the text is shown with them.
    @Test(arguments: [
        ("tops3cretdepotcredential42XqZ", #"tops%3cretdepo\tcrede\ntial%42XqZ"#),
        ("correcthorsebatterystaple", #"corr%ecthors%ebatte\rystaple"#),
        ("corr%ecthorse%batterystaple", "corr%ecthorse%batterystaple"),
    ])
    func strikesOutASecretAsItIsWritten(secret: String, echo: String) {
        #expect(ReportedText("refused: <\(echo)>", without: [secret]).description == "refused: <…>")
    }

    @Test func strikesOutAShortTokenInAnyForm() {
        let secrets = ["Bearer opaque-7f3k", "opaque-7f3k"]
        for echo in ["opaque-7f3k", "OPAQUE-7F3K", "o p a q u e - 7 f 3 k", "opaque%2D7f3k", "\"opaque\" + \"-7f3k\""] {
            let shown = ReportedText("got \(echo) here", without: secrets).description
            #expect(!shown.lowercased().contains("7f3k") && !shown.contains("opaque"), "\(shown)")
            #expect(shown.hasPrefix("got ") && shown.hasSuffix(" here"), "\(shown)")
        }
    }

    /// A cut would leave a piece that nothing recognises.
    @Test(arguments: 200...320)
    func strikesOutBeforeItCuts(length: Int) {
        let shown = ReportedText(String(repeating: "a b", count: length / 3) + Self.token).description
        #expect(!shown.contains("eyJ") && !shown.contains("eyJ".prefix(2)))
        #expect(shown.utf8.count <= ReportedText.longest)
    }

    @Test(arguments: [
        ("\u{1B}[2J\u{7}x", "\u{FFFD}[2J\u{FFFD}x"), ("van\u{202E}7\r\n8", "van\u{FFFD}7  8"),
        ("a\u{0}b", "a\u{FFFD}b"),
    ])
    func leavesNothingThatSteersATerminal(text: String, shown: String) {
        #expect(ReportedText(text).description == shown)
    }

    @Test func takesBytesThatAreNoText() {
        #expect(ReportedText(bytes: [0x61, 0xFF, 0xC3, 0x62]).description == "a\u{FFFD}\u{FFFD}b")
        let broken = Array(Self.token.utf8.prefix(30)) + [0xFF] + Array(Self.token.utf8.dropFirst(30))
        #expect(ReportedText(bytes: broken, without: [Self.token]).description == "…")
    }

    /// A secret may begin with the word for its kind: that alone gives nothing away.
    @Test(arguments: ["refresh-token-7f3a", "RefreshToken7f3a", "refresh-token"])
    func leavesTheWordForTheKindOfASecret(secret: String) {
        let said = "the refresh token was used before, and \(secret) is gone"
        #expect(
            ReportedText(said, without: [secret]).description == "the refresh token was used before, and … is gone")
    }

    @Test func cutsBetweenScalars() {
        let text = ReportedText(String(repeating: "東 ", count: 200), limit: 20).description
        #expect(text == "東 東 東 東 …")
        #expect(ReportedText("a" + String(repeating: "\u{301}", count: 100_000)).description.utf8.count <= 300)
    }

    @Test(arguments: [
        "headers were {Authorization: Bearer \(token)} for van-7", "Cookie: a=b; c=d\nnext line",
        "token endpoint http://host/token?key=…: the answer is not HTTP: Received HTTP/0.9; check authorization.url",
        "got \(token) now", "token=abc, password: x y", "https://u:p@h/", "Bearer abc def",
        String(repeating: "word ", count: 300), "\u{1B}[0m \u{202E}",
    ])
    func changesNothingTwice(text: String) {
        let once = ReportedText(text).description
        #expect(ReportedText(once).description == once)
    }

    @Test func redactsWhatIsInterpolated() {
        let (words, number) = ("Bearer abc123", 7)
        let text: ReportedText = "status \(number): \(words); \(ReportedText(words)) and \([words])"
        #expect(text.description == "status 7: …; … and [\"…\"]")
    }

    /// Were the time anything but proportional, these would take hours.
    @Test(
        .timeLimit(.minutes(2)), .enabled(if: !Sanitizer.isActive, "a sanitizer multiplies the time"),
        arguments: [
            ("eyJ.", 1_000_000), ("eyJ", 300_000), ("eyJ ", 100_000), (".", 100_000), ("eyJeyJ. ", 100_000),
            ("a.b.c", 100_000), ("token=", 100_000), ("Bearer ", 100_000), ("Authorization: ", 100_000), ("%", 100_000),
            ("%25", 100_000), ("\\", 100_000), ("\\u005c", 100_000), ("&#38;", 100_000), ("://", 100_000),
            ("://a", 100_000),
            ("@", 100_000), ("\"", 100_000), ("token:\"", 100_000), (" ", 100_000), ("-", 100_000), ("/", 100_000),
            ("e\u{301}", 100_000), ("a1B2c3D4", 100_000), ("\u{200B}", 100_000), ("65 ", 100_000), ("6", 100_000),
            ("65 41 zz ", 100_000), ("\u{FF45}", 100_000), ("65 …", 100_000),
        ])
    func takesTimeInProportionToTheText(part: String, size: Int) {
        let text = String(repeating: part, count: size / part.utf8.count)
        #expect(ReportedText(text, without: [Self.token, "%%%%", "eyJeyJeyJeyJ"]).description.utf8.count <= 300)
    }
}
