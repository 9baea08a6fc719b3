import Testing

@testable import CurlTransport

@Suite struct Repetition {
    private var repetition = RequestRepetition()

    @Test mutating func isRefusedAfterARequestOnANewConnection() {
        let connects = [repetition.mayConnect(hasFailureWords: false), repetition.mayConnect(hasFailureWords: false)]
        #expect(connects == [true, true], "IPv6 and IPv4 at once")
        repetition.connected()
        #expect(!repetition.isRefused)
        let again = repetition.mayConnect(hasFailureWords: false)
        #expect(!again && repetition.isRefused)
    }

    @Test mutating func isAllowedAfterOneOnAConnectionThatWasUsedBefore() {
        repetition.connected()
        repetition.connected()
        let first = repetition.mayConnect(hasFailureWords: false)
        repetition.connected()
        let second = repetition.mayConnect(hasFailureWords: false)
        #expect(first && !second)
    }

    @Test mutating func isAllowedOnceForAnotherProtocol() {
        var answers: [Bool] = []
        for _ in 0..<3 {
            answers.append(repetition.mayConnect(hasFailureWords: true))
            repetition.connected()
        }
        #expect(answers == [true, true, false])
    }
}
