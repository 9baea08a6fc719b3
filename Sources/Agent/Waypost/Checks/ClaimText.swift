import ReportedText
import StrictJSON

/// Header or claims as lines of key and value, for a person at a terminal.
enum ClaimText {
    /// Keys in order, those of objects joined with dots, elements of arrays with commas.
    ///
    static func lines(of members: [String: JSONValue], under path: String = "") -> [String] {
        members.sorted { $0.key < $1.key }.flatMap { key, value in
            if let members = value.objectValue {
                return lines(of: members, under: "\(path)\(ReportedText(key, limit: 60)).")
            }
            return ["\(path)\(ReportedText(key, limit: 60)) \(text(value))"]
        }
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .string(let text): ReportedText(text, limit: 200).description
        case .array(let elements):
            elements.prefix(8).map(text).joined(separator: ", ") + (elements.count > 8 ? ", …" : "")
        case .object: "{…}"
        }
    }
}
