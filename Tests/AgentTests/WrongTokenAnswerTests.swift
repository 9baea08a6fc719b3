import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

/// The report of `waypost token` on each invalid answer: one complete line without secrets.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isActive, "starts the program dozens of times, which takes seconds under a sanitizer")
)
struct WrongTokenAnswers {
    static let token = TestTokens.driver(vehicleID: "van-7")
    static let secret = "client-secret-7d1f"
    static let key = "VEHICLE_TOKEN_KEY"

    /// Returns an answer that contains every secret, in each place where a server could put one.
    static func answer(_ status: String = "200 OK", _ fields: [String] = [], _ body: [UInt8]) -> [UInt8] {
        let head =
            ["HTTP/1.1 \(status)", "Content-Length: \(body.count)", "X-Echo: \(secret) \(token)"] + fields + ["", ""]
        return Array(head.joined(separator: "\r\n").utf8) + body
    }

    static func rejection(_ status: String, _ fields: String...) -> (String, [UInt8]) {
        (status, answer(status, fields, Array("{\"error\":\"\(secret) \(token)\"}".utf8)))
    }

    static func success(named name: String, body: String, headers: String...) -> (String, [UInt8]) {
        (name, answer("200 OK", headers, Array(body.utf8)))
    }

    static let cases: [(String, [UInt8])] = [
        rejection("301 Moved Permanently", "Location: http://127.0.0.1:1/login?secret=\(secret)"),
        rejection("400 Bad Request"), rejection("401 Unauthorized"), rejection("403 Forbidden"),
        rejection("405 Method Not Allowed", "Allow: \(secret)"), rejection("422 Unprocessable"),
        rejection("500 Internal Server Error"), rejection("503 Service Unavailable", "Retry-After: 7"),
        success(named: "empty", body: ""),
        success(named: "HTML", body: "<!DOCTYPE html><p>\(secret)", headers: "Content-Type: text/html"),
        success(
            named: "content type", body: "Sign in, \(secret)", headers: "Content-Type: text/html; charset=\(secret)"),
        success(named: "secret content type", body: "Sign in", headers: "Content-Type: \(secret)/\(token)"),
        success(named: "missing key", body: #"{"jwt":"\#(token)","\#(secret)":1}"#),
        success(named: "wrong type", body: #"{"\#(key)":["\#(token)"]}"#),
        success(named: "array", body: #"["\#(token)"]"#), success(named: "cut JSON", body: #"{"\#(key)":"\#(token)"#),
        success(named: "cut token", body: #"{"\#(key)":"\#(token.dropLast(42))"}"#),
        success(named: "bare cut token", body: String(token.prefix(60))),
        ("compressed", answer("200 OK", ["Content-Encoding: aws-chunked"], [0x1F, 0x8B, 8, 0, 3])),
        ("UTF-16", answer("200 OK", [], "{\"a\":1}".utf16.flatMap { [UInt8($0), 0] })),
        ("1 MB", answer("200 OK", [], [UInt8](repeating: 0x20, count: 1 << 20))),
        ("not HTTP", Array("SSH-2.0-OpenSSH_9.2\r\n\(secret)\r\n".utf8)),
    ]

    @Test(arguments: cases) func areReportedInOneLineWithoutSecrets(name: String, answer: [UInt8]) async throws {
        let server = try RawServer(answeringBytes: [answer])
        try await expectOneLine(of: "http://\(server.authority)")
    }

    @Test func areReportedInOneLineIfTheyAreSlowOrMissing() async throws {
        let drip = try RawServer(
            answering: ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "{", "}"], pause: .milliseconds(400))
        let silent = try RawServer(answering: [])
        let plain = try RawServer(answering: ["HTTP/1.1 400 Bad Request\r\n\r\n"])
        let closed = try LoopbackSocket.reservation()
        for origin in [
            "http://\(drip.authority)", "http://\(silent.authority)", "https://\(plain.authority)",
            "http://127.0.0.1:\(closed.port)",
        ] { try await expectOneLine(of: origin) }
    }

    private func expectOneLine(of origin: String) async throws {
        let directory = try TemporaryDirectory()
        let keyFile = try directory.write(Self.secret.utf8, to: "key", mode: 0o600)
        let config = try ServiceSetup(
            authorization: """
                {"type": "http", "url": "\(origin)/token/{vehicleId}?key=\(Self.secret)", "timeoutSeconds": 1,
                 "headers": {"Authorization": {"file": "\(keyFile)", "scheme": "bearer"}}}
                """
        ).write(in: directory)
        let outcome = try await BuiltProgram.run(["token", "--config", config])
        let text = String(decoding: outcome.standardError, as: UTF8.self)
        #expect(outcome.ending == .exited(69))
        #expect(outcome.standardOutput.isEmpty)
        #expect(text.hasPrefix("waypost: token endpoint \(origin)/token/van-7?key=…"), "\(text)")
        #expect(text.split(separator: "\n").count == 1, "\(text)")
        let leaks = ([Self.secret] + Self.token.split(separator: ".").map(String.init)).count { text.contains($0) }
        #expect(leaks == 0, "a secret can be read")
    }
}
