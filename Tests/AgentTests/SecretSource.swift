import FleetEngineSimulator
import FoundationEssentials
import HTTPMessages
import LinuxPlatform
import Testing
import WaypostTestSupport

/// An issuer of one kind that fails until it is repaired, and includes its secrets in its errors.
final class SecretSource: Sendable {
    let authorization: String
    private let kind: Secrecy.Issuer
    private let backend: TokenBackend
    private let token: String
    private let directory: TemporaryDirectory

    init(_ kind: Secrecy.Issuer, _ bench: ServiceBench) async throws {
        self.kind = kind
        directory = try TemporaryDirectory()
        backend = try TokenBackend(of: bench.simulator, pages: .max)
        let issuer = try LocalAddress(String(bench.simulator.baseURL.origin.dropFirst("http://".count)))
        // The simulator's faults also affect token requests, so several attempts may be necessary.
        var found: String?
        for _ in 0..<50 where found == nil {
            let answer = await RawExchange.get("/token/driver/van-7", from: issuer)
            found = answer.text.firstMatch(of: /eyJ[\w.-]+/).map { String($0.output) }
        }
        token = try #require(found)
        let keyFile = try directory.write(Secrecy.clientSecret.utf8, to: "key", mode: 0o600)
        let tokenFile = try directory.write(token.utf8, to: "token", mode: 0o600)
        let halfFile = try directory.write(token.prefix(token.count / 2).utf8, to: "half", mode: 0o600)
        switch kind {
        case .http:
            authorization = """
                {"type": "http", "url": "\(backend.url)?key=\(Secrecy.clientSecret)",
                 "headers": {"Authorization": {"file": "\(keyFile)", "scheme": "bearer"}}}
                """
        case .command:
            let mended = directory.path("mended")
            authorization = """
                {"type": "command", "command": ["/bin/sh", "-c",
                  "test -e \(mended) || { echo \\"no $KEY for $(cat \(tokenFile))\\" >&2; exit 1; }; cat \(tokenFile)"],
                 "environment": {"KEY": {"file": "\(keyFile)"}}}
                """
        case .file:
            authorization = #"{"type": "file", "path": "\#(halfFile)"}"#
        }
    }

    /// Makes the issuer return tokens from now on.
    func repair() throws {
        switch kind {
        case .http: backend.answerWithTokens()
        case .command: try directory.write([], to: "mended")
        case .file: try FileSystem.rename(directory.path("token"), to: directory.path("half"))  // in one step
        }
    }

    var tokens: [String] { kind == .http ? backend.tokens : [token] }
}
