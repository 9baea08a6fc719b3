import Testing

@testable import CurlTransport

@Suite struct Repetition {
    private var repetition = RequestRepetition()

    @Test mutating func isPreventedAfterARequestOnANewConnection() {
        let connects = [
            repetition.admitSocket(hasFailureMessage: false), repetition.admitSocket(hasFailureMessage: false),
        ]
        #expect(connects == [true, true], "IPv6 and IPv4 at once")
        repetition.recordRequest()
        #expect(!repetition.isRefused)
        let again = repetition.admitSocket(hasFailureMessage: false)
        #expect(!again && repetition.isRefused)
    }

    @Test mutating func isAllowedAfterARequestOnAReusedConnection() {
        repetition.recordRequest()
        repetition.recordRequest()
        let first = repetition.admitSocket(hasFailureMessage: false)
        repetition.recordRequest()
        let second = repetition.admitSocket(hasFailureMessage: false)
        #expect(first && !second)
    }

    @Test mutating func isAllowedOnceForAnotherProtocol() {
        var answers: [Bool] = []
        for _ in 0..<3 {
            answers.append(repetition.admitSocket(hasFailureMessage: true))
            repetition.recordRequest()
        }
        #expect(answers == [true, true, false])
    }
}
