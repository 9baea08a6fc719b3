import Testing

/// A page that names the test which proves a rule names one that is there.
@Suite struct DocumentedTests {
    @Test(arguments: ["docs/authorization.md"])
    func exist(page: String) throws {
        let names = Self.names(in: try Checkout.text(page))
        #expect(names.count > 50, "\(page) names no tests where this one looks for them")
        let tests = try Self.tests(in: Checkout.sources(below: "Tests"))
        let missing = names.filter { !tests.contains($0) }
        #expect(missing.isEmpty, "\(page) names tests that are not there: \(missing.sorted())")
    }

    /// Every row of a table says what proves it.
    @Test(arguments: ["docs/authorization.md"])
    func proveEachRule(page: String) throws {
        let rows = try Checkout.text(page).split(separator: "\n").filter {
            $0.hasPrefix("| ") && !$0.hasPrefix("| ---")
        }
        for row in rows where !row.hasSuffix("| proved by |") {
            #expect(!Self.names(in: String(row)).isEmpty, "nothing proves: \(row)")
        }
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
        #expect(Self.tests(in: [file]) == ["One.first", "One.second", "Two.third"])
        #expect(
            Self.names(in: "`One.first`, `One.none` and `Type`, `file.md`, One.second") == ["One.first", "One.none"])
    }

    /// `Suite.test` in backquotes; a file's name begins small.
    private static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /`([A-Z]\w+\.[a-z]\w+)`/).map { String($0.1) })
    }

    /// As `Suite.test`, of the files' lines that are no comments.
    private static func tests(in files: [SourceFile]) -> Set<String> {
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
