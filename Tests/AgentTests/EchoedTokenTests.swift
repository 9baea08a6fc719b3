import FoundationEssentials
import LinuxPlatform
import ReceiverSimulator
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// After a server has echoed the request, no part of the token is found anywhere.
@Suite(
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isActive, "starts the program dozens of times, which takes seconds under a sanitizer")
)
struct EchoedTokens {
    static let token = TestTokens.driver(
        vehicleID: "van-7", issuedAt: Int(UTCTime.system.secondsSince1970))
    /// A token that looks like an ordinary word.
    static let plainToken = [
        TestTokens.token(
            payload:
                #"{"iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/","authorization":{"vehicleid":"*"}}"#,
            header: #"{"alg":"RS256"}"#
        ).split(separator: ".").prefix(2).joined(separator: "."), String(repeating: "plainkey", count: 43),
    ].joined(separator: ".")

    static func errorAnswer(status: Int, echoing token: String) -> String {
        let broken = token.enumerated().map { $0.offset % 30 == 29 ? "\($0.element) \\n" : "\($0.element)" }.joined()
        let escaped = token.replacing(".", with: "\\u002e")
        let body = """
            {"error":{"code":\(status),"status":"REFUSED","message":"no: \(token.dropFirst(token.utf8.count / 2)); \
            \(broken); \(escaped); Authorization: Bearer \(token)","details":[{"fieldViolations":[\
            {"field":"headers[\\"authorization\\"]","description":"Bearer \(token.replacing(".", with: "%2E"))"}]}]}}
            """
        return """
            HTTP/1.1 \(status) Refused Bearer \(token)\r\nX-Echo: Bearer \(token)\r\nContent-Length: \(body.utf8.count)\r
            Connection: close\r\n\r\n\(body)
            """
    }

    static func redirectAnswer(echoing token: String) -> String {
        let host = token.prefix(200).filter { $0 != "." && $0 != "_" }
        return """
            HTTP/1.1 302 Bearer \(token)\r\nLocation: https://u:\(token)@\(host).example.com/?token=\(token)\r
            Content-Length: 0\r\nConnection: close\r\n\r\n
            """
    }

    /// Returns a line that a broken server may send instead of a status line.
    static func answerWithoutStatusLine(echoing token: String) -> String {
        "\(token) Authorization: Bearer \(token)\r\n\r\n"
    }

    enum Echo: String, CaseIterable { case s400, s401, s403, s404, s429, s500, redirect, noHTTP }

    static func answer(for echo: Echo, token: String) -> String {
        switch echo {
        case .redirect: redirectAnswer(echoing: token)
        case .noHTTP: answerWithoutStatusLine(echoing: token)
        default: errorAnswer(status: Int(echo.rawValue.dropFirst()) ?? 0, echoing: token)
        }
    }

    @Test(arguments: Echo.allCases, [token, plainToken])
    func appearInNoOutput(echo: Echo, token: String) async throws {
        let directory = try TemporaryDirectory()
        let server = try RawServer(answering: [Self.answer(for: echo, token: token)])
        let receiver = try PluggedReceiver(link: ServiceSetup.device(in: directory))
        var setup = ServiceSetup(endpoint: "http://\(server.authority)")
        setup.authorization = #"{"type": "file", "path": "\#(try Self.secretFile(token, in: directory))"}"#
        setup.outbox = "state/outbox.sqlite"
        setup.logFormat = token == Self.token ? "json" : "text"
        try FileManager.default.createDirectory(atPath: directory.path("state"), withIntermediateDirectories: true)
        let config = try setup.write(in: directory)

        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", config, "--record", directory.path("recording")],
            environment: BuiltProgram.environment)
        let address = try await service.statusAddress()
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        for (number, epoch) in RecentDrive(epochs: 4).enumerated() {
            try receiver.send(epoch)
            try #require(await service.errors.line(saying: "accepted update \(number + 1)") != nil)
        }
        try #require(await service.errors.line(saying: Self.logMessage(for: echo)) != nil)

        var found = Data()
        for path in ["/status", "/metrics", "/healthz"] {
            let answer = await RawExchange.get(path, from: address)
            #expect(answer.text.contains("HTTP/1.1 "))
            found += Data(answer.text.utf8)
        }
        // The commands run next to the service, and their configuration must name the port that the service holds.
        setup.status = address.description
        setup.receiver = #"{"type": "stdin"}"#  // the other port is the service's
        _ = try setup.write(in: directory)
        for words in [
            ["why"], ["why", "--json"], ["status"], ["status", "--json"], ["outbox", "list"],
            ["outbox", "list", "--json"], ["outbox", "export"], ["token"], ["check", "--online"],
        ] {
            let outcome = try await BuiltProgram.run(words + ["--config", config])
            found += Data(outcome.standardOutput + outcome.standardError)
        }
        found += try Self.contents(of: ["state", "recording"], in: directory)
        await service.terminate()
        found += try Self.contents(of: ["state", "recording"], in: directory)
        found += Data((service.errors.text + service.output.text).utf8)

        let text = String(decoding: found, as: Unicode.ASCII.self)
        let isReported = text.contains(Self.logMessage(for: echo))
        #expect(isReported, "no output contains: \(Self.logMessage(for: echo))")
        let pieces = Self.pieces(of: token, in: found)
        #expect(pieces.isEmpty, "\(echo): the token can be read: \(pieces)")
    }

    /// A replay ends by itself and prints a summary.
    @Test(arguments: [Echo.s400, .s500]) func appearInNoOutputOfAReplay(echo: Echo) async throws {
        let directory = try TemporaryDirectory()
        let server = try RawServer(answering: [Self.answer(for: echo, token: Self.token)])
        var setup = ServiceSetup(endpoint: "http://\(server.authority)")
        setup.authorization = #"{"type": "file", "path": "\#(try Self.secretFile(Self.token, in: directory))"}"#
        let log = try directory.write(RecentDrive(epochs: 12).flatMap(\.sentences), to: "drive.nmea")
        let replay = try RunningProgram(
            [
                BuiltProgram.waypost, "replay", log, "--config", try setup.write(in: directory), "--outbox",
                directory.path("outbox.sqlite"), "--speed", "max",
            ], environment: BuiltProgram.environment)
        _ = await replay.errors.line(saying: "REFUSED")
        await replay.terminate()
        #expect(replay.errors.text.contains("REFUSED"), "\(replay.errors.text)")
        var found = Data((replay.errors.text + replay.output.text).utf8)
        found += try Self.contents(of: ["."], in: directory)
        #expect(Self.pieces(of: Self.token, in: found).isEmpty)
    }

    /// Returns the part of the log that an operator would search for.
    private static func logMessage(for echo: Echo) -> String {
        switch echo {
        case .redirect: "302 redirect, not followed"
        case .noHTTP: "the answer is not HTTP"
        default: "\(echo.rawValue.dropFirst()) REFUSED: no: "
        }
    }

    private static func secretFile(_ token: String, in directory: TemporaryDirectory) throws -> String {
        try FileManager.default.createDirectory(atPath: directory.path("keys"), withIntermediateDirectories: true)
        return try directory.write(token.utf8, to: "keys/token", mode: 0o600)
    }

    /// Returns the contents of the files in these directories. Omits subdirectories, because `keys` contains the token.
    private static func contents(of names: [String], in directory: TemporaryDirectory) throws -> Data {
        var bytes = Data()
        for name in names {
            for file in try FileManager.default.contentsOfDirectory(atPath: directory.path(name)).sorted() {
                // Foundation's own function leaks a page for an empty file. A socket has nothing to read.
                bytes += (try? FileSystem.read(1 << 22, at: 0, of: directory.path("\(name)/\(file)"))) ?? []
            }
        }
        return bytes
    }

    /// Returns every run of twelve of the token's letters and digits that `found` contains in the same order, whatever
    /// their case or encoding.
    static func pieces(of token: String, in found: Data) -> Set<String> {
        let length = 12
        let letters = Array(token.utf8.filter(isLetter))
        var wanted: Set<[UInt8]> = []
        for start in 0...(letters.count - length) { wanted.insert(Array(letters[start..<start + length])) }
        let text = found.filter(isLetter)
        var pieces: Set<String> = []
        for start in stride(from: 0, through: text.count - length, by: 1) {
            let piece = Array(text[start..<start + length])
            if wanted.contains(piece) { pieces.insert(String(decoding: piece, as: UTF8.self)) }
        }
        return pieces
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
    }

    @Test func wouldBeFoundIfTheyAppeared() {
        let found = Data("x \(Self.token.dropFirst(100).prefix(6)) \n\"\(Self.token.dropFirst(106).prefix(9))".utf8)
        #expect(Self.pieces(of: Self.token, in: found).count > 0)
        #expect(Self.pieces(of: Self.token, in: Data("nothing of it".utf8)).isEmpty)
    }
}
