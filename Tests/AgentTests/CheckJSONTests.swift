import FoundationEssentials
import LinuxPlatform
import StrictJSON
import Testing
import WaypostTestSupport

/// The codes of conditions in the output of `waypost check --json`.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled(if: !Sanitizer.isActive, "starts the program, which takes seconds under a sanitizer"))
struct CheckJSON {
    private static let configuration = #"""
        {"vehicle": {"providerId": "p", "vehicleId": "van-7"},
         "receiver": {"type": "serial", "device": "DIRECTORY/none"},
         "authorization": {"type": "file", "path": "DIRECTORY/none"},
         "consumerAuthorization": {"type": "file", "path": "DIRECTORY/none"},
         "upload": {"endpoint": "https://127.0.0.1:1", "caFile": "DIRECTORY/text"},
         "outbox": {"path": "DIRECTORY/notes", "durability": "economy"},
         "status": {"listen": "unix:DIRECTORY/none/status"}}
        """#

    @Test func namesTheConditionsThatTheServiceWouldRaise() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("text".utf8, to: "text", mode: 0o644)
        try directory.write("notes".utf8, to: "notes", mode: 0o644)
        let config = try directory.write(
            Self.configuration.replacing("DIRECTORY", with: directory.url.path).utf8, to: "config.json", mode: 0o666)
        let outcome = try await BuiltProgram.run(["check", "--json", "--config", config])
        #expect(outcome.ending == .exited(78) && outcome.standardError.isEmpty)
        let checks = try JSONValue(parsing: outcome.standardOutput)["checks"]?.arrayValue ?? []
        let codes = checks.compactMap { check in
            check["code"].map { "\(check["name"]?.stringValue ?? "") \($0.stringValue ?? $0.text)" }
        }
        #expect(
            Set(codes) == [
                "configuration configuration_exposed", "receiver receiver_unavailable", "outbox outbox_unusable",
                "authorization token_source_failed", "upload certificate_untrusted",
                "status status_address_unavailable",
            ])
        let uncoded = checks.filter { $0["code"] == nil }.compactMap { $0["name"]?.stringValue }
        #expect(Set(uncoded).isSuperset(of: ["consumerAuthorization", "durability"]), "\(checks.map(\.text))")
    }
}
