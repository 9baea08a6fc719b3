import FoundationEssentials
import Testing
import WaypostTestSupport

/// A receiver read through the real gpsd yields the same fixes as one that is read directly.
@Suite(
    .timeLimit(.minutes(5)), .enabled(if: GPSDaemon.programPath != nil, "gpsd is not installed"),
    .enabled(if: !Sanitizer.isActive, "starts gpsd for 40 recordings")
)
struct FixesThroughGPSD {
    @Test(arguments: ["town", "tunnel", "midnight", "motorway", "parking", "tenHertz"])
    func equalDirectFixesOfAGeneratedDrive(name: String) async throws {
        let log = try [UInt8](Data(contentsOf: Fixtures.url("nmea/\(name).nmea")))
        let comparison = try await GPSDComparison(of: log)
        #expect(comparison.differences(toleranceDegrees: 1e-8) == [])
        // gpsd doesn't date the first fix before it has received an RMC.
        #expect(comparison.fixesThroughGPSD.count >= 50 && comparison.unreportedCount <= 1)
    }

    /// Comments in the format of `waypost run --record` don't change the fixes of Waypost or gpsd.
    @Test(arguments: ["town", "tenHertz"]) func equalDirectFixesOfALogWithTimesInComments(name: String) async throws {
        let log = try [UInt8](Data(contentsOf: Fixtures.url("nmea/\(name).nmea")))
        let lines = log.split(separator: UInt8(ascii: "\n")).prefix(200)
        let plain = lines.flatMap { $0 + [UInt8(ascii: "\n")] }
        let recorded = lines.enumerated().flatMap { index, line -> [UInt8] in
            Array(index % 5 == 0 ? "# 2026-11-21T20:32:54.544Z\n".utf8 : "".utf8) + line + [UInt8(ascii: "\n")]
        }
        let comparison = try await GPSDComparison(of: recorded, withoutComments: false)
        #expect(comparison.differences(toleranceDegrees: 1e-8) == [] && comparison.unreportedCount <= 1)
        #expect(
            comparison.directFixes == (try await GPSDComparison(of: plain)).directFixes
                && comparison.directFixes.count >= 20)
    }

    /// The recordings that can't be compared, each with the reason.
    private static let incomparableRecordings = [
        "ac12_binary.log": "has binary frames with other digits, which gpsd reads and Waypost skips",
        "bt451.log": "was joined from parts; gpsd counts a midnight when the time goes back",
        "humminbird-M37.log": "repeats times, and gpsd computes the speed that its GLL sentences lack",
        "ublox-zed-f9p_hpg1.11.log": "is binary for the most part",
    ]

    /// gpsd 3.22 interprets this recording's GNS as a lost fix in every epoch but the first.
    private static let unreportedFixCounts = ["furuno_gl_ga.log": 15]

    @Test(.enabled(if: Fixtures.recordedReceivers != nil))
    func equalDirectFixesOfRecordedReceivers() async throws {
        let directory = try #require(Fixtures.recordedReceivers).appending(path: "gpsd")
        let logs = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
            .filter { $0.hasSuffix(".log") && Self.incomparableRecordings[$0] == nil }
        var compared = 0
        try await withThrowingTaskGroup(of: (String, GPSDComparison).self) { group in
            var pending = logs[...]
            func startNext() {
                guard let log = pending.popFirst() else { return }
                group.addTask {
                    let bytes = try [UInt8](Data(contentsOf: directory.appending(path: log)))
                    return (log, try await GPSDComparison(of: bytes))
                }
            }
            // Several instances of gpsd run at once, because each of them only waits in its first second.
            for _ in 0..<6 { startNext() }
            while let (log, comparison) = try await group.next() {
                startNext()
                compared += comparison.fixesThroughGPSD.count
                // If GGA and RMC differ in the last digit, gpsd uses the later one and Waypost uses GGA.
                #expect(comparison.differences(toleranceDegrees: 5e-7) == [], "\(log)")
                #expect(comparison.unreportedCount <= Self.unreportedFixCounts[log] ?? 2, "\(log)")
            }
        }
        #expect(compared > 400)
    }
}
