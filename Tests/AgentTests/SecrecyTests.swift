import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

/// What a running service, and the commands beside it, keep to themselves, whoever gives the tokens.
@Suite(
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isActive, "starts the program dozens of times, which takes seconds under a sanitizer")
)
struct Secrecy {
    enum Issuer: String, CaseIterable { case http, command, file }

    static let clientSecret = "client-secret-7d1f4a"

    @Test(arguments: Issuer.allCases) func areNowhereToBeFound(issuer: Issuer) async throws {
        let bench = try ServiceBench(faults: [("--errors", "503:0.3,401:0.2,403:0.1"), ("--resets", "0.1")])
        let source = try await SecretSource(issuer, bench)
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let config = try bench.configure {
            $0.authorization = source.authorization
            $0.outbox = "state/outbox.sqlite"
        }
        let recording = bench.directory.path("recording")
        var found = try await Self.words(of: config, source)

        // Whoever starts it may have no care for who reads what it writes.
        let service = try RunningProgram(
            [
                "/bin/sh", "-c", "umask 000; exec \"$0\" run --config \"$1\" --record \"$2\"", BuiltProgram.waypost,
                config, recording,
            ], environment: BuiltProgram.environment)
        let address = try await service.statusAddress()
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        for (number, epoch) in RecentDrive(epochs: 25).enumerated() {
            try receiver.send(epoch)
            if number == 0 {
                try #require(await service.errors.line(saying: " error: token ") != nil)
                try source.mend()
            }
            try #require(await bench.arrival(of: epoch) != nil)
        }
        for path in ["/status", "/metrics", "/healthz"] {
            let answer = await RawExchange.get(path, from: address)
            #expect(answer.text.contains("HTTP/1.1 200"))
            found += answer.text
        }
        found += try await Self.words(of: config, source)
        let written = try Self.written(["state", "recording"], in: bench.directory)
        found += written.text
        #expect(await service.terminate().ending == .exited(0))
        // written every few seconds, and at the end
        let recorded = try Self.written(["recording"], in: bench.directory)
        found += service.errors.text + service.output.text + recorded.text

        // There was something to tell, and it was told.
        for words in [
            "SQLite format 3", "GNRMC", "token rejected", "Fleet Engine busy", "ok       fits",
        ] {
            let isThere = found.contains(words)
            #expect(isThere, "nothing says: \(words)")
        }
        let open = written.open + recorded.open
        #expect(open.isEmpty, "others may read \(open)")
        #expect(!source.tokens.isEmpty)
        for token in source.tokens {
            let parts = token.split(separator: ".")
            #expect(parts.count == 3)
            let middles = parts.map { $0.dropFirst($0.count / 3).prefix(24) }
            let leaks = (parts + middles).count { found.contains($0) }
            #expect(leaks == 0, "\(leaks) parts of a token can be read")
        }
        for words in ["Bearer", "Please log in", Self.clientSecret] {
            let isThere = found.contains(words)
            #expect(!isThere, "it says: \(words)")
        }
    }

    /// What the commands print that know the configuration.
    private static func words(of config: String, _ source: SecretSource) async throws -> String {
        var text = ""
        for words in [
            ["check", "--online"], ["config"], ["config", "--json"], ["token"], ["outbox", "list"],
            ["outbox", "export"], ["bundle", "-o", "-", "--with-positions"],
        ] {
            // The receiver is the service's, or silent; an empty one spares the wait for it.
            let withoutReceiver = config + ".check"
            let silent = try String(contentsOf: URL(filePath: config), encoding: .utf8)
                .replacing(/"receiver": \{[^}]*\}/, with: #""receiver": {"type": "stdin"}"#)
            try Data(silent.utf8).write(to: URL(filePath: withoutReceiver))
            let outcome = try await BuiltProgram.run(words + ["--config", withoutReceiver])
            text += String(decoding: outcome.standardOutput + outcome.standardError, as: UTF8.self)
        }
        return text
    }

    /// Everything in these directories, and which of it others than its owner may open.
    private static func written(_ names: [String], in directory: TemporaryDirectory) throws -> (
        text: String, open: [String]
    ) {
        let files = FileManager.default
        var text = ""
        var open: [String] = []
        for name in names {
            let path = directory.path(name)
            let paths = [path] + (try files.contentsOfDirectory(atPath: path)).map { "\(path)/\($0)" }
            for path in paths {
                let attributes = try files.attributesOfItem(atPath: path)
                if let mode = attributes[.posixPermissions] as? Int, mode & 0o077 == 0 {} else { open.append(path) }
                if let data = files.contents(atPath: path) { text += String(decoding: data, as: Unicode.ASCII.self) }
            }
        }
        return (text, open)
    }
}
