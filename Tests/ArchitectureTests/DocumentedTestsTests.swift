import Testing
import WaypostTestSupport

/// The tests and types that the documentation names exist.
@Suite(.enabled(if: !Sanitizer.isActive, "only reads the sources"))
struct DocumentedTests {
    @Test(arguments: ["docs/authorization.md"])
    func nameExistingTests(page: String) throws {
        let names = Self.testNames(in: try Checkout.contents(of: page))
        #expect(names.count > 50, "\(page) names too few tests")
        let tests = try Self.declaredTests(in: Checkout.sources(below: "Tests"))
        let missing = names.filter { !tests.contains($0) }
        #expect(missing.isEmpty, "\(page) names tests that don't exist: \(missing.sorted())")
    }

    /// Every row of a table names its tests.
    @Test(arguments: ["docs/authorization.md"])
    func areNamedForEachRule(page: String) throws {
        let rows = try Checkout.contents(of: page).split(separator: "\n").filter {
            $0.hasPrefix("| ") && !$0.hasPrefix("| ---")
        }
        for row in rows where !row.hasSuffix("| proved by |") {
            #expect(!Self.testNames(in: String(row)).isEmpty, "no test is named in: \(row)")
        }
    }

    @Test(arguments: [("docs/authorization.md", "kept by"), ("docs/architecture.md", "decided by")])
    func nameExistingTypes(page: String, column: String) throws {
        let names = Self.typeNames(in: try Checkout.contents(of: page), column: column)
        #expect(names.count > 10, "\(page) names too few types")
        let declaration = /(?:^|\s)(?:struct|class|actor|enum|protocol) (\w+)/
        let declared = try Checkout.sources(below: "Sources").flatMap(\.code).compactMap {
            $0.firstMatch(of: declaration).map { String($0.1) }
        }
        let missing = names.subtracting(declared)
        #expect(missing.isEmpty, "\(page) names types that don't exist: \(missing.sorted())")
    }

    @Test func areFoundInTheirSuiteOnly() {
        let file = SourceFile(
            path: "Tests/A.swift",
            text: """
                @Suite(.timeLimit(.minutes(1))) struct One {
                    @Test func first() {}
                    func helper() {}
                    @Test(
                        arguments: [1])
                    func second(number: Int) {}
                }
                @Suite struct Two { }
                extension Two {
                    // @Test func gone() {}
                    @Test func third() {}
                }
                """)
        #expect(Self.declaredTests(in: [file]) == ["One.first", "One.second", "Two.third"])
        #expect(
            Self.testNames(in: "`One.first`, `One.none` and `Type`, `file.md`, One.second") == [
                "One.first", "One.none",
            ])
        let table = "| a | by |\n| --- | --- |\n| `No` | `One`, `Two.third`; `Three` |\n\n| `Four` | `Five` |"
        #expect(Self.typeNames(in: table, column: "by") == ["One", "Three"])
    }

    /// Returns the names in the form `Suite.test` in backquotes. File names start with a lower-case letter.
    private static func testNames(in text: String) -> Set<String> {
        Set(text.matches(of: /`([A-Z]\w+\.[a-z]\w+)`/).map { String($0.1) })
    }

    /// Returns the names in the form `Type` in backquotes, in columns with the given title.
    private static func typeNames(in text: String, column: String) -> Set<String> {
        var names: Set<String> = []
        var index: Int?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            if !line.hasPrefix("|") {
                index = nil
            } else if index == nil {
                index = cells.firstIndex { $0 == " \(column) " }
            } else if let index, index < cells.count {
                names.formUnion(cells[index].matches(of: /`([A-Z]\w+)`/).map { String($0.1) })
            }
        }
        return names
    }

    /// Returns the tests in the files in the form `Suite.test`, ignoring comments.
    private static func declaredTests(in files: [SourceFile]) -> Set<String> {
        var found: Set<String> = []
        for file in files {
            var suite = ""
            var isTest = false
            for line in file.code {
                if let match = line.firstMatch(of: /^(?:@Suite.*)?(?:private )?(?:struct|extension) (\w+)/) {
                    suite = String(match.1)
                }
                if line.contains("@Test") { isTest = true }
                if let match = line.firstMatch(of: /func (\w+)/) {
                    if isTest { found.insert("\(suite).\(match.1)") }
                    isTest = false
                }
            }
        }
        return found
    }
}
