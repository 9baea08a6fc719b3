import HTTPMessages
import LinuxPlatform
import Testing

@testable import HTTPService

@Suite struct HTTPConnections {
    private let limits = HTTPServiceLimits(idle: .seconds(60), exchange: .seconds(30))
    private let names = AllowedHosts(listeningOn: .loopback(host: "127.0.0.1", port: 80))
    private let get = Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)

    private func answered(_ delivery: ServedResponse.Delivery, delay: Duration = .zero) -> HTTPConnection {
        var connection = HTTPConnection(limits: limits, names: names, now: .zero)
        _ = connection.receive(get, now: .zero, date: "D")
        let response = HTTPResponse(status: 200, body: Array("hello".utf8))
        connection.answer(ServedResponse(response, delay: delay, delivery: delivery), now: .seconds(1), date: "D")
        return connection
    }

    private func writeAll(_ connection: inout HTTPConnection, at now: Duration = .seconds(1)) -> String {
        let text = String(decoding: connection.output, as: UTF8.self)
        _ = connection.wrote(connection.output.count, now: now, date: "D")
        return text
    }

    @Test func answersAndWaitsForTheNextRequest() {
        var connection = answered(.whole)
        #expect(!connection.wantsToRead)
        #expect(
            writeAll(&connection)
                == "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello")
        #expect(connection.wantsToRead)
        #expect(connection.deadline == .seconds(61))
        let request = connection.receive(get, now: .seconds(2), date: "D")
        #expect(request != nil)
    }

    @Test func takesOneRequestAtATime() {
        var connection = HTTPConnection(limits: limits, names: names, now: .zero)
        let request = connection.receive(get + get, now: .zero, date: "D")
        #expect(request != nil)
        #expect(!connection.wantsToRead)
        connection.answer(ServedResponse(HTTPResponse(status: 204)), now: .zero, date: "D")
        let next = connection.wrote(connection.output.count, now: .zero, date: "D")
        #expect(next != nil)
    }

    @Test func writesInWhateverPiecesTheSocketTakes() {
        var connection = answered(.whole)
        var text = ""
        while connection.wantsToWrite {
            text += String(decoding: connection.output.prefix(7), as: UTF8.self)
            _ = connection.wrote(min(7, connection.output.count), now: .seconds(1), date: "D")
        }
        #expect(text.hasSuffix("\r\n\r\nhello"))
    }

    @Test func closesWhenIdle() {
        var connection = HTTPConnection(limits: limits, names: names, now: .zero)
        connection.tick(now: .seconds(59), date: "D")
        #expect(connection.ending == nil)
        connection.tick(now: .seconds(60), date: "D")
        #expect(connection.ending == .close)
        #expect(!connection.wantsToWrite)
    }

    @Test func answers408ToASlowRequestHoweverItDrips() {
        var connection = HTTPConnection(limits: limits, names: names, now: .zero)
        for index in 0..<20 { _ = connection.receive(get[index...index], now: .seconds(10 + index), date: "D") }
        #expect(connection.deadline == .seconds(40))
        connection.tick(now: .seconds(40), date: "D")
        #expect(writeAll(&connection).hasPrefix("HTTP/1.1 408 "))
    }

    @Test func givesUpOnAClientThatDoesNotTakeItsAnswer() {
        var connection = answered(.whole)
        connection.tick(now: .seconds(31), date: "D")
        #expect(connection.ending == .reset)
    }

    @Test(arguments: [
        ("GET / HTTP/9.9\r\n", "HTTP/1.1 505 "), ("BREW / HTTP/1.1\r\n", "HTTP/1.1 501 "), ("x\r\n", "HTTP/1.1 400 "),
    ])
    func answersARefusalAndEnds(text: String, start: String) {
        var connection = HTTPConnection(limits: limits, names: names, now: .zero)
        let request = connection.receive(Array(text.utf8), now: .zero, date: "D")
        #expect(request == nil)
        let answer = writeAll(&connection)
        #expect(answer.hasPrefix(start))
        #expect(answer.contains("Connection: close\r\n"))
        #expect(answer.hasSuffix("\"}}\n"))
        #expect(connection.hasSentEverything)
        #expect(connection.lastAsked == .zero, "it is no newcomer any more")
        #expect(connection.wantsToRead, "what still arrives is drained")
        let next = connection.receive(get, now: .zero, date: "D")
        #expect(next == nil)
        connection.receiveEnd()
        #expect(connection.ending == .close)
    }

    /// The client has two seconds for the answer, and may not make the service work for them.
    @Test func readsOnlySoMuchBehindARefusal() {
        var connection = HTTPConnection(limits: limits, names: names, now: .zero)
        _ = connection.receive(Array("x\r\n".utf8), now: .zero, date: "D")
        _ = writeAll(&connection)
        for _ in 0..<7 {
            _ = connection.receive(Array(repeating: 0x78, count: 10_000), now: .zero, date: "D")
        }
        #expect(!connection.wantsToRead && connection.hasSentEverything && connection.ending == nil)
        connection.tick(now: .seconds(3), date: "D")
        #expect(connection.ending == .close)
    }

    @Test func endsAnAnswerOnAConnectionThatIsNotKept() {
        var connection = HTTPConnection(limits: limits, names: names, now: .zero)
        _ = connection.receive(Array("GET / HTTP/1.0\r\n\r\n".utf8), now: .zero, date: "D")
        connection.answer(ServedResponse(HTTPResponse(status: 200)), now: .zero, date: "D")
        #expect(writeAll(&connection, at: .zero).contains("Connection: close"))
        connection.tick(now: .seconds(2), date: "D")
        #expect(connection.ending == .close)
    }

    @Test func sendsNoBodyToHead() {
        var connection = HTTPConnection(limits: limits, names: names, now: .zero)
        _ = connection.receive(Array("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8), now: .zero, date: "D")
        connection.answer(ServedResponse(HTTPResponse(status: 200, body: [1, 2, 3])), now: .zero, date: "D")
        let head = writeAll(&connection)
        #expect(head.contains("Content-Length: 3\r\n"))
        #expect(head.hasSuffix("\r\n\r\n"))
    }

    @Test func letsNoHeaderValueStartALine() {
        var connection = HTTPConnection(limits: limits, names: names, now: .zero)
        _ = connection.receive(get, now: .zero, date: "D")
        let headers = HTTPHeaders(["X": "a\r\nSet-Cookie: b", "Date": "mine"])
        connection.answer(ServedResponse(HTTPResponse(status: 200, headers: headers)), now: .zero, date: "D")
        let text = writeAll(&connection)
        #expect(text.contains("X: aSet-Cookie: b\r\n"))
        #expect(text.contains("Date: mine\r\n"))
        #expect(!text.contains("Date: D"))
    }

    @Test func asksToContinue() {
        var connection = HTTPConnection(limits: limits, names: names, now: .zero)
        let head = Array("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n".utf8)
        let request = connection.receive(head, now: .zero, date: "D")
        #expect(request == nil)
        #expect(writeAll(&connection) == "HTTP/1.1 100 Continue\r\n\r\n")
        let complete = connection.receive(Array("x".utf8), now: .zero, date: "D")
        #expect(complete?.body == [0x78])
    }

    @Test func delays() {
        var connection = answered(.whole, delay: .seconds(5))
        #expect(!connection.wantsToWrite)
        #expect(connection.deadline == .seconds(6))
        connection.tick(now: .seconds(5), date: "D")
        #expect(!connection.wantsToWrite)
        connection.tick(now: .seconds(6), date: "D")
        #expect(connection.wantsToWrite)
    }

    @Test func stallsUntilTheClientLeaves() {
        var connection = answered(.stall(afterBytes: 12))
        #expect(writeAll(&connection) == "HTTP/1.1 200")
        #expect(connection.deadline == nil)
        #expect(connection.ending == nil)
        connection.receiveEnd()
        #expect(connection.ending == .close)
    }

    @Test(arguments: [(0, ""), (8, "HTTP/1.1")])
    func resets(count: Int, text: String) {
        var connection = answered(.reset(afterBytes: count))
        if count > 0 { #expect(writeAll(&connection) == text) }
        #expect(connection.ending == .reset)
    }

    @Test func dropsTheAnswer() {
        let connection = answered(.drop)
        #expect(!connection.wantsToWrite)
        #expect(connection.ending == .close)
    }

    @Test func refusesAForeignHostAndEnds() {
        var connection = HTTPConnection(limits: limits, names: names, now: .zero)
        let request = connection.receive(
            Array("GET / HTTP/1.1\r\nHost: evil.example.com\r\n\r\n".utf8), now: .zero, date: "D")
        #expect(request == nil)
        let answer = writeAll(&connection)
        #expect(answer.hasPrefix("HTTP/1.1 421 Misdirected Request\r\n"))
        #expect(answer.contains("the host \\\"evil.example.com\\\" is not served here; use 127.0.0.1"))
        #expect(connection.hasSentEverything)
    }

    /// Whoever asked last keeps its connection the longest; nobody loses one while an answer is made.
    @Test func givesWayUnlessAnAnswerIsUnderWay() {
        var connection = HTTPConnection(limits: limits, names: names, now: .seconds(1))
        #expect(connection.canGiveWay)
        _ = connection.receive(get.dropLast(), now: .seconds(2), date: "D")
        #expect(connection.canGiveWay && connection.lastAsked == .seconds(2), "a part of a request is none")
        _ = connection.receive(get.suffix(1), now: .seconds(3), date: "D")
        #expect(!connection.canGiveWay && connection.lastAsked == .seconds(3))
        connection.answer(
            ServedResponse(HTTPResponse(status: 200), delay: .seconds(1)), now: .seconds(4), date: "D")
        #expect(!connection.canGiveWay)
        connection.tick(now: .seconds(5), date: "D")
        #expect(connection.canGiveWay, "who does not take the answer may lose it")
    }

    /// Otherwise others who ask without end would always have asked later than who has only just come.
    @Test func doesNotGiveWayToOthersBeforeItCanAsk() {
        let newcomer = HTTPConnection(limits: limits, names: names, now: .seconds(10))
        for (time, isFirst) in [(9.0, true), (10.001, true), (10.999, true), (11.001, false)] {
            var other = HTTPConnection(limits: limits, names: names, now: .zero)
            _ = other.receive(get, now: .seconds(time), date: "D")
            #expect((other.lastAsked < newcomer.lastAsked) == isFirst, "asked at \(time) s")
        }
    }

    /// What came behind a request waits until somebody has time for it.
    @Test func tellsOfRequestsBehindTheOneInWork() {
        var connection = HTTPConnection(limits: limits, names: names, now: .zero)
        #expect(!connection.holdsMore)
        _ = connection.receive(get, now: .zero, date: "D")
        #expect(!connection.holdsMore)
        connection.answer(ServedResponse(HTTPResponse(status: 204)), now: .zero, date: "D")
        _ = connection.wrote(connection.output.count, now: .zero, date: "D")
        _ = connection.receive(get + get.prefix(1), now: .zero, date: "D")
        #expect(connection.holdsMore)
    }
}
