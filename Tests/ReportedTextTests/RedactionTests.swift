import ReportedText
import Testing
import WaypostTestSupport

@Suite struct Redacting {
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
        .timeLimit(.minutes(2)),
        arguments: [
            ("eyJ.", 1_000_000), ("eyJ", 300_000), ("eyJ ", 100_000), (".", 100_000), ("eyJeyJ. ", 100_000),
            ("a.b.c", 100_000), ("token=", 100_000), ("Bearer ", 100_000), ("Authorization: ", 100_000), ("%", 100_000),
            ("%25", 100_000), ("\\", 100_000), ("\\u005c", 100_000), ("&#38;", 100_000), ("://", 100_000),
            ("://a", 100_000),
            ("@", 100_000), ("\"", 100_000), ("token:\"", 100_000), (" ", 100_000), ("-", 100_000), ("/", 100_000),
            ("e\u{301}", 100_000), ("a1B2c3D4", 100_000), ("\u{200B}", 100_000),
        ])
    func takesTimeInProportionToTheText(part: String, size: Int) {
        let text = String(repeating: part, count: size / part.utf8.count)
        #expect(ReportedText(text, without: [Self.token, "%%%%", "eyJeyJeyJeyJ"]).description.utf8.count <= 300)
    }
}
