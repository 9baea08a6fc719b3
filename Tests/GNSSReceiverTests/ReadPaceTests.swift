import Testing

@testable import GNSSReceiver

@Suite struct ReadPaces {
    private var pace = ReadPace(openedAt: .zero)

    /// Reads `count` bytes at a time as often as allowed at `now`; gives how often that was.
    private mutating func readAll(_ count: Int, withFix: Bool = false, at now: Duration) -> Int {
        var reads = 0
        guard pace.rest(at: now) == .zero else { return 0 }
        while pace.mayRead {
            pace.took(count, withFix: withFix)
            reads += 1
        }
        return reads
    }

    /// Bytes of each read, and how many reads there may be in a second without a fix.
    @Test(arguments: [(65_536, 5), (4096, 78), (80, 1576), (1, 2540)])
    mutating func isSlowWhileNothingUsefulComes(count: Int, allowed: Int) {
        _ = readAll(count, at: .zero)
        _ = readAll(count, at: .milliseconds(100))
        var reads = 0
        for millisecond in 200..<1200 { reads += readAll(count, at: .milliseconds(millisecond)) }
        #expect(reads == allowed)
    }

    @Test mutating func letsAMebibyteWaitAtTheStart() {
        #expect(readAll(4096, at: .zero) == (1 << 20) / (4096 + 128) + 1)
        #expect(pace.rest(at: .milliseconds(1)) == .milliseconds(99))
        #expect(pace.rest(at: .milliseconds(99)) == .milliseconds(1))
        #expect(pace.rest(at: .milliseconds(100)) == .zero)
        // What the last read brought beyond its portion is paid for by the next.
        #expect(readAll(4096, at: .milliseconds(100)) == (1 << 15) / (4096 + 128))
    }

    /// A fix in the small portion makes it a generous one, and the next one too.
    @Test mutating func isFastAgainWithTheFirstFix() {
        for tenth in 0..<10 { _ = readAll(4096, at: .milliseconds(tenth * 100)) }
        pace.took(0, withFix: true)
        #expect(pace.rest(at: .milliseconds(950)) == .zero)
        #expect(readAll(4096, at: .milliseconds(950)) > 200)
        #expect(readAll(4096, at: .seconds(1)) > 200)
        #expect(readAll(4096, at: .seconds(1.1)) < 20)
    }

    /// Fixes without end are a flood as well.
    @Test mutating func hasALimitThoughEveryReadBringsAFix() {
        var bytes = 0
        for millisecond in 0..<1000 {
            bytes += readAll(4096, withFix: true, at: .milliseconds(millisecond)) * 4096
        }
        #expect((9 << 20...10 << 20).contains(bytes))
    }

    /// The fastest line there is, without a fix for a minute, in reads as small as they are on a busy one: no rest.
    @Test mutating func doesNotDelayAReceiverHoweverTalkativeItIs() {
        var longest = Duration.zero
        for millisecond in 0..<60_000 {
            longest = max(longest, pace.rest(at: .milliseconds(millisecond)))
            pace.took(92, withFix: false)
        }
        #expect(longest == .zero)
    }
}
