extension ConfigurationSection {
    /// A text that may hold `{vehicleId}`, `{tripId}` and `{providerId}`; any other word in braces is a problem.
    mutating func template(_ key: String) -> String {
        let text = string(key)
        reportUnknownPlaceholders(in: text, key)
        return text
    }

    /// Notes each word in braces that the agent has no value for.
    func reportUnknownPlaceholders(in text: String, _ key: String) {
        for match in text.matches(of: /\{([^{}]*)\}/) where !["vehicleId", "tripId", "providerId"].contains(match.1) {
            report(key, "has the placeholder {\(match.1)}; use {vehicleId} or {providerId}")
        }
    }
}
