import GNSS
import LinuxPlatform
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import RunRecording

/// The recording of a vehicle that is private at times.
@Suite struct PrivateRecordings {
    private static let zone = PrivateZone(latitude: 50, longitude: 10, radiusMeters: 100)

    /// A recorder, and the receiver and pipeline that feed it.
    private final class Drive {
        private let now = Locked(UTCTime(year: 2026, month: 1, day: 5))
        let recorder: RunRecorder

        init(zones: [PrivateZone] = [zone], hasSwitch: Bool = false) {
            recorder = RunRecorder(now: { [now] in now.withLock { $0 } })
            recorder.setPrivacy(zones: zones, hasSwitch: hasSwitch)
        }

        /// Receives an epoch and the fix that was decoded from it.
        func receiveFix(
            at second: Double, north: Double, text: String, judge: (Fix) -> ReportingEvent = { .fix($0) }
        ) {
            let fix = Fix.sample(second, north: north)
            receive(text, at: second)
            recorder.fixMade(fix)
            recorder.observe(judge(fix))
        }

        func receive(_ text: String, at second: Double) {
            now.withLock {
                $0 = UTCTime(year: 2026, month: 1, day: 5).advanced(by: .milliseconds(Int64(second * 1000)))
            }
            recorder.bytesReceived(Array(text.utf8).span)
        }

        /// The text that would be written since the last use of this property, without times.
        var receiver: String {
            let text = String(decoding: recorder.takeBacklog()?.receiver ?? [], as: UTF8.self)
            return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.joined(separator: " ")
        }
    }

    /// The read that completes a fix also belongs to the next fix, because it may contain the start of the next epoch.
    @Test func keepBytesBetweenReportedFixes() {
        let drive = Drive(hasSwitch: true)
        drive.receiveFix(at: 0, north: 900, text: "a\n")
        #expect(drive.receiver == "", "no fix precedes it")
        drive.receiveFix(at: 1, north: 800, text: "b\n") { .rejected($0, .jump(meters: 9)) }
        drive.receiveFix(at: 2, north: 700, text: "c\n")
        #expect(drive.receiver == "b")
        drive.receiveFix(at: 3, north: 600, text: "d\n") { _ in .withheld }
        drive.receiveFix(at: 4, north: 600, text: "e\n")
        drive.receiveFix(at: 5, north: 600, text: "f\n")
        drive.receiveFix(at: 6, north: 600, text: "g\n")
        #expect(drive.receiver == "f")
        drive.receiveFix(at: 7, north: 50, text: "in the zone\n")
        for (second, text) in zip(8..., ["h\n", "i\n", "j\n"]) {
            drive.receiveFix(at: Double(second), north: 500, text: text)
        }
        #expect(drive.receiver == "i")
        drive.recorder.observe(.privateModeBegan)
        drive.receive("private\n", at: 11)
        drive.recorder.observe(.privateModeEnded)
        drive.receiveFix(at: 12, north: 500, text: "k\n")
        #expect(drive.receiver == "")
    }

    /// If the pipeline was too busy for some fixes, the next reported fix decides for them.
    @Test func waitForTheNextReportedFix() {
        let drive = Drive()
        drive.receiveFix(at: 0, north: 900, text: "a\n")
        drive.receiveFix(at: 1, north: 900, text: "b\n") { _ in .idle }
        drive.receiveFix(at: 2, north: 900, text: "c\n") { _ in .idle }
        #expect(drive.receiver == "")
        drive.receiveFix(at: 3, north: 900, text: "d\n")
        #expect(drive.receiver == "b c")
    }

    /// On a busy machine, one read may contain several epochs. A read is kept only if all of its epochs may be kept.
    @Test func keepNoReadThatMayContainAPrivateFix() {
        let drive = Drive()
        drive.receiveFix(at: 0, north: 0, text: "in the zone\n")
        drive.receive("void and two epochs\n", at: 3)
        for second in 2...3 {
            drive.recorder.fixMade(.sample(Double(second), north: 900))
            drive.recorder.observe(.fix(.sample(Double(second), north: 900)))
        }
        drive.receiveFix(at: 4, north: 900, text: "a\n")
        drive.receiveFix(at: 5, north: 900, text: "b\n")
        #expect(drive.receiver == "a")
    }

    /// A receiver without a fix may repeat its last position, which may be in the zone.
    @Test func keepNoSentenceWithoutAPosition() {
        func epochWithoutFix(_ second: Int) -> String {
            sentence("GPGGA,00000\(second),5000.0000,N,01000.0000,E,0,00,,,M,,M,,")
                + sentence("GPRMC,00000\(second),V,5000.0000,N,01000.0000,E,,,050126,,,N")
        }
        func epochWithFix(_ second: Int) -> String {
            sentence("GPGGA,00000\(second),5001.0000,N,01000.0000,E,1,08,1.0,100.0,M,40.0,M,,")
                + sentence("GPRMC,00000\(second),A,5001.0000,N,01000.0000,E,0.0,,050126,,,A")
        }
        // The receiver loses its fix between the zone and the road.
        let leaving = Drive()
        leaving.receiveFix(at: 0, north: 0, text: "a\n")
        leaving.receive(epochWithoutFix(1), at: 1)
        leaving.receiveFix(at: 2, north: 900, text: epochWithFix(2))
        leaving.receiveFix(at: 3, north: 900, text: epochWithFix(3))
        leaving.receiveFix(at: 4, north: 900, text: epochWithFix(4))
        let road = leaving.receiver
        #expect(!road.contains("5000.0000") && road.contains("GPRMC,000003,A"))

        // The receiver loses its fix between two fixes on the road.
        let crossing = Drive()
        for second in 0...2 { crossing.receiveFix(at: Double(second), north: 900, text: epochWithFix(second)) }
        for second in 3...4 { crossing.receive(epochWithoutFix(second), at: Double(second)) }
        for second in 5...9 { crossing.receiveFix(at: Double(second), north: 900, text: epochWithFix(second)) }
        let rest = crossing.receiver
        #expect(!rest.contains("5000.0000") && rest.contains("GPRMC,000001,A") && rest.contains("GPRMC,000007,A"))

        // Without private zones or a switch, such sentences are kept.
        let open = Drive(zones: [])
        open.receive(epochWithoutFix(1), at: 1)
        #expect(open.receiver.contains("5000.0000"))
    }

    @Test func omitReadsInALongGap() {
        let drive = Drive()
        drive.receiveFix(at: 0, north: 900, text: "a\n")
        drive.receiveFix(at: 1, north: 900, text: "b\n")
        drive.receive("unknown\n", at: 6)
        drive.receiveFix(at: 12, north: 900, text: "c\n")
        drive.receiveFix(at: 13, north: 900, text: "d\n")
        drive.receiveFix(at: 14, north: 900, text: "e\n")
        #expect(drive.receiver == "d")
    }

    @Test func keepTheLogWhileTheLastFixWasReported() {
        let drive = Drive()
        func log(_ text: String) { drive.recorder.record(logLine: text) }
        log("not known yet")
        drive.receiveFix(at: 0, north: 900, text: "a\n")
        log("on the road")
        drive.recorder.observe(.privateModeBegan)
        log("private")
        drive.recorder.observe(.privateModeEnded)
        log("nor this")
        drive.receiveFix(at: 1, north: 900, text: "b\n")
        log("again")
        let lines = String(decoding: drive.recorder.takeBacklog()?.log ?? [], as: UTF8.self)
        #expect(lines.split(separator: "\n").map { $0.split(separator: "Z ").last } == ["on the road", "again"])
    }

    /// After the configuration has changed, it isn't known until the next fix whether the vehicle is private.
    @Test func waitForAFixAfterTheZonesChange() {
        let drive = Drive(zones: [])
        drive.receive("a\n", at: 0)
        drive.recorder.setPrivacy(zones: [], hasSwitch: false)
        drive.receive("b\n", at: 0)
        drive.recorder.setPrivacy(zones: [Self.zone], hasSwitch: false)
        drive.receiveFix(at: 1, north: 900, text: "c\n")
        #expect(drive.receiver == "a b")
        drive.receiveFix(at: 2, north: 900, text: "d\n")
        drive.receiveFix(at: 3, north: 900, text: "e\n")
        #expect(drive.receiver == "d")
        drive.recorder.setPrivacy(zones: [], hasSwitch: true)
        drive.receiveFix(at: 4, north: 900, text: "f\n")
        #expect(drive.receiver == "")
    }
}
