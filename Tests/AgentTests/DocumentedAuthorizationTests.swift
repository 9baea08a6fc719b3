import FoundationEssentials
import Testing
import WaypostTestSupport

/// The examples of `authorization` in docs/configuration.md, as a user copies them.
@Suite struct DocumentedAuthorization {
    static let examples: [String] = {
        let page = Fixtures.checkout.appending(path: "docs/configuration.md")
        guard let text = try? String(contentsOf: page, encoding: .utf8) else { return [] }
        return text.split(separator: "```json\n").dropFirst().compactMap { part in
            part.firstRange(of: "```").map { String(part[..<$0.lowerBound]) }
        }.filter { $0.hasPrefix("\"authorization\"") }
    }()

    @Test func hasExamples() { #expect(Self.examples.count >= 8) }

    @Test(arguments: examples) func isAccepted(example: String) throws {
        let text = Configurations.smallest.replacing(
            #""authorization": {"type": "file", "path": "/run/token"}"#, with: example)
        #expect(text != Configurations.smallest)
        #expect(Configurations.problems(in: text) == [])
    }
}
