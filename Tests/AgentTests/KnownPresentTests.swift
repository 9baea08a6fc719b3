import Reporting
import Testing
import TimeAndRandomness

@testable import Operations

@Suite struct KnownPresent {
    private static let release = UTCTime(year: 2026, month: 1, day: 1)
    private static let laterTime = UTCTime(year: 2031, month: 1, day: 1)
    private static let wrongTime = UTCTime(year: 2080, month: 1, day: 1)

    @Test func isTheReleaseDateAtFirst() {
        #expect(TimeEstimator(release: Self.release) { nil }.time == Self.release)
    }

    @Test func isTheTimeOfTheLastGoodFix() {
        let present = TimeEstimator(release: Self.release) { nil }
        present.note(acceptedFixAt: Self.laterTime)
        present.note(acceptedFixAt: UTCTime(year: 2010, month: 1, day: 1))
        #expect(present.time == Self.laterTime)
    }

    @Test func isTheHostsClockWhileItIsSynchronized() {
        let present = TimeEstimator(release: Self.release) { Self.laterTime }
        present.note(acceptedFixAt: Self.wrongTime)
        #expect(present.time == Self.laterTime)
    }

    @Test func prefersTheServersTime() {
        let present = TimeEstimator(release: Self.release) { Self.wrongTime }
        present.note(acceptedFixAt: Self.wrongTime)
        present.observe(.serverTime(Self.laterTime))
        #expect(present.time == Self.laterTime)
    }

    @Test(arguments: [1970, 2020, 2060, 9999])
    func ignoresAnImpossibleServerTime(year: Int) {
        let present = TimeEstimator(release: Self.release) { Self.laterTime }
        present.observe(.serverTime(UTCTime(year: year, month: 12, day: 31)))
        #expect(present.time == Self.laterTime)
    }
}
