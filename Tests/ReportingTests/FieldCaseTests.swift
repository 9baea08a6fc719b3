import FoundationEssentials
import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import Reporting

/// Logs of faulty receivers, each with its true track. They are next to the checkout on some machines only.
@Suite(.enabled(if: Fixtures.fieldCases != nil, "no field cases next to the checkout")) struct FieldCases {
    private static func fixes(of name: String) throws -> [Fix] {
        try Fixtures.fixes(in: try #require(Fixtures.fieldCases).appending(path: "\(name).nmea"))
    }

    private static func trueTrack(of name: String) throws -> [Fix] {
        let table = try String(
            contentsOf: try #require(Fixtures.fieldCases).appending(path: "\(name).csv"), encoding: .utf8)
        return try table.split(whereSeparator: \.isNewline).map { row in
            let numbers = row.split(separator: ",").compactMap { Double($0) }
            try #require(numbers.count == 3)
            return Fix(
                timeOfFix: UTCTime(millisecondsSince1970: Int64(numbers[0] * 1000)), latitude: numbers[1],
                longitude: numbers[2])
        }
    }

    /// The log, the policy, the second of the drive from which an error is corrected, and the maximum error in metres:
    /// a parked van moves 4 m forward and is reported as moving, a wrong first fix, and a start without motion.
    @Test(
        arguments: [
            ("c1-parked-nudge", .interval(.seconds(10)), 0, 15), ("c1-parked-nudge", .interval(.seconds(30)), 0, 15),
            ("c1-parked-nudge", .accuracy(liveToleranceMeters: 50, maximumInterval: .seconds(30)), 0, 15),
            ("c6-first-fix-100km-off", .interval(.seconds(10)), 5, 10),
            ("c7-start-without-speed", .interval(.seconds(10)), 0, 125),
        ] as [(String, ReportingPolicy.Kind, Int, Double)])
    func aWrongUpdateIsCorrected(name: String, kind: ReportingPolicy.Kind, from second: Int, meters: Double) throws {
        let truth = try Self.trueTrack(of: "truth/\(name)")
        let errors = ReplayedIntake(try Self.fixes(of: "truth/\(name)"), policy: kind).liveErrors(against: truth)
        let late = errors.filter { truth[0].timeOfFix.duration(to: $0.time) >= .seconds(second) }
        #expect(try #require(late.map(\.meters).max()) < meters)
    }

    /// The last update of the previous process leads to the rejection of the wrong fix.
    @Test func aWrongFirstFixAfterARestartIsNotReported() throws {
        let name = "truth/c6-first-fix-100km-off"
        var before = try Self.trueTrack(of: name)[0]
        before.timeOfFix = before.timeOfFix.advanced(by: .seconds(-4))
        let intake = ReplayedIntake(try Self.fixes(of: name), newest: LocationUpdate(before))
        #expect(intake.rejected.map(\.fix.timeOfFix) == [try Self.fixes(of: name)[0].timeOfFix])
        #expect(try #require(intake.liveErrors(against: try Self.trueTrack(of: name)).map(\.meters).max()) < 10)
    }

    @Test func outliersAreRejectedWithoutAReportedRadius() throws {
        let name = "truth/c5-outliers-rmc-only"
        let intake = ReplayedIntake(try Self.fixes(of: name))
        #expect(intake.rejected.count == 3)
        #expect(intake.maximumTrackError(against: try Self.trueTrack(of: name)) < 6)
    }

    @Test func aParkedVehicleWithoutASpeedStaysInItsPlace() throws {
        let fixes = try Self.fixes(of: "truth/c10-parked-urban-no-speed")
        let stop = fixes[0].timeOfFix.advanced(by: .seconds(63))
        for kind in [
            ReportingPolicy.Kind.interval(.seconds(10)),
            .accuracy(liveToleranceMeters: 50, maximumInterval: .seconds(30)),
        ] {
            #expect(ReplayedIntake(fixes, policy: kind).placeCount(from: stop) <= 12, "\(kind)")
        }
    }

    /// The arguments are the log and the number of estimates.
    @Test(arguments: [("estimated-before-first-fix", 30), ("min-estimated-first", 1)])
    func anEstimateBeforeTheFirstFixIsNotReported(name: String, count: Int) throws {
        let fixes = try Self.fixes(of: "gnss/\(name)")
        let intake = ReplayedIntake(fixes)
        #expect(intake.rejected.count == count)
        #expect(intake.rejected.allSatisfy { $0.rejection == .estimatedBeforeMeasured })
        #expect(intake.reports.first?.update.timeOfFix == fixes.dropFirst(count).first?.timeOfFix)
    }

    /// A phone reports an HDOP that is too good for its errors, so the accuracy has a minimum.
    @Test func everyPositionIsWithinItsAccuracy() throws {
        let fixes = try Self.fixes(of: "truth/c8-hdop-0.38")
        let truth = try Self.trueTrack(of: "truth/c8-hdop-0.38")
        #expect(fixes.map(\.timeOfFix) == truth.map(\.timeOfFix))
        for (fix, place) in zip(fixes, truth) {
            let accuracy = try #require(fix.horizontalAccuracyMeters)
            #expect(accuracy >= 4 && fix.distance(to: place) <= accuracy)
        }
    }

    @Test func aSpeedThatIsAlwaysZeroIsNotReported() throws {
        let fixes = try Self.fixes(of: "gnss/rmc-speed-always-zero")
        let intake = ReplayedIntake(fixes)
        #expect(intake.contradictions > fixes.count - 15)
        let moving = intake.reports.dropFirst(2).map(\.update)
        #expect(moving.allSatisfy { abs(($0.speedMetersPerSecond ?? 0) - 12) < 0.5 && $0.headingDegrees != nil })
        let errors = intake.liveErrors(against: fixes).dropFirst(15).map(\.meters)
        #expect(try #require(errors.max()) < 5)
    }
}
