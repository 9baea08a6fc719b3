import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

/// What `waypost token` says of each wrong answer: one line, whole, without a secret.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isActive, "starts the program dozens of times, which takes seconds under a sanitizer")
)
struct WrongTokenAnswers {
    struct Case: CustomTestStringConvertible {
        let name: String
        let answer: [UInt8]
        /// Behind the endpoint's name; `…` at the end stands for libcurl's own words.
        let says: String
        var exit: Int32 = 69
        var testDescription: String { name }
    }

    static let token = TestTokens.driver(vehicleID: "van-7")
    static let secret = "client-secret-7d1f"
    static let key = "VEHICLE_TOKEN_KEY"
    static let expected = "expected the token, bare or in JSON under \"\(key)\""

    /// An answer that holds every secret there is, wherever a server could put one.
    static func answer(_ status: String = "200 OK", _ fields: [String] = [], _ body: [UInt8]) -> [UInt8] {
        let head =
            ["HTTP/1.1 \(status)", "Content-Length: \(body.count)", "X-Echo: \(secret) \(token)"] + fields + ["", ""]
        return Array(head.joined(separator: "\r\n").utf8) + body
    }

    static func refusal(_ status: String, _ says: String, _ fields: String...) -> Case {
        Case(
            name: status, answer: answer(status, fields, Array("{\"error\":\"\(secret) \(token)\"}".utf8)),
            says: " answered \(status.prefix(3)): \(says)")
    }

    static func body(_ name: String, _ text: String, _ says: String, _ fields: String...) -> Case {
        Case(name: name, answer: answer("200 OK", fields, Array(text.utf8)), says: " gave \(says)")
    }

    static let cases: [Case] = [
        refusal(
            "301 Moved Permanently",
            "a redirect to http://127.0.0.1:1/login, which is not followed; set authorization.url to the final address, "
                + "or, if that is a login page, check authorization.headers and authorization.url",
            "Location: http://127.0.0.1:1/login?secret=\(secret)"),
        refusal(
            "400 Bad Request",
            "it does not understand the request; check authorization.url, headers, body and client certificate"),
        refusal("401 Unauthorized", "it rejects our credentials; check authorization.headers and authorization.url"),
        refusal(
            "403 Forbidden",
            "it does not let us have this vehicle's token: check vehicle.vehicleId, that the vehicle is enrolled there, "
                + "and authorization.headers and authorization.url"),
        refusal("404 Not Found", "it does not know the address or the vehicle; check authorization.url"),
        refusal("405 Method Not Allowed", "it expects another method; check authorization.method"),
        refusal(
            "405 Method Not Allowed", "it expects another method; it allows GET, POST; check authorization.method",
            "Allow: GET,POST"),
        refusal(
            "405 Method Not Allowed", "it expects another method; check authorization.method", "Allow: \(secret)"),
        refusal(
            "422 Unprocessable",
            "it does not accept what the request says; check authorization.headers and body, and the backend's log"),
        refusal("500 Internal Server Error", "it cannot answer now; see the backend's log"),
        refusal(
            "503 Service Unavailable",
            "it cannot answer now, and wants a pause (Retry-After); see the backend's log; the pause is 7 s",
            "Retry-After: 7"),
        body("empty", "", "nothing; \(expected); look into the issuer's log"),
        Case(
            name: "204", answer: answer("204 No Content", [], []),
            says: " gave nothing; \(expected); look into the issuer's log"),
        body(
            "HTML", "<!DOCTYPE html><p>\(secret)",
            "a page (HTML or XML), not a token; check that the address is the token endpoint itself "
                + "and that no login page or captive portal stands before it", "Content-Type: text/html"),
        body(
            "content type", "Sign in, \(secret)",
            "27 bytes of text/html that are neither a JSON object nor a token; \(expected); look into the issuer's log",
            "Content-Type: text/html; charset=\(secret)"),
        body(
            "secret content type", "Sign in",
            "7 bytes of …/… that are neither a JSON object nor a token; \(expected); look into the issuer's log",
            "Content-Type: \(secret)/\(token)"),
        body(
            "missing key", #"{"jwt":"\#(token)","\#(secret)":1}"#,
            "JSON without \"\(key)\"; it has \"…\", \"jwt\". Set tokenKey to \"jwt\""),
        body(
            "wrong type", #"{"\#(key)":["\#(token)"]}"#,
            "an array under \"\(key)\"; expected the token as a string. Set tokenKey"),
        body("array", #"["\#(token)"]"#, "an array; expected an object with the token under \"\(key)\""),
        body(
            "cut JSON", #"{"\#(key)":"\#(token)"#,
            "\(token.utf8.count + 22) bytes of application/json that are not valid JSON "
                + "(line 1, column 22); \(expected); was it cut off, or written in place?",
            "Content-Type: application/json"),
        body(
            "three parts", #"{"\#(key)":"a.b.c"}"#,
            "a token under \"\(key)\" that is not a JSON Web Token: its header is not base64url (cut off?); "
                + "let the issuer give a signed one: header, payload and signature"),
        body(
            "cut token", #"{"\#(key)":"\#(token.dropLast(42))"}"#,
            "a token under \"\(key)\" whose signature has 225 bytes; expected 256 or more for RS256; was it cut off?"),
        body(
            "bare cut token", String(token.prefix(60)),
            "a token as bare text that is not a JSON Web Token: it has 2 parts instead of three; "
                + "let the issuer give a signed one: header, payload and signature"),
        Case(
            name: "compressed", answer: answer("200 OK", ["Content-Encoding: aws-chunked"], [0x1F, 0x8B, 8, 0, 3]),
            says: ": the answer is compressed (Content-Encoding), which was not asked for, and cannot be decoded: …"),
        Case(
            name: "UTF-16", answer: answer("200 OK", [], "{\"a\":1}".utf16.flatMap { [UInt8($0), 0] }),
            says: " gave text in UTF-16; \(expected); let the issuer write UTF-8"),
        Case(
            name: "1 MB", answer: answer("200 OK", [], [UInt8](repeating: 0x20, count: 1 << 20)),
            says: ": the answer is larger than 65536 bytes; expected a small JSON object with the token; "
                + "check authorization.url"),
        Case(
            name: "not HTTP", answer: Array("SSH-2.0-OpenSSH_9.2\r\n\(secret)\r\n".utf8),
            says: ": the answer is not HTTP: …"),
    ]

    @Test(arguments: cases) func giveOneLineWithoutSecrets(row: Case) async throws {
        let server = try RawServer(answeringBytes: [row.answer])
        try await expect(row.says, exit: row.exit, of: "http://\(server.authority)")
    }

    @Test func giveOneLineWhenTheyDripOrDoNotCome() async throws {
        let drip = try RawServer(
            answering: ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "{", "}"], pause: .milliseconds(400))
        try await expect(
            ": no complete answer within 1 s; check the network and the backend's load, or raise "
                + "authorization.timeoutSeconds if it needs longer to start", of: "http://\(drip.authority)")
        let silent = try RawServer(answering: [])
        try await expect(
            ": no complete answer within 1 s; check the network and the backend's load, or raise "
                + "authorization.timeoutSeconds if it needs longer to start", of: "http://\(silent.authority)")
        let plain = try RawServer(answering: ["HTTP/1.1 400 Bad Request\r\n\r\n"])
        try await expect(": no secure connection: …", of: "https://\(plain.authority)")
        let closed = try LoopbackSocket.reservation()
        try await expect(
            ": no connection: Connection refused; check authorization.url, and that the backend runs",
            of: "http://127.0.0.1:\(closed.port)")
    }

    /// Runs `waypost token` against `origin`.
    private func expect(_ says: String, exit: Int32 = 69, of origin: String) async throws {
        let folder = try TemporaryFolder()
        let keyFile = try folder.write(Self.secret.utf8, to: "key", mode: 0o600)
        let config = try ServiceSetup(
            authorization: """
                {"type": "http", "url": "\(origin)/token/{vehicleId}?key=\(Self.secret)", "timeoutSeconds": 1,
                 "headers": {"Authorization": {"file": "\(keyFile)", "scheme": "bearer"}}}
                """
        ).write(in: folder)
        let outcome = try await BuiltProgram.run(["token", "--config", config])
        let text = String(decoding: outcome.standardError, as: UTF8.self)
        #expect(outcome.ending == .exited(exit))
        #expect(outcome.standardOutput.isEmpty)
        let line = "waypost: token endpoint \(origin)/token/van-7?key=…\(says)"
        if line.hasSuffix(": …") {
            #expect(text.hasPrefix(line.dropLast()) && text.split(separator: "\n").count == 1, "\(text)")
        } else {
            #expect(text == line + "\n")
        }
        let leaks = ([Self.secret] + Self.token.split(separator: ".").map(String.init)).count { text.contains($0) }
        #expect(leaks == 0, "a secret can be read")
    }
}
