import FoundationEssentials
import StrictJSON
import Testing

/// Tests of the JSON writer, with Foundation's coders as the reference.
@Suite struct JSONWriters {
    private struct Report: Codable, Equatable {
        enum Kind: String, Codable { case good, bad }
        struct Part: Codable, Equatable { var name: String?, numbers: [Double] }

        var kind = Kind.good
        var isOpen = true
        var count = Int64.min
        var small = -7
        var half = 0.5
        var whole = 3.0
        var large = 1e300
        var tiny = -1.5e-7
        var text = "\"a\\b/c\" \u{1}\u{8}\t\n\u{C}\r\u{1F}\u{7F} é🚚\u{2028}<"
        var none: Int?
        var some: Int? = 1
        var parts = [Part(name: "x", numbers: [1, 2.25]), Part(name: nil, numbers: [])]
        var byName = ["b": 1, "a": 2, "aB": 3, "a1": 4, "A": 5]
        var empty: [String: Int] = [:]
        var nested: [[Int?]] = [[1, nil], []]
    }

    @Test func writeLikeFoundation() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(try JSONValue(encoding: Report()).text == String(decoding: encoder.encode(Report()), as: UTF8.self))
        encoder.outputFormatting.insert(.prettyPrinted)
        #expect(
            try JSONValue(encoding: Report()).prettyText == String(decoding: encoder.encode(Report()), as: UTF8.self))
    }

    @Test func writeReadableJSON() throws {
        var report = Report()
        (report.kind, report.none, report.some) = (.bad, 7, nil)
        let bytes = try JSONEncoder().encode(report)
        #expect(try JSONValue(parsing: Array(bytes)).decoded() == report)
        #expect(try JSONValue(parsing: Array(JSONValue(encoding: report).text.utf8)).decoded() == report)
    }

    @Test(arguments: [
        "{}", "[]", "7", #"{"name":1,"numbers":[]}"#, #"{"numbers":null}"#, #"{"numbers":[true]}"#,
        #"{"numbers":{"0":1}}"#,
    ])
    func decodingRejectsOtherShapes(text: String) throws {
        let value = try JSONValue(parsing: Array(text.utf8))
        #expect(throws: (any Error).self) { try value.decoded(as: Report.Part.self) }
    }

    @Test func writeNullForANumberThatIsNotFinite() {
        #expect(JSONValue.array([.number(.nan), .number(-.infinity), .number(1)]).text == "[null,null,1]")
    }
}
