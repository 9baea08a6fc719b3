/// On which line each member of a document stands.
package struct JSONPlaces: Sendable {
    private var lines: [String: Int] = [:]

    package init() {}

    /// Of a document that has been read; of any other text what it finds.
    package init(of bytes: [UInt8]) {
        var line = 1
        var index = 0
        // The path of each object and array that is open, and of the key before the next value.
        var open: [String] = []
        var pending = ""
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: "{"), UInt8(ascii: "["): open.append(pending)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = open.popLast()
                pending = open.last ?? ""
            case UInt8(ascii: ","): pending = open.last ?? ""
            case UInt8(ascii: "\""):
                let end = Self.end(ofStringAt: index, in: bytes)
                if Self.isKey(endingAt: end, in: bytes),
                    let key = (try? JSONValue(parsing: Array(bytes[index..<end])))?.stringValue
                {
                    let owner = open.last ?? ""
                    pending = owner.isEmpty ? key : owner + "." + key
                    lines[pending] = line
                }
                index = end - 1
            default: break
            }
            index += 1
        }
    }

    /// The line of the member that is reached by the keys of `path`, with full stops between them; counted from 1.
    package func line(of path: String) -> Int? { lines[path] }

    private static func end(ofStringAt start: Int, in bytes: [UInt8]) -> Int {
        var index = start + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + 1, bytes.count)
    }

    private static func isKey(endingAt end: Int, in bytes: [UInt8]) -> Bool {
        bytes[end...].first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D } == UInt8(ascii: ":")
    }
}
