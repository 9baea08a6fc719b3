import HTTPMessages
import Testing

@testable import CurlTransport

@Suite struct Answer {
    private func feed(_ line: String, to answer: inout CurlAnswer) -> Bool {
        unsafe Array(line.utf8).withUnsafeBytes { unsafe answer.append(header: $0) }
    }

    private func feed(body count: Int, to answer: inout CurlAnswer) -> Bool {
        unsafe [UInt8](repeating: 1, count: count).withUnsafeBytes { unsafe answer.append(body: $0) }
    }

    @Test(
        arguments: [
            ("Date: today\r\n", "Date", "today"), ("X:y\r\n", "X", "y"), ("Empty:\r\n", "Empty", ""),
            ("Blank:   \r\n", "Blank", ""), ("A: b: c\t \r\n", "A", "b: c"),
        ])
    func readsAHeaderLine(line: String, name: String, value: String) {
        var answer = CurlAnswer(bodyLimit: 10)
        #expect(feed("HTTP/1.1 200 OK\r\n", to: &answer))
        #expect(feed(line, to: &answer))
        #expect(answer.headers.fields == [HTTPHeaders([String(name): value]).fields[0]])
    }

    @Test func discardsAnInterimResponse() {
        var answer = CurlAnswer(bodyLimit: 10)
        for line in ["HTTP/1.1 103 Early Hints\r\n", "Link: x\r\n", "\r\n", "HTTP/1.1 200 OK\r\n", "A: b\r\n", "\r\n"] {
            #expect(feed(line, to: &answer))
        }
        #expect(answer.headers.fields.map(\.name) == ["A"])
    }

    @Test(arguments: [(10, true), (11, false)])
    func acceptsABodyUpToItsLimit(bytes: Int, isAccepted: Bool) {
        var answer = CurlAnswer(bodyLimit: 10)
        #expect(feed(body: 6, to: &answer))
        #expect(feed(body: bytes - 6, to: &answer) == isAccepted)
        #expect((answer.sizeFault == nil) == isAccepted)
    }

    @Test func rejectsAnEndlessHeader() {
        var answer = CurlAnswer(bodyLimit: 10)
        let line = "X: " + String(repeating: "y", count: 1000) + "\r\n"
        var count = 0
        while feed(line, to: &answer) { count += 1 }
        #expect(count == CurlAnswer.headerLimit / line.utf8.count)
        #expect(answer.sizeFault != nil)
    }
}
