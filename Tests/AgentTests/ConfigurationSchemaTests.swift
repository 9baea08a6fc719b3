import FoundationEssentials
import LinuxPlatform
import StrictJSON
import Testing
import WaypostTestSupport

@testable import Operations

@Suite(.serialized) struct ConfigurationSchemas {
    /// A program that validates the documents, one per line, and prints the numbers of the invalid ones.
    private static let validator = """
        import json, sys
        from jsonschema import Draft202012Validator
        schema = json.load(open(sys.argv[1]))
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        for number, line in enumerate(open(sys.argv[2])):
            if not validator.is_valid(json.loads(line)):
                print(number)
        """

    private static func runPython(_ program: String, arguments: [String] = []) async throws -> ChildProcess.Outcome {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try await ChildProcess(
            arguments: ["/usr/bin/env", "python3", "-B", "-c", program] + arguments, environment: ["PATH": path],
            timeLimit: BuiltProgram.hangTimeout
        ).run()
    }

    /// Returns the indices of the texts that the schema rejects; `nil` if no validator is installed.
    private static func rejectedIndices(of texts: [String]) async throws -> Set<Int>? {
        guard try await runPython("import jsonschema").ending == .exited(0) else { return nil }
        let directory = try TemporaryDirectory()
        let schema = try directory.write(ConfigurationSchema.document.text.utf8, to: "schema.json")
        let lines = try texts.map { try JSONValue(parsing: Array($0.utf8)).text }
        let documents = try directory.write(lines.joined(separator: "\n").utf8, to: "documents")
        let outcome = try await runPython(validator, arguments: [schema, documents])
        try #require(outcome.ending == .exited(0), "\(String(decoding: outcome.standardError, as: UTF8.self))")
        return Set(
            String(decoding: outcome.standardOutput, as: UTF8.self).split(separator: "\n").compactMap { Int($0) })
    }

    /// Returns every configuration in the documents. A single section is added to the smallest configuration.
    private static func documentedConfigurations() throws -> [String] {
        var pages = ["README.md"]
        pages += try FileManager.default.contentsOfDirectory(atPath: Fixtures.checkout.appending(path: "docs").path)
            .filter { $0.hasSuffix(".md") }.map { "docs/" + $0 }
        let example = try String(contentsOf: Fixtures.checkout.appending(path: "config.example.json"), encoding: .utf8)
        return try [example, Configurations.smallest]
            + pages.flatMap { page in
                try String(contentsOf: Fixtures.checkout.appending(path: page), encoding: .utf8)
                    .split(separator: "```json\n").dropFirst().compactMap { part -> String? in
                        let block = part.firstRange(of: "```").map { String(part[..<$0.lowerBound]) } ?? ""
                        if block.hasPrefix("{"), block.contains("\"vehicle\"") { return block }
                        guard block.hasPrefix("\"") else { return nil }
                        let section = block.dropFirst().prefix { $0 != "\"" }
                        guard ConfigurationKey.all.contains(where: { $0.path == section }) else { return nil }
                        let rest = try? JSONValue(parsing: Array(Configurations.smallest.utf8)).objectValue
                        let own = try? JSONValue(parsing: Array("{\(block)}".utf8)).objectValue
                        return rest.flatMap { rest in
                            own.map { JSONValue.object(rest.merging($0, uniquingKeysWith: { $1 })).text }
                        }
                    }
            }
    }

    @Test func acceptEveryDocumentedConfiguration() async throws {
        let texts = try Self.documentedConfigurations()
        #expect(texts.count > 12, "the examples in the documentation are not found")
        guard let rejected = try await Self.rejectedIndices(of: texts) else { return }
        #expect(rejected.map { texts[$0] } == [])
    }

    /// Parts of the messages for problems that a schema can't detect.
    private static let undetectableProblems = [
        ", which ", "contains the unknown placeholder", "without its partner", ", shorter than ",
        "isn't a valid header name",
        "is set by Waypost itself", "a multicast group", "has a line break", "is not sent with the method",
        "has no effect with the policy", "an unencoded user and password", "has an unmatched brace",
    ]

    @Test func rejectConfigurationsThatTheReaderRejects() async throws {
        let rows = Configurations.brokenValues.filter { row in
            !Self.undetectableProblems.contains { row.problem.contains($0) }
        }
        #expect(rows.count > 30)
        let texts = rows.map {
            Configurations.smallest.replacing($0.find, with: $0.replacement, maxReplacements: 1)
        }
        guard let rejected = try await Self.rejectedIndices(of: texts) else { return }
        let accepted = rows.indices.filter { !rejected.contains($0) }
        #expect(accepted.map { rows[$0].problem } == [])
    }

    @Test(arguments: [
        (#""vehicleId": {"file": "/etc/vehicle-id"}"#, true), (#""vehicleId": {"environment": "VAN"}"#, true),
        (#""vehicleId": {"credential": "id"}"#, true), (#""vehicleId": {"file": "/id", "scheme": "bearer"}"#, false),
        (#""vehicleId": {"file": "/id", "environment": "X"}"#, false), (#""vehicleId": {"file": ""}"#, false),
        (#""vehicleId": "v", "service": {"file": "/etc/service"}"#, true),
    ])
    func acceptOnlyValidReferences(member: String, isValid: Bool) async throws {
        let text = Configurations.smallest.replacing(#""vehicleId": "v""#, with: member)
        #expect(text != Configurations.smallest)
        guard let rejected = try await Self.rejectedIndices(of: [text]) else { return }
        #expect(rejected.isEmpty == isValid)
    }

    /// Packages install this file for editors.
    @Test func matchTheInstalledSchema() throws {
        let url = Fixtures.checkout.appending(path: "packaging/config.schema.json")
        let installed = try JSONValue(parsing: Array(try Data(contentsOf: url)))
        #expect(
            installed.text == ConfigurationSchema.document.text,
            "type: waypost config --schema >packaging/config.schema.json")
    }

    @Test func describeEveryKey() {
        for key in ConfigurationKey.all {
            var schema: JSONValue? = ConfigurationSchema.document
            for word in key.path.split(separator: ".").map(String.init) {
                // Keys that only one `type` has are siblings of the key `type`, or are nested below such siblings.
                let ofType = schema?["allOf"]?.arrayValue?.first {
                    key.type != nil && $0["if"]?["properties"]?["type"]?["const"] == key.type.map(JSONValue.string)
                }
                schema = (ofType?["then"] ?? schema)?["properties"]?[word]
            }
            #expect(schema?["description"] == .string(key.description), "\(key.path) of \(key.type ?? "all")")
        }
    }
}
