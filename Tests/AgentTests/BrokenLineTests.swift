import Testing
import WaypostTestSupport

@testable import Operations

@Suite struct BrokenLines {
    /// Returns the lines of the excerpts in the errors for `text`, which isn't JSON.
    static func excerptLines(for text: String) -> [String] {
        do {
            _ = try Configuration(json: Array(text.utf8), file: "config.json")
            return ["it is read"]
        } catch {
            return error.problems.flatMap { $0.excerpt.split(separator: "\n").map(String.init) }
        }
    }

    @Test(arguments: [
        (
            "{\n  \"log\": { \"level\": \"info\", }\n}", "  2 |   \"log\": { \"level\": \"…\", }",
            "    |                        ^"
        ),
        (
            "{\n  \"vehicle\": {\n    \"vehicleId\": \"van-7\"\n    \"service\": \"x\"\n  }\n}",
            "  3 |     \"vehicleId\": \"…\"", "    |                     ^"
        ),
        ("{\n\t\"log\": 1, // the log\n}", "  2 |  \"log\": …, // … log", "    |            ^"),
        (
            "{ \"status\": { \"listen\": “x” } }", "  1 | { \"status\": { \"listen\": “…” } }",
            "    |                         ^"
        ),
        (
            "{ \"vehicle\": { 'vehicleId': 'van-7' } }", "  1 | { \"vehicle\": { 'vehicleId': '…' } }",
            "    |                ^"
        ),
        ("{ /* b */ \"log\": 1 }", "  1 | { /* … */ \"log\": … }", "    |   ^"),
        ("{ vehicle: 1 }", "  1 | { vehicle: … }", "    |   ^"),
        ("{ \"log\": {", "  1 | { \"log\": {", "    |           ^"),
        ("{ \"vehicle\" = 1 }", "  1 | { \"vehicle\" = … }", "    |             ^"),
        (
            "{ \"reporting\": { \"intervalSeconds\": 1,5 } }", "  1 | { \"reporting\": { \"intervalSeconds\": …,… } }",
            "    |                                      ^"
        ),
    ])
    func areShownWithAMarkBelowTheFault(text: String, line: String, mark: String) {
        #expect(Self.excerptLines(for: text) == [line, mark])
    }

    /// A configuration full of secrets is broken at each position by each common error.
    @Test func hideSecrets() throws {
        let text = """
            {"vehicle": {"providerId": "p", "vehicleId": "v"}, "receiver": {"type": "stdin"},
             "authorization": {"type": "http", "url": "https://hush@b/?k=hush", "method": "POST", "body": "hush",
              "headers": {"X-Api-Key": "hush", "Cookie": "hush", "Authorization": "hush", "Y": {"environment": "hush"}, "Z": hush }},
             "consumerAuthorization": {"type": "command", "command": ["a", "hush", "--key=hush"],
              "environment": {"host": "hush", "KEY": "hush:hush"}}, "upload": {"endpoint": "https://b/hush"},
             "heders": {"device": "hush"}, "autorization": {"path": "hush"}}
            """
        let bytes = Array(text.utf8)
        let mistakes = ["", ",", "}", "]", ":", "'", "\"", "“", "x", "//", "#", "\n", "\\", "\t", "= ", "/*", "{"]
        for place in bytes.indices {
            for mistake in mistakes {
                for dropped in [0, 1] where bytes[place] | 0x20 < 0x61 || bytes[place] > 0x7A {
                    let broken = bytes[..<place] + Array(mistake.utf8) + bytes[(place + dropped)...]
                    do { _ = try Configuration(json: Array(broken), file: "c") } catch {
                        let isShown = error.problems.contains { $0.description.contains("hush") }
                        #expect(!isShown, "\(error)")
                    }
                }
            }
        }
    }

    @Test func areCutAroundTheFault() throws {
        let secrets = (0..<200).map { "\"k\($0)\": \"v\"" }.joined(separator: ", ")
        let shown = Self.excerptLines(for: "{ \"log\": {\(secrets),, \"level\": \"info\"} }")
        try #require(shown.count == 2)
        #expect(shown.allSatisfy { $0.count <= 110 }, "\(shown)")
        #expect(Array(shown[0])[shown[1].count - 1] == ",")
        #expect(shown[0].contains("| …") && shown[0].contains("\"…\": \"…\",, \"level\""))
    }
}
