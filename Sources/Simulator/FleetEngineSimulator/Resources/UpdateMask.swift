/// The fields that an update is about, each as a path of JSON names.
struct UpdateMask: Sendable, Hashable {
    let paths: [[String]]

    /// Reads the `updateMask` parameter: comma-separated, no spaces, known fields that a client may write.
    init(_ text: String?, schema: MessageSchema) throws(Refusal) {
        guard let text, !text.isEmpty else { throw .invalid(field: "updateMask", "update_mask cannot be empty") }
        var paths: [[String]] = []
        for entry in text.split(separator: ",", omittingEmptySubsequences: false) {
            paths.append(try Self.path(entry, schema))
        }
        self.paths = paths
    }

    private static func path(_ entry: Substring, _ schema: MessageSchema) throws(Refusal) -> [String] {
        var path: [String] = []
        var level: MessageSchema? = schema
        for part in entry.split(separator: ".", omittingEmptySubsequences: false) {
            guard let schema = level, let name = schema.name(of: String(part)), let rule = schema.fields[name] else {
                throw .invalid(field: "updateMask", "the mask names an unknown field: \"\(entry)\"")
            }
            guard rule.direction != .outputOnly else {
                throw .invalid(field: "updateMask", "\"\(entry)\" is set by the server and may not be in the mask")
            }
            if case .message(let inner) = rule.kind { level = inner } else { level = nil }
            path.append(name)
        }
        return path
    }

    /// Whether the top-level field `name` is, in whole or in part, masked.
    func names(_ name: String) -> Bool { paths.contains { $0.first == name } }
}
