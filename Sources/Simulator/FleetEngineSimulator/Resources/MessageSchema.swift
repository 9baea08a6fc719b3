/// The fields of a message by their JSON names.
struct MessageSchema: Sendable {
    let fields: [String: FieldRule]

    /// The JSON name of a field that a client wrote in camelCase or as in the proto file; `nil` for an unknown one.
    func name(of written: String) -> String? {
        if fields[written] != nil { return written }
        guard written.contains("_"), written == written.lowercased() else { return nil }
        let words = written.split(separator: "_", omittingEmptySubsequences: false)
        let camel = words.dropFirst().reduce(into: String(words[0])) {
            $0 += $1.prefix(1).uppercased() + $1.dropFirst()
        }
        return fields[camel] == nil ? nil : camel
    }
}
