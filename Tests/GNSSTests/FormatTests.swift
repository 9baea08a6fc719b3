import GNSS
import Testing
import TimeAndRandomness

@Suite struct Format {
    static let fullFix: Fix = {
        var fix = Fix(
            timeOfFix: UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: 36_930_250), latitude: -52.525,
            longitude: 13.404166666666667, quality: .rtkFixed)
        fix.altitudeMeters = -0.5
        fix.geoidSeparationMeters = 46.9
        fix.speedMetersPerSecond = 5.144444
        fix.headingDegrees = 77.52
        fix.horizontalAccuracyMeters = 0.027
        fix.hdop = 0.9
        fix.satellitesUsed = 12
        fix.mode = .threeDimensional
        return fix
    }()
    static let bareFix = Fix(timeOfFix: UTCTime(millisecondsSince1970: 0), latitude: 0, longitude: -0.000000004)

    @Test func writesJSONLines() {
        var bytes: [UInt8] = []
        JSONLinesFormat.append(Self.fullFix, to: &bytes)
        JSONLinesFormat.append(Self.bareFix, to: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                {"time":"2026-01-05T10:15:30.250Z","latitude":-52.525,"longitude":13.404166667,"altitudeMeters":-0.5,\
                "geoidSeparationMeters":46.9,"speedMetersPerSecond":5.1444,"headingDegrees":77.52,\
                "horizontalAccuracyMeters":0.027,"hdop":0.9,"satellitesUsed":12,"quality":"rtkFixed","mode":"3d"}
                {"time":"1970-01-01T00:00:00.000Z","latitude":0,"longitude":-0.000000004,"quality":"gps"}

                """)
    }

    @Test func writesCSV() {
        var bytes: [UInt8] = []
        CSVFormat.appendHeader(to: &bytes)
        CSVFormat.append(Self.fullFix, to: &bytes)
        CSVFormat.append(Self.bareFix, to: &bytes)
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(
            lines[1]
                == "2026-01-05T10:15:30.250Z,-52.525,13.404166667,-0.5,46.9,5.1444,77.52,0.027,0.9,12,rtkFixed,3d,,")
        #expect(lines[2] == "1970-01-01T00:00:00.000Z,0,-0.000000004,,,,,,,,gps,,,")
        #expect(lines.allSatisfy { $0.filter { $0 == "," }.count == 13 })
    }

    /// Derived values never replace reported values.
    @Test func writesDerivedValuesAfterReportedOnes() {
        var fix = Self.bareFix
        fix.derived.speedMetersPerSecond = 12.34567
        fix.derived.headingDegrees = 270.12345
        var lines = [UInt8]()
        var rows = [UInt8]()
        JSONLinesFormat.append(fix, to: &lines)
        CSVFormat.append(fix, to: &rows)
        #expect(
            String(decoding: lines, as: UTF8.self).hasSuffix(
                #""quality":"gps","derivedSpeedMetersPerSecond":12.3457,"derivedHeadingDegrees":270.123}"# + "\n"))
        #expect(String(decoding: rows, as: UTF8.self).hasSuffix(",,,,,,,,gps,,12.3457,270.123\n"))
    }

    @Test(arguments: FixQuality.allCases)
    func writesTheRawValuesOfQualities(quality: FixQuality) {
        var bytes: [UInt8] = []
        JSONLinesFormat.append(
            Fix(timeOfFix: Self.bareFix.timeOfFix, latitude: 1, longitude: 1, quality: quality), to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self).contains("\"quality\":\"\(quality.rawValue)\""))
    }
}
