import ReportedText
import StrictJSON

/// The line at which a configuration stops being JSON, with a mark below the place; fit for everybody's eyes.
///
/// A value is shown where its keys say that it is harmless, and left out wherever it may be a secret. Behind the place
/// nothing can be read with certainty: there only Waypost's own words are shown.
struct BrokenLine {
    /// Both lines, each behind a line feed; empty when there is nothing to show.
    let lines: String

    /// Sections that hold no secret but in keys that are not in `harmlessKeys`.
    static let sections = names { $0.form == .section }
    /// Keys of sections whose values may be shown.
    static let harmlessKeys = names { $0.form != .section && !$0.isSecret }
    /// Keys of sections whose values may be, or hold, a secret.
    static let secretKeys = names { $0.isSecret }

    private static func names(where isMeant: (ConfigurationKey) -> Bool) -> Set<String> {
        Set(ConfigurationKey.all.filter(isMeant).map(\.name))
    }

    /// So much of a long line is shown.
    private static let width = 100

    init(of bytes: [UInt8], _ error: JSONValue.ParseError) {
        var reader = LineReader(bytes: bytes, place: error.offset)
        reader.read()
        guard !reader.isBinary, !reader.shown.allSatisfy({ $0 == " " }) else {
            lines = ""
            return
        }
        var text = reader.shown[...]
        var mark = min(reader.mark ?? reader.shown.count, reader.shown.count)
        if text.count > Self.width {
            let start = max(0, min(mark - Self.width * 2 / 3, text.count - Self.width))
            let window = text.dropFirst(start).prefix(Self.width)
            text = (start > 0 ? "…" : "") + window + (start + window.count < text.count ? "…" : "")
            mark = mark - start + (start > 0 ? 1 : 0)
        }
        let number = String(error.line)
        let margin = String(repeating: " ", count: number.count)
        lines = "\n  \(number) | \(text)\n  \(margin) | \(String(repeating: " ", count: mark))^"
    }
}

/// Reads a document up to the end of the line with the place, knowing by which keys each value is reached.
private struct LineReader {
    private let bytes: [UInt8]
    /// The first byte that is not JSON.
    private let place: Int
    private let start: Int
    private let end: Int

    /// The line without its secrets.
    private(set) var shown = ""
    /// How many characters of it stand before the place.
    private(set) var mark: Int?

    private var index = 0
    /// Of each object and array that is open, whether all keys to it are those of sections.
    private var scopes: [Bool] = []
    private var key: String?
    private var expectsValue = false

    init(bytes: [UInt8], place: Int) {
        self.bytes = bytes
        self.place = place
        start = bytes[..<place].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        end = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    }

    /// Not text, or in another encoding.
    var isBinary: Bool { bytes[..<end].contains(0) }

    mutating func read() {
        while index < end {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): emit(1, " ")
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                let isSection = key.map(BrokenLine.sections.contains) ?? scopes.isEmpty
                scopes.append(byte == UInt8(ascii: "{") && isSection && scopes.last ?? true)
                structure(byte)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = scopes.popLast()
                structure(byte)
            case UInt8(ascii: ","): structure(byte)
            case UInt8(ascii: ":"):
                expectsValue = true
                emit(1, ":")
            default: if let comment { emit(end - index, comment + " …") } else { word() }
            }
        }
        if place >= end, mark == nil { mark = shown.count }
    }

    /// How the comment begins that stands here, if one does.
    private var comment: String? { ["//", "/*", "#"].first { bytes[index...].starts(with: $0.utf8) } }

    private mutating func structure(_ byte: UInt8) {
        key = nil
        expectsValue = false
        emit(1, String(Unicode.Scalar(byte)))
    }

    /// A string in whatever quotes, or a word without any.
    private mutating func word() {
        let quotes = [["\""], ["'"], ["“", "”", "„", "\""], ["‘", "’", "‚", "'"]]
        let rest = bytes[index..<end]
        let closing = quotes.first { $0.contains { rest.starts(with: $0.utf8) } } ?? []
        let opening = closing.first { rest.starts(with: $0.utf8) } ?? ""
        var last = index + opening.utf8.count
        let first = last
        var quote = ""
        while last < end {
            if let found = closing.first(where: { bytes[last..<end].starts(with: $0.utf8) }) {
                quote = found
                break
            }
            if closing.isEmpty, " \t\r\n{}[],:\"'".utf8.contains(bytes[last]) { break }
            last += bytes[last] == UInt8(ascii: "\\") && last + 1 < end ? 2 : 1
        }
        let text = String(decoding: bytes[first..<last], as: UTF8.self)
        let isCertain = last + quote.utf8.count <= place  // before the place all is JSON
        let isKey = !expectsValue && bytes[(last + quote.utf8.count)...].first { $0 != 0x20 && $0 != 0x09 } == 0x3A
        let isPunctuation = closing.isEmpty && !text.contains { $0.isLetter || $0.isNumber }
        let isHarmless =
            isPunctuation || text.isEmpty || Self.words.contains(text) || isCertain && (isKey || isHarmlessValue)
        if isKey { key = text } else { expectsValue = false }
        let show = isHarmless ? ReportedText(text, limit: 60).description : "…"
        emit(last + quote.utf8.count - index, opening + show + quote)
    }

    private var isHarmlessValue: Bool {
        expectsValue && scopes.last ?? false && key.map(BrokenLine.harmlessKeys.contains) ?? false
    }

    /// Words that are no secret wherever they stand.
    private static let words = BrokenLine.sections.union(BrokenLine.harmlessKeys).union(BrokenLine.secretKeys)
        .union(["true", "false", "null", "file", "credential", "scheme"])

    /// Takes so many bytes, shown as `text`, if they are of the line.
    private mutating func emit(_ count: Int, _ text: String) {
        defer { index += count }
        guard index >= start else { return }
        if mark == nil, index + count > place {
            let before = bytes[index..<max(index, place)].count { $0 & 0xC0 != 0x80 }
            mark = shown.count + min(before, max(0, text.count - 1))
        }
        shown += text
    }
}
