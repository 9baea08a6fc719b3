import FoundationEssentials
import GNSS
import ReceiverSimulator
import Testing
import WaypostTestSupport

@Suite(.enabled(if: !Sanitizer.isThreadSanitizer, "runs on one thread"))
struct GeneratedDrives {
    @Test(arguments: DriveSituation.allCases)
    func matchTheCommittedFixtures(situation: DriveSituation) throws {
        let drive = GeneratedDrive(situation)
        #expect(try Data(drive.sentences) == Data(contentsOf: Fixtures.url("nmea/\(situation.rawValue).nmea")))
        #expect(try Data(drive.expectedFixes) == Data(contentsOf: Fixtures.url("nmea/\(situation.rawValue).expected")))
    }

    @Test(arguments: DriveSituation.allCases)
    func decodeToTheExpectedFixes(situation: DriveSituation) throws {
        let bytes = try [UInt8](Data(contentsOf: Fixtures.url("nmea/\(situation.rawValue).nmea")))
        var lines: [UInt8] = []
        for fix in Decoding.fixes(of: bytes) { JSONLinesFormat.append(fix, to: &lines) }
        #expect(try Data(lines) == Data(contentsOf: Fixtures.url("nmea/\(situation.rawValue).expected")))
    }

    @Test func differByTheirSeed() {
        let drives = (1...4).map { seed in
            Drive(.town, seed: seed, duration: .seconds(5)).reduce(into: [UInt8]()) { $0 += $1.sentences }
        }
        #expect(Set(drives).count == 4)
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func obeyPhysics(seed: UInt64) {
        for situation in [DriveSituation.town, .motorway] {
            let fixes = Drive(situation, seed: seed, duration: .seconds(300)).compactMap(\.truth)
            let speeds = fixes.map { $0.speedMetersPerSecond ?? 0 }
            #expect(speeds.allSatisfy { $0 < 38 })
            #expect(zip(speeds, speeds.dropFirst()).allSatisfy { abs($0 - $1) < 3.5 })
            #expect(speeds.reduce(0, +) / Double(speeds.count) > 4)
        }
    }
}
