import Testing

@testable import GNSSReceiver

@Suite struct ReadPaces {
    private var pace = ReadPace(openedAt: .zero)

    /// Reads `count` bytes at a time as often as allowed at `now`. Returns the number of reads.
    private mutating func readWhileAllowed(bytes count: Int, withFix: Bool = false, at now: Duration) -> Int {
        var reads = 0
        guard pace.pauseDuration(at: now) == .zero else { return 0 }
        while pace.mayRead {
            pace.recordRead(of: count, withFix: withFix)
            reads += 1
        }
        return reads
    }

    /// The bytes of each read, and the number of reads allowed per second without a fix.
    @Test(arguments: [(65_536, 5), (4096, 78), (80, 1576), (1, 2540)])
    mutating func areSlowWithoutFixes(count: Int, allowed: Int) {
        _ = readWhileAllowed(bytes: count, at: .zero)
        _ = readWhileAllowed(bytes: count, at: .milliseconds(100))
        var reads = 0
        for millisecond in 200..<1200 { reads += readWhileAllowed(bytes: count, at: .milliseconds(millisecond)) }
        #expect(reads == allowed)
    }

    @Test mutating func allowAMebibyteAtTheStart() {
        #expect(readWhileAllowed(bytes: 4096, at: .zero) == (1 << 20) / (4096 + 128) + 1)
        #expect(pace.pauseDuration(at: .milliseconds(1)) == .milliseconds(99))
        #expect(pace.pauseDuration(at: .milliseconds(99)) == .milliseconds(1))
        #expect(pace.pauseDuration(at: .milliseconds(100)) == .zero)
        // The excess of the last read is deducted from the next portion.
        #expect(readWhileAllowed(bytes: 4096, at: .milliseconds(100)) == (1 << 15) / (4096 + 128))
    }

    /// A fix in the small portion makes this portion and the next one generous.
    @Test mutating func areFastAgainAfterAFix() {
        for tenth in 0..<10 { _ = readWhileAllowed(bytes: 4096, at: .milliseconds(tenth * 100)) }
        pace.recordRead(of: 0, withFix: true)
        #expect(pace.pauseDuration(at: .milliseconds(950)) == .zero)
        #expect(readWhileAllowed(bytes: 4096, at: .milliseconds(950)) > 200)
        #expect(readWhileAllowed(bytes: 4096, at: .seconds(1)) > 200)
        #expect(readWhileAllowed(bytes: 4096, at: .seconds(1.1)) < 20)
    }

    /// Endless fixes are also a flood.
    @Test mutating func haveALimitEvenIfEveryReadHasAFix() {
        var bytes = 0
        for millisecond in 0..<1000 {
            bytes += readWhileAllowed(bytes: 4096, withFix: true, at: .milliseconds(millisecond)) * 4096
        }
        #expect((9 << 20...10 << 20).contains(bytes))
    }

    /// Small reads from the fastest serial port are never delayed, even during a minute without a fix.
    @Test mutating func doNotDelayTheFastestSerialPort() {
        var maximumRest = Duration.zero
        for millisecond in 0..<60_000 {
            maximumRest = max(maximumRest, pace.pauseDuration(at: .milliseconds(millisecond)))
            pace.recordRead(of: 92, withFix: false)
        }
        #expect(maximumRest == .zero)
    }
}
