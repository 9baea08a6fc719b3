import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

/// Secrets that neither a running service nor the commands next to it may disclose, with any issuer of tokens.
@Suite(
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isActive, "starts the program dozens of times, which takes seconds under a sanitizer")
)
struct Secrecy {
    enum Issuer: String, CaseIterable { case http, command, file }

    static let clientSecret = "client-secret-7d1f4a"

    @Test(arguments: Issuer.allCases) func keepsSecretsOutOfAllOutput(issuer: Issuer) async throws {
        let bench = try ServiceBench(faults: [("--errors", "503:0.3,401:0.2,403:0.1"), ("--resets", "0.1")])
        let source = try await SecretSource(issuer, bench)
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let config = try bench.configure {
            $0.authorization = source.authorization
            $0.outbox = "state/outbox.sqlite"
        }
        let recording = bench.directory.path("recording")
        var found = try await Self.commandOutput(config: config)

        // The caller may have a permissive umask.
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
                try source.repair()
            }
            try #require(await bench.arrival(of: epoch) != nil)
        }
        for path in ["/status", "/metrics", "/healthz"] {
            let answer = await RawExchange.get(path, from: address)
            #expect(answer.text.contains("HTTP/1.1 200"))
            found += answer.text
        }
        found += try await Self.commandOutput(config: config)
        let written = try Self.contents(of: ["state", "recording"], in: bench.directory)
        found += written.text
        #expect(await service.terminate().ending == .exited(0))
        // The recording is written every few seconds and at the end.
        let recorded = try Self.contents(of: ["recording"], in: bench.directory)
        found += service.errors.text + service.output.text + recorded.text

        // There was an event to report, and it was reported.
        for words in [
            "SQLite format 3", "GNRMC", "token rejected", "Fleet Engine busy", "ok       fits",
        ] {
            let isFound = found.contains(words)
            #expect(isFound, "no output contains: \(words)")
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
            let isFound = found.contains(words)
            #expect(!isFound, "the output contains: \(words)")
        }
    }

    /// Returns the output of the commands that read the configuration.
    private static func commandOutput(config: String) async throws -> String {
        var text = ""
        for words in [
            ["check", "--online"], ["config"], ["config", "--json"], ["token"], ["outbox", "list"],
            ["outbox", "export"], ["bundle", "-o", "-"],
        ] {
            // The service holds the receiver, or the receiver is silent. With empty input, the command needn't wait for
            // it.
            let withoutReceiver = config + ".check"
            let silent = try String(contentsOf: URL(filePath: config), encoding: .utf8)
                .replacing(/"receiver": \{[^}]*\}/, with: #""receiver": {"type": "stdin"}"#)
            try Data(silent.utf8).write(to: URL(filePath: withoutReceiver))
            let outcome = try await BuiltProgram.run(words + ["--config", withoutReceiver])
            #expect(outcome.ending != .exited(64), "\(words)")
            text += String(decoding: outcome.standardOutput + outcome.standardError, as: UTF8.self)
        }
        return text
    }

    /// Returns the contents of the files in these directories, and the paths that other users may open.
    private static func contents(of names: [String], in directory: TemporaryDirectory) throws -> (
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
