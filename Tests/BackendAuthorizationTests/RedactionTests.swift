import Testing
import WaypostTestSupport

@testable import BackendAuthorization

@Suite struct Redacting {
    static let token = TestTokens.driver(vehicleID: "van-7")

    @Test(
        arguments: [
            ("no key in /etc/waypost/backend-key: line 3", "no key in /etc/waypost/backend-key: line 3"),
            ("x86_64-linux-gnu at ip-10-0-0-12.compute.internal", "x86_64-linux-gnu at ip-10-0-0-12.compute.internal"),
            ("got \(token) instead", "got ….….… instead"),
            ("token=eyJhbGciOi, cut", "…, cut"),
            ("eyJhbGciOi, cut", "…, cut"), ("key e83c5163316f89bfbde7 is bad", "key … is bad"),
            ("words of plain text without figures", "words of plain text without figures"),
            (String(repeating: "a", count: 41), "…"), ("hunter2 was refused", "… was refused"),
            ("abc stays", "abc stays"), ("key wJalrXU/K7MDENG/bPxRfi is bad", "key … is bad"),
            ("key /9j4AAQSkZJRgABAQEASABI= is bad", "key /… is bad"),
            ("GET /token/driver/Van-7 of Backend/2.4", "GET /token/driver/Van-7 of Backend/2.4"),
            ("in /srv/e83c5163316f89bfbde7/token", "in /srv/…/token"),
        ])
    func strikesOutWhatMayBeASecret(text: String, shown: String) {
        #expect(Redaction(["hunter2", "abc", ""]).applied(to: text) == shown)
    }

    @Test func takesTheLongestFirst() {
        #expect(Redaction(["pass", "user:pass"]).applied(to: "user:pass, pass") == "…, …")
    }
}
