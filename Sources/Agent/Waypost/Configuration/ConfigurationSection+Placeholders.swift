extension ConfigurationSection {
    /// A text that may hold the section's placeholders; any other word in braces is a problem.
    mutating func template(_ key: String) -> String {
        let text = string(key)
        reportUnknownPlaceholders(in: text, key)
        return text
    }

    /// Notes each word in braces that the agent has no value for.
    func reportUnknownPlaceholders(in text: String, _ key: String) {
        for match in text.matches(of: /\{([^{}]*)\}/) where !placeholders.contains(String(match.1)) {
            let known = placeholders.map { "{\($0)}" }.joined(separator: " or ")
            report(key, "has the placeholder {\(match.1)}; use \(known)")
        }
    }
}
