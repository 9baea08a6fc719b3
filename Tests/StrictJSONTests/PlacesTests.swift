import StrictJSON
import Testing

@Suite struct Places {
    static let text = """
        { "vehicle": {
            "vehicleId": "a \\" : {\\"x\\":",
            "note" :
              "b"
          },
          "list": [ "one", { "deep": 1 },
            { "deeper": { "end": [] } } ], "v\\u0069a": 2,
          "last": {}
        }
        """

    @Test(
        arguments: [
            ("vehicle", 1), ("vehicle.vehicleId", 2), ("vehicle.note", 3), ("list", 6), ("list.deep", 6),
            ("list.deeper", 7), ("list.deeper.end", 7), ("via", 7), ("last", 8), ("x", nil), ("one", nil), ("b", nil),
        ] as [(String, Int?)])
    func areFoundByKey(path: String, line: Int?) throws {
        let bytes = Array(Self.text.utf8)
        _ = try JSONValue(parsing: bytes)
        #expect(JSONPlaces(of: bytes).line(of: path) == line)
    }

    @Test func searchEndsForAnyInput() {
        let bytes = Array(Self.text.utf8)
        for end in bytes.indices { _ = JSONPlaces(of: Array(bytes[..<end])) }
        #expect(JSONPlaces(of: Array("\"\\".utf8)).line(of: "") == nil)
        #expect(JSONPlaces().line(of: "vehicle") == nil)
    }
}
