import Testing

@testable import FaultProxy

@Suite struct Lanes {
    private func lane(holding count: Int, delay: Duration = .zero) -> Lane {
        var lane = Lane()
        lane.accept(ArraySlice(repeating: 7, count: count), at: .zero, delay: delay)
        return lane
    }

    @Test func delayBytesAndKeepTheirOrder() {
        var lane = lane(holding: 2, delay: .milliseconds(50))
        lane.accept([9], at: .milliseconds(1), delay: .zero)
        #expect(lane.readyBytes(at: .milliseconds(49), LaneFaults()).isEmpty)
        #expect(lane.nextPass(LaneFaults()) == .milliseconds(50))
        #expect(lane.readyBytes(at: .milliseconds(50), LaneFaults()) == [7, 7])
        lane.recordPassed(2, at: .milliseconds(50), LaneFaults())
        #expect(lane.readyBytes(at: .milliseconds(50), LaneFaults()) == [9])
    }

    @Test func passBytesAtTheirRate() {
        var faults = LaneFaults()
        faults.bytesPerSecond = 1000
        var lane = lane(holding: 3000)
        var (now, passed) = (Duration.zero, 0)
        while let next = lane.nextPass(faults) {
            now = max(now, next)
            let count = lane.readyBytes(at: now, faults).count
            lane.recordPassed(count, at: now, faults)
            passed += count
        }
        #expect(passed == 3000)
        #expect((.seconds(2.9)...(.seconds(3))).contains(now), "\(now)")
    }

    @Test func passBytesOneByOne() {
        var faults = LaneFaults()
        faults.maximumPiece = 1
        faults.pause = .milliseconds(100)
        var lane = lane(holding: 3)
        #expect(lane.readyBytes(at: .zero, faults) == [7])
        lane.recordPassed(1, at: .zero, faults)
        #expect(lane.readyBytes(at: .milliseconds(99), faults).isEmpty)
        #expect(lane.nextPass(faults) == .milliseconds(100))
    }

    @Test func endAfterTheLastByte() {
        var faults = LaneFaults()
        faults.end = (5, .reset)
        var lane = lane(holding: 8)
        let ready = lane.readyBytes(at: .zero, faults).count
        #expect(ready == 5 && !lane.isAtEnd(faults))
        lane.recordPassed(ready, at: .zero, faults)
        #expect(
            lane.isAtEnd(faults) && lane.nextPass(faults) == nil && lane.readyBytes(at: .seconds(9), faults).isEmpty)
    }

    @Test func holdAtMostTheirCapacity() { #expect(lane(holding: 65_000).room == Lane.capacity - 65_000) }
}
