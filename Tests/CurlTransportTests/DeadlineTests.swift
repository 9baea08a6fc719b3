import HTTPMessages
import Testing

@testable import CurlTransport

@Suite struct Deadlines {
    private let start = ContinuousClock.now
    private let limits = HTTPLimits(total: .seconds(15), stall: .seconds(10))

    /// When the connection stood, when bytes came last, when is asked (seconds), what has expired.
    @Test(
        arguments: [
            (nil, nil, 14, nil), (nil, nil, 15, .total), (2, nil, 11, nil), (2, nil, 12, .stall), (2, 4, 13, nil),
            (2, 4, 14, .stall), (2, 14, 14, nil), (2, 14, 15, .total), (9, nil, 15, .total),
        ] as [(Int?, Int?, Int, TransferDeadlines.Expiry?)])
    func passWhenTheirTimeHasCome(connected: Int?, bytes: Int?, asked: Int, expiry: TransferDeadlines.Expiry?) {
        var deadlines = TransferDeadlines(limits: limits, begun: start)
        if let connected { deadlines.connected(wasUsed: false, at: start.advanced(by: .seconds(connected))) }
        if let bytes { deadlines.progressed(to: 100, at: start.advanced(by: .seconds(bytes))) }
        #expect(deadlines.expiry(at: start.advanced(by: .seconds(asked))) == expiry)
    }

    /// Half the time for a connection that may have died in its sleep, the whole once it has answered at all.
    @Test func areShorterOnAConnectionThatWasUsedBefore() {
        var deadlines = TransferDeadlines(limits: limits, begun: start)
        deadlines.connected(wasUsed: true, at: start)
        #expect(deadlines.next == start.advanced(by: .seconds(5)))
        #expect(deadlines.expiry(at: start.advanced(by: .seconds(5))) == .stall)
        deadlines.received(at: start.advanced(by: .seconds(4)))
        #expect(deadlines.expiry(at: start.advanced(by: .seconds(13))) == nil)
        #expect(deadlines.expiry(at: start.advanced(by: .seconds(14))) == .stall)
    }

    @Test func tellTheNextMomentToLook() {
        var deadlines = TransferDeadlines(limits: limits, begun: start)
        #expect(deadlines.next == start.advanced(by: .seconds(15)))
        deadlines.connected(wasUsed: false, at: start)
        #expect(deadlines.next == start.advanced(by: .seconds(10)))
        deadlines.progressed(to: 1, at: start.advanced(by: .seconds(3)))
        deadlines.progressed(to: 1, at: start.advanced(by: .seconds(4)))  // no new byte
        #expect(deadlines.next == start.advanced(by: .seconds(13)))
        deadlines.progressed(to: 2, at: start.advanced(by: .seconds(9)))
        #expect(deadlines.next == start.advanced(by: .seconds(15)))
    }

    @Test(
        arguments: [
            (Duration.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1001), 2),
            (.seconds(2), 2000), (.seconds(-1), 0), (.seconds(10_000_000_000), 1_000_000_000),
        ])
    func areRoundedUpToMilliseconds(duration: Duration, milliseconds: Int) {
        #expect(duration.wholeMilliseconds == milliseconds)
    }
}
