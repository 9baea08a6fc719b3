/// The number of the line on which each member of a document begins.
package struct JSONPlaces: Sendable {
    private var lines: [String: Int] = [:]

    package init() {}

    /// Creates the line numbers of the document in `bytes`. If the text isn't JSON, the numbers may be wrong, but there
    /// is no error.
    package init(of bytes: [UInt8]) {
        var line = 1
        var index = 0
        // The paths of the open objects and arrays, and the path of the next value.
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

    /// Returns the line, counted from 1, of the member at `path`, such as `upload.endpoint`; `nil` if there is no such
    /// member.
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
