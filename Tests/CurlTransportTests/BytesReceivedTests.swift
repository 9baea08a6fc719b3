import HTTPMessages
import Testing

@testable import CurlTransport

@Suite struct BytesReceived {
    private let limits = HTTPLimits(responseBytes: 1_000_000)
    /// The bytes that one exchange allows: twice the largest body, plus the overhead.
    private let allowed = 2_000_000 + 512 * 1024
    private var received = ReceivedBytes()

    @Test mutating func areLimitedOnEachConnection() {
        received.recordOpening(of: 5)
        received.recordOpening(of: 6)
        received.beginExchange(allowing: limits) { _ in 0 }
        #expect(!received.isFlooded(5, received: allowed))
        #expect(received.isFlooded(5, received: allowed + 1))
        #expect(!received.isFlooded(6, received: 100))
    }

    /// Without a new count, a connection that is used for months would eventually be treated as flooded.
    @Test mutating func areCountedAgainAfterEachPause() {
        received.recordOpening(of: 5)
        for exchange in 0..<100 {
            let before = exchange * allowed
            received.beginExchange(allowing: limits) { _ in before }
            #expect(received.isBusy)
            #expect(!received.isFlooded(5, received: before + allowed))
            #expect(received.isFlooded(5, received: before + allowed + 1))
            received.endExchange()
            #expect(!received.isBusy)
            #expect(!received.isFlooded(5, received: .max), "no exchange uses the connection now")
        }
    }

    /// Overlapping exchanges may share a connection.
    @Test mutating func allowAllExchangesInProgress() {
        received.recordOpening(of: 5)
        for _ in 0..<3 { received.beginExchange(allowing: limits) { _ in 0 } }
        received.endExchange()
        #expect(!received.isFlooded(5, received: 3 * allowed))
        #expect(received.isFlooded(5, received: 3 * allowed + 1))
    }

    @Test mutating func areForgottenWithTheirSocket() {
        received.recordOpening(of: 5)
        received.beginExchange(allowing: limits) { _ in 1000 }
        received.recordClosing(of: 5)
        #expect(received.sockets.isEmpty)
        received.recordOpening(of: 5)
        #expect(received.isFlooded(5, received: allowed + 1), "a new connection starts at zero")
    }

    @Test(arguments: [-1, 0, Int.max]) mutating func areAllowedForAnyLimit(responseBytes: Int) {
        received.recordOpening(of: 5)
        for _ in 0..<1000 {
            received.beginExchange(allowing: HTTPLimits(responseBytes: responseBytes)) { _ in 0 }
        }
        #expect(!received.isFlooded(5, received: 512 * 1024))
    }
}
