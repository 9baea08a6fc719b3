import HTTPMessages
import Testing

@Suite struct Headers {
    @Test(
        arguments: [
            ("Content-Type", "a" as String?), ("content-type", "a"), ("CONTENT-TYPE", "a"), ("X-Two", "1"),
            ("Content", nil),
            ("Content-Typ@", nil), ("", nil),
        ])
    func areFoundWithoutRegardToCase(name: String, value: String?) {
        #expect(HTTPHeaders(["Content-Type": "a", "X-Two": "1", "x-two": "2"])[name] == value)
    }

    /// `[` and `{` differ in the same bit as `A` and `a`, but aren't letters.
    @Test(arguments: [("X-[", "X-{"), ("X-@", "X-`"), ("X-é", "X-É")])
    func foldTheCaseOfLettersOnly(one: String, other: String) {
        #expect(HTTPHeaders([String(one): "v"])[other] == nil)
    }

    @Test func keepTheOrderAndRepeatedNames() {
        var headers = HTTPHeaders(["B": "1"])
        headers.append(name: "A", value: "2")
        headers.append(name: "b", value: "3")
        #expect(headers.fields.map { "\($0.name)=\($0.value)" } == ["B=1", "A=2", "b=3"])
    }

    @Test func replaceEveryValueWhenSet() {
        var headers = HTTPHeaders(["B": "1", "A": "2", "b": "3"])
        headers["B"] = "4"
        #expect(headers.fields.map(\.value) == ["2", "4"])
        headers["a"] = nil
        #expect(headers.fields.map(\.value) == ["4"])
    }

    @Test(
        arguments: [
            (["Retry-After": "0"], 0), (["Retry-After": "120"], 120), (["Retry-After": "-1"], nil),
            (["Retry-After": "soon"], nil), ([:], nil), (["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"], nil),
            (["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:07 GMT"], 30),
            (["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 09:49:07 GMT"], 0),
        ] as [(KeyValuePairs<String, String>, Int?)])
    func haveARetryDelay(fields: KeyValuePairs<String, String>, seconds: Int?) {
        #expect(HTTPHeaders(fields).retryAfter == seconds.map { .seconds($0) })
    }
}
