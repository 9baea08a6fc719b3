/// A Swift file of the checkout, as seen by the rules.
struct SourceFile: Sendable {
    /// The path relative to the checkout, such as `Sources/Core/GNSS/Fix.swift`.
    let path: String
    let lines: [String]

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        code = lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }
    }

    /// The directory of the module: `Sources/<room>/<module>`.
    var moduleDirectory: String { path.split(separator: "/").prefix(3).joined(separator: "/") }

    /// The lines that are not comments.
    let code: [String]

    /// The modules that this file imports, by any form of import.
    var imports: [String] {
        // An attribute, an access level and a kind of declaration may surround the module's name.
        let pattern = /\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:\w+\s+)?import\s+(?:[a-z]+\s+)?(\w+)/
        return code.filter { $0.contains("import ") }.compactMap { line in
            line.prefixMatch(of: pattern).map { String($0.output.1) }
        }
    }
}
