import Testing

@testable import CurlTransport

@Suite struct Repetition {
    private var repetition = RequestRepetition()

    @Test mutating func isRefusedAfterARequestOnANewConnection() {
        let connects = [repetition.mayConnect(words: ""), repetition.mayConnect(words: "")]
        #expect(connects == [true, true], "IPv6 and IPv4 at once")
        repetition.connected()
        #expect(!repetition.isRefused)
        let again = repetition.mayConnect(words: "")
        #expect(!again && repetition.isRefused)
    }

    @Test mutating func isAllowedAfterOneOnAConnectionThatWasUsedBefore() {
        repetition.connected()
        repetition.connected()
        let first = repetition.mayConnect(words: "")
        repetition.connected()
        let second = repetition.mayConnect(words: "")
        #expect(first && !second)
    }

    @Test mutating func isAllowedOnceForAnotherProtocol() {
        let words = "Empty reply from server"
        var answers: [Bool] = []
        for _ in 0..<3 {
            answers.append(repetition.mayConnect(words: words))
            repetition.connected()
        }
        #expect(answers == [true, true, false])
    }
}
