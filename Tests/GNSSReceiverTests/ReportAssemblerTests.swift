import GNSS
import Testing
import TimeAndRandomness

@testable import GNSSReceiver

@Suite struct ReportAssemblers {
    private var assembler = ReportAssembler()
    private var emitted: [String] = []

    /// Adds a report at `milliseconds` after a full hour, recognisable by its speed.
    private mutating func addReport(atMillisecond milliseconds: Int, speed: Double, at now: Duration = .zero) {
        var fix = Fix(
            timeOfFix: UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: 36_000_000 + milliseconds), latitude: 48,
            longitude: 11)
        fix.speedMetersPerSecond = speed
        var out: [Fix] = []
        assembler.add(fix, at: now) { out.append($0) }
        record(out)
    }

    private mutating func idle(until now: Duration) {
        var out: [Fix] = []
        assembler.handleIdleLine(at: now) { out.append($0) }
        record(out)
    }

    private mutating func record(_ fixes: [Fix]) {
        emitted += fixes.map { "\($0.timeOfFix.millisecondOfDay - 36_000_000):\($0.speedMetersPerSecond ?? -1)" }
    }

    @Test mutating func emitEachEpochAtOnceIfItHasOneReport() {
        for second in 0..<4 { addReport(atMillisecond: second * 1000, speed: 1) }
        // The first epoch waited for the second; the others didn't wait.
        #expect(emitted == ["0:1.0", "1000:1.0", "2000:1.0", "3000:1.0"])
    }

    @Test mutating func useTheLastReportOfAnEpoch() {
        for second in 0..<3 {
            addReport(atMillisecond: second * 1000, speed: 16)
            addReport(atMillisecond: second * 1000, speed: 0.5)
        }
        #expect(emitted == ["0:0.5", "1000:0.5", "2000:0.5"])
    }

    @Test mutating func waitForMissingReportsForAtMostAPause() {
        for _ in 0..<4 { addReport(atMillisecond: 0, speed: 1) }
        addReport(atMillisecond: 1000, speed: 2, at: .seconds(9))
        #expect(emitted == ["0:1.0"])
        #expect(assembler.idleDeadline == .milliseconds(9250))
        idle(until: .milliseconds(9249))
        #expect(emitted == ["0:1.0"])
        idle(until: .milliseconds(9250))
        #expect(emitted == ["0:1.0", "1000:2.0"])
        #expect(assembler.idleDeadline == nil)
        addReport(atMillisecond: 2000, speed: 3)
        #expect(emitted.last == "2000:3.0")
    }

    @Test mutating func emitOneFixPerEpoch() {
        for second in 0..<3 { addReport(atMillisecond: second * 1000, speed: 1) }
        addReport(atMillisecond: 2000, speed: 9)
        addReport(atMillisecond: 2005, speed: 9)
        idle(until: .seconds(60))
        #expect(emitted == ["0:1.0", "1000:1.0", "2000:1.0"])
    }

    @Test mutating func emitNothingWhileTheClockIsFrozenOrGoesBack() {
        for time in [0, 1000, 2000, 1000, 2000, 0, 3000] { addReport(atMillisecond: time, speed: 1) }
        #expect(emitted == ["0:1.0", "1000:1.0", "2000:1.0", "3000:1.0"])
    }

    @Test mutating func waitLessForAFastReceiver() {
        for tick in 0..<3 {
            addReport(atMillisecond: tick * 100, speed: 1)
            addReport(atMillisecond: tick * 100, speed: 1)
        }
        addReport(atMillisecond: 300, speed: 1, at: .seconds(1))
        #expect(assembler.idleDeadline == .milliseconds(1030))
    }

    @Test mutating func retractAnEpochWithoutPosition() {
        addReport(atMillisecond: 0, speed: 1)
        retractEpoch(at: 0)
        #expect(assembler.idleDeadline == nil)
        addReport(atMillisecond: 0, speed: 2)
        retractEpoch(at: nil)
        addReport(atMillisecond: 0, speed: 3)
        retractEpoch(at: 1000)
        #expect(emitted == ["0:3.0"])
    }

    private mutating func retractEpoch(at milliseconds: Int?) {
        var out: [Fix] = []
        let time = milliseconds.map { UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: 36_000_000 + $0) }
        assembler.retract(at: time) { out.append($0) }
        record(out)
    }
}
