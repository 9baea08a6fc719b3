import HTTPMessages
import LinuxPlatform
import Testing

@testable import HTTPService

@Suite struct HTTPConnections {
    /// Returns a connection that was opened at time zero, with 60 s for each request and each answer.
    private func makeConnection() -> HTTPConnection {
        HTTPConnection(
            limits: HTTPServiceLimits(timeout: .seconds(60)),
            allowedHosts: AllowedHosts(listeningOn: .loopback(host: "127.0.0.1", port: 80)), now: .zero, date: { "D" })
    }

    private let getRequest = Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)

    private func answeredConnection(delivery: ServedResponse.Delivery) -> HTTPConnection {
        var connection = makeConnection()
        _ = connection.receive(getRequest, now: .zero)
        let response = HTTPResponse(status: 200, body: Array("hello".utf8))
        connection.answer(ServedResponse(response, delivery: delivery), now: .seconds(1))
        return connection
    }

    private func writeAll(_ connection: inout HTTPConnection, at now: Duration = .seconds(1)) -> String {
        let text = String(decoding: connection.output, as: UTF8.self)
        _ = connection.recordWrite(of: connection.output.count, now: now)
        return text
    }

    @Test func answerAndWaitForTheNextRequest() {
        var connection = answeredConnection(delivery: .whole)
        #expect(!connection.wantsToRead)
        #expect(
            writeAll(&connection)
                == "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello")
        #expect(connection.wantsToRead)
        #expect(connection.deadline == .seconds(61))
        let request = connection.receive(getRequest, now: .seconds(2))
        #expect(request != nil)
    }

    @Test func handleOneRequestAtATime() {
        var connection = makeConnection()
        let request = connection.receive(getRequest + getRequest, now: .zero)
        #expect(request != nil)
        #expect(!connection.wantsToRead)
        connection.answer(ServedResponse(HTTPResponse(status: 204)), now: .zero)
        let next = connection.recordWrite(of: connection.output.count, now: .zero)
        #expect(next != nil)
    }

    @Test func writeInThePiecesThatTheSocketAccepts() {
        var connection = answeredConnection(delivery: .whole)
        var text = ""
        while connection.wantsToWrite {
            text += String(decoding: connection.output.prefix(7), as: UTF8.self)
            _ = connection.recordWrite(of: min(7, connection.output.count), now: .seconds(1))
        }
        #expect(text.hasSuffix("\r\n\r\nhello"))
    }

    @Test func closeWhenIdle() {
        var connection = makeConnection()
        connection.tick(now: .seconds(59))
        #expect(connection.termination == nil)
        connection.tick(now: .seconds(60))
        #expect(connection.termination == .close)
        #expect(!connection.wantsToWrite)
    }

    @Test func answer408ToASlowRequest() {
        var connection = makeConnection()
        for index in 0..<20 { _ = connection.receive(getRequest[index...index], now: .seconds(10 + index)) }
        #expect(connection.deadline == .seconds(70))
        connection.tick(now: .seconds(70))
        #expect(writeAll(&connection).hasPrefix("HTTP/1.1 408 "))
    }

    @Test func resetAClientThatDoesNotReadItsAnswer() {
        var connection = answeredConnection(delivery: .whole)
        connection.tick(now: .seconds(61))
        #expect(connection.termination == .reset)
    }

    @Test(arguments: [
        ("GET / HTTP/9.9\r\n", "HTTP/1.1 505 "), ("BREW / HTTP/1.1\r\n", "HTTP/1.1 501 "), ("x\r\n", "HTTP/1.1 400 "),
    ])
    func answerWithAnErrorAndClose(text: String, start: String) {
        var connection = makeConnection()
        let request = connection.receive(Array(text.utf8), now: .zero)
        #expect(request == nil)
        let answer = writeAll(&connection)
        #expect(answer.hasPrefix(start))
        #expect(answer.contains("Connection: close\r\n"))
        #expect(answer.hasSuffix("\"}}\n"))
        #expect(connection.hasSentEverything)
        #expect(connection.wantsToRead, "the rest of the request is drained")
        let next = connection.receive(getRequest, now: .zero)
        #expect(next == nil)
        connection.tick(now: .seconds(3))
        #expect(connection.termination == .close)
    }

    @Test func closeAfterTheAnswerIfNotKeptAlive() {
        var connection = makeConnection()
        _ = connection.receive(Array("GET / HTTP/1.0\r\n\r\n".utf8), now: .zero)
        connection.answer(ServedResponse(HTTPResponse(status: 200)), now: .zero)
        #expect(writeAll(&connection, at: .zero).contains("Connection: close"))
        connection.tick(now: .seconds(2))
        #expect(connection.termination == .close)
    }

    @Test func sendNoBodyToHead() {
        var connection = makeConnection()
        _ = connection.receive(Array("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8), now: .zero)
        connection.answer(ServedResponse(HTTPResponse(status: 200, body: [1, 2, 3])), now: .zero)
        let head = writeAll(&connection)
        #expect(head.contains("Content-Length: 3\r\n"))
        #expect(head.hasSuffix("\r\n\r\n"))
    }

    @Test func removeLineEndsFromHeaderValues() {
        var connection = makeConnection()
        _ = connection.receive(getRequest, now: .zero)
        let headers = HTTPHeaders(["X": "a\r\nSet-Cookie: b", "Date": "mine"])
        connection.answer(ServedResponse(HTTPResponse(status: 200, headers: headers)), now: .zero)
        let text = writeAll(&connection)
        #expect(text.contains("X: aSet-Cookie: b\r\n"))
        #expect(text.contains("Date: mine\r\n"))
        #expect(!text.contains("Date: D"))
    }

    @Test func answer100Continue() {
        var connection = makeConnection()
        let head = Array("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n".utf8)
        let request = connection.receive(head, now: .zero)
        #expect(request == nil)
        #expect(writeAll(&connection) == "HTTP/1.1 100 Continue\r\n\r\n")
        let complete = connection.receive(Array("x".utf8), now: .zero)
        #expect(complete?.body == [0x78])
    }

    @Test func stallUntilTheClientLeavesIfConfigured() {
        var connection = answeredConnection(delivery: .stall(afterBytes: 12))
        #expect(writeAll(&connection) == "HTTP/1.1 200")
        #expect(connection.deadline == nil)
        #expect(connection.termination == nil)
        connection.recordEndOfInput()
        #expect(connection.termination == .close)
    }

    @Test(arguments: [(0, ""), (8, "HTTP/1.1")])
    func resetIfConfigured(count: Int, text: String) {
        var connection = answeredConnection(delivery: .reset(afterBytes: count))
        if count > 0 { #expect(writeAll(&connection) == text) }
        #expect(connection.termination == .reset)
    }

    @Test func dropTheAnswerIfConfigured() {
        let connection = answeredConnection(delivery: .drop)
        #expect(!connection.wantsToWrite)
        #expect(connection.termination == .close)
    }

    @Test func rejectAForeignHostAndClose() {
        var connection = makeConnection()
        let request = connection.receive(
            Array("GET / HTTP/1.1\r\nHost: evil.example.com\r\n\r\n".utf8), now: .zero)
        #expect(request == nil)
        let answer = writeAll(&connection)
        #expect(answer.hasPrefix("HTTP/1.1 421 Misdirected Request\r\n"))
        #expect(answer.contains("the host \\\"evil.example.com\\\" is not served here; use 127.0.0.1"))
        #expect(connection.hasSentEverything)
    }

    /// While the handler makes the answer, the loop neither polls nor closes the connection.
    @Test func areBusyFromTheRequestToTheAnswer() {
        var connection = makeConnection()
        _ = connection.receive(getRequest.dropLast(), now: .zero)
        #expect(!connection.isHandling)
        _ = connection.receive(getRequest.suffix(1), now: .zero)
        #expect(connection.isHandling && connection.deadline == nil)
        connection.answer(ServedResponse(HTTPResponse(status: 200)), now: .zero)
        #expect(!connection.isHandling)
    }
}
