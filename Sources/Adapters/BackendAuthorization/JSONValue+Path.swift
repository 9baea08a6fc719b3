import StrictJSON

extension JSONValue {
    /// The value under `path`: a key as it stands, or keys with dots between them, as `data.token.jwt`.
    subscript(path path: String) -> JSONValue? {
        if let value = self[path] { return value }
        guard let dot = path.firstIndex(of: ".") else { return nil }
        return self[String(path[..<dot])]?[path: String(path[path.index(after: dot)...])]
    }
}
