import Testing

@testable import CurlTransport

@Suite struct Repetition {
    private var repetition = RequestRepetition()

    @Test mutating func isPreventedAfterARequestOnANewConnection() {
        let connects = [
            repetition.mayConnect(hasFailureMessage: false), repetition.mayConnect(hasFailureMessage: false),
        ]
        #expect(connects == [true, true], "IPv6 and IPv4 at once")
        repetition.connected()
        #expect(!repetition.isRefused)
        let again = repetition.mayConnect(hasFailureMessage: false)
        #expect(!again && repetition.isRefused)
    }

    @Test mutating func isAllowedAfterARequestOnAReusedConnection() {
        repetition.connected()
        repetition.connected()
        let first = repetition.mayConnect(hasFailureMessage: false)
        repetition.connected()
        let second = repetition.mayConnect(hasFailureMessage: false)
        #expect(first && !second)
    }

    @Test mutating func isAllowedOnceForAnotherProtocol() {
        var answers: [Bool] = []
        for _ in 0..<3 {
            answers.append(repetition.mayConnect(hasFailureMessage: true))
            repetition.connected()
        }
        #expect(answers == [true, true, false])
    }
}
