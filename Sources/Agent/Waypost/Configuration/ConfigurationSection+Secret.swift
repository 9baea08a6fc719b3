import BackendAuthorization
import HTTPMessages
import StrictJSON

extension ConfigurationSection {
    /// A text, `{"file": PATH}` or `{"environment": NAME}`, if there is one.
    mutating func optionalSecret(_ key: String) -> Secret? {
        guard let value = optionalValue(key) else { return nil }
        return secret(value, key)?.secret
    }

    /// The secrets under `key` by their names, each with its scheme where `schemes` allows one.
    mutating func secrets(
        _ key: String, schemes: Bool
    ) -> [(name: String, secret: Secret, scheme: HeaderTemplate.Scheme)] {
        entries(key).compactMap { name, value in
            secret(value, "\(key).\(name)", schemes: schemes).map { (name, $0.secret, $0.scheme) }
        }
    }

    private func secret(
        _ value: JSONValue, _ key: String, schemes: Bool = false
    ) -> (secret: Secret, scheme: HeaderTemplate.Scheme)? {
        if let text = value.stringValue { return (.literal(text), .verbatim) }
        var members = value.objectValue ?? [:]
        let scheme = schemes ? members.removeValue(forKey: "scheme") ?? .string("verbatim") : .string("verbatim")
        if members.count == 1, let word = scheme.stringValue.flatMap(HeaderTemplate.Scheme.init) {
            if let path = members["file"]?.stringValue, !path.isEmpty { return (.file(path), word) }
            if let name = members["environment"]?.stringValue, !name.isEmpty { return (.environment(name), word) }
        }
        // Never the value: it may be the secret.
        report(
            key,
            "is \(value.kind) that cannot be used; use a text, {\"file\": PATH} or {\"environment\": NAME}"
                + (schemes ? ", the latter two with \"scheme\" \"verbatim\", \"bearer\" or \"basic\"" : ""))
        return nil
    }

    /// A URL, of which problems show neither credentials nor the values of its query.
    mutating func url<Value>(
        _ key: String, default fallback: String? = nil, _ convert: (String) throws(HTTPURL.Problem) -> Value
    ) -> Value? {
        converted(key, default: fallback, shownAs: Self.withoutSecrets, convert)
    }

    private static func withoutSecrets(_ url: String) -> String {
        var shown = url
        if let at = shown.lastIndex(of: "@") {
            let start = shown.firstRange(of: "://")?.upperBound ?? shown.startIndex
            if start < at { shown.replaceSubrange(start..<at, with: "…") }
        }
        if let mark = shown.firstIndex(of: "?") { shown.replaceSubrange(mark..., with: "?…") }
        return shown
    }
}
