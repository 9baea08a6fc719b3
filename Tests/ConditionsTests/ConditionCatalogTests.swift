import Conditions
import FoundationEssentials
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// The catalog is complete, and its page in the documentation matches it.
@Suite struct ConditionCatalog {
    @Test func hasAnEntryForEachCode() {
        let codes = ConditionCode.allCases
        #expect((40...70).contains(codes.count))
        #expect(Set(codes.map(\.title)).count == codes.count)
        for code in codes {
            #expect(code.rawValue.wholeMatch(of: /[a-z0-9]+(_[a-z0-9]+)*/) != nil)
            #expect(!code.title.isEmpty && !code.title.contains(":") && !code.title.contains(";"), "\(code)")
            // In the log, the remedy follows a semicolon; elsewhere it is a separate sentence.
            #expect(!code.remedy.isEmpty && code.remedy.first?.isLowercase == true, "\(code)")
            #expect(code.remedy.last != ".", "\(code)")
        }
        let perStage = ConditionCode.Stage.allCases.map { stage in codes.count { $0.stage == stage } }
        #expect(perStage.allSatisfy { $0 > 0 })
    }

    @Test func matchesTheDocuments() throws {
        let page = ConditionCode.Stage.allCases.map(Self.section).joined()
        let text = try String(contentsOf: Fixtures.checkout.appending(path: "docs/conditions.md"), encoding: .utf8)
        #expect(text.hasSuffix(page), "docs/conditions.md must end with:\n\(page)")
    }

    private static func section(of stage: ConditionCode.Stage) -> String {
        let codes = ConditionCode.allCases.filter { $0.stage == stage }
        return "\n## \(stage.rawValue.capitalized)\n\n"
            + codes.map { code in
                let delay = code.visibleAfter > .zero ? ", after \(Int(code.visibleAfter / .seconds(1))) s" : ""
                return "- `\(code.rawValue)` (\(code.severity.rawValue)\(delay)): \(code.title). "
                    + "*\(code.remedy.prefix(1).uppercased() + code.remedy.dropFirst()).*\n"
            }.joined()
    }
}
