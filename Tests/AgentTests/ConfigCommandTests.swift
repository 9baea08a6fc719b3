import FoundationEssentials
import LinuxPlatform
import StrictJSON
import Testing
import WaypostTestSupport

/// `waypost config`, and the default path of the configuration.
@Suite(.serialized, .timeLimit(.minutes(1)), .enabled(if: !Sanitizer.isActive, "starts the program many times"))
struct ConfigCommand {
    private let directory: TemporaryDirectory
    private let config: String

    init() throws {
        directory = try TemporaryDirectory()
        let id = try directory.write("van-7\n".utf8, to: "id")
        config = try directory.write(
            """
            {"vehicle": {"providerId": "p", "vehicleId": {"file": "\(id)"}},
             "receiver": {"type": "stdin"},
             "authorization": {"type": "http", "url": "https://b.internal/?key=hush", "headers":
               {"X-Key": {"credential": "backend-key"}, "X-Other": "hush", "X-Third": {"environment": "hush-less"}}}}
            """.utf8, to: "config.json")
    }

    private func run(_ arguments: String...) async throws -> (
        text: String, errors: String, ending: ChildProcess.Termination
    ) {
        let outcome = try await BuiltProgram.run(arguments)
        return (
            String(decoding: outcome.standardOutput, as: UTF8.self),
            String(decoding: outcome.standardError, as: UTF8.self), outcome.ending
        )
    }

    @Test func showsEachValueAndItsSource() async throws {
        let (text, _, ending) = try await run("config", "--config", config)
        #expect(ending == .exited(0))
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        for line in [
            "vehicle.providerId p \(config):1", "vehicle.vehicleId van-7 file \(directory.path("id"))",
            "authorization.url https://b.internal/?… \(config):3",
            "authorization.headers.X-Key … credential backend-key", "authorization.headers.X-Other … \(config):4",
            "authorization.headers.X-Third … environment hush-less", "authorization.body none default",
            "reporting.intervalSeconds 10 default", "outbox.path /var/lib/waypost/outbox.sqlite default",
        ] {
            #expect(lines.contains(line), "\(line) is not in \(text)")
        }
        #expect(!text.replacing("hush-less", with: "").contains("hush"))
    }

    @Test func printsJSON() async throws {
        let (text, _, ending) = try await run("config", "--json", "--config", config)
        #expect(ending == .exited(0))
        let document = try JSONValue(parsing: Array(text.utf8))
        let settings = try #require(document["settings"])
        #expect(document["file"] == .string(config))
        #expect(
            settings["vehicle.vehicleId"]
                == .object([
                    "value": .string("van-7"), "source": .string("file"), "name": .string(directory.path("id")),
                ]))
        #expect(
            settings["vehicle.providerId"]
                == .object(["value": .string("p"), "source": .string("configuration"), "line": .integer(1)]))
        #expect(
            settings["upload.caFile"] == .object(["value": .null, "source": .string("default")]))
        #expect(!text.replacing("hush-less", with: "").contains("hush"))
    }

    @Test func printsTheSchema() async throws {
        let (text, _, ending) = try await run("config", "--schema")
        #expect(ending == .exited(0))
        let schema = try JSONValue(parsing: Array(text.utf8))
        #expect(schema["$schema"] == .string("https://json-schema.org/draft/2020-12/schema"))
        let (_, errors, usage) = try await run("config", "--schema", "--config", config)
        #expect(usage == .exited(64))
        #expect(errors.hasPrefix("waypost: --schema is the same for every configuration; remove --config\n"))
    }

    @Test func reportsProblems() async throws {
        try FileSystem.removeFile(at: directory.path("id"))
        let (text, errors, ending) = try await run("config", "--config", config)
        #expect(ending == .exited(78) && text.isEmpty)
        #expect(
            errors
                == "waypost: \(config): \"vehicle.vehicleId\" comes from the file \(directory.path("id")), which "
                + "doesn't exist; write the value to it, or correct the path\n")
    }

    @Test(
        .enabled(if: !FileManager.default.fileExists(atPath: "/etc/waypost/config.json"), "Waypost is installed here"),
        arguments: [
            "run", "check", "config", "token", "replay \(#filePath)", "watch --trip t", "outbox list",
        ])
    func usesTheDefaultPathIfNoneIsGiven(line: String) async throws {
        let outcome = try await BuiltProgram.run(line.split(separator: " ").map(String.init))
        #expect(outcome.ending == .exited(78))
        #expect(
            String(decoding: outcome.standardError, as: UTF8.self)
                == "waypost: /etc/waypost/config.json: there is no such file; copy config.example.json "
                + "(installed as /usr/share/doc/waypost/examples/config.json) there and edit it, "
                + "or use another file with --config FILE\n")
    }
}
