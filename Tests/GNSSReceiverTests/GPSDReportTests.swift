import GNSS
import Testing
import TimeAndRandomness

@testable import GNSSReceiver

/// A complete position report of gpsd 3.22.
let fullReport =
    #"{"class":"TPV","device":"/dev/ttyS1","mode":3,"time":"2026-03-31T10:30:25.250Z","ept":0.005,"lat":53.548580333,"#
    + #""lon":-9.998961667,"altHAE":50.2000,"altMSL":10.6000,"alt":10.6000,"epx":8.224,"epy":19.266,"epv":29.900,"#
    + #""track":204.0500,"magtrack":207.1306,"magvar":3.1,"speed":13.947,"climb":-0.900,"geoidSep":39.600,"eph":24.5}"#

@Suite struct GPSDReports {
    private func parsedReport(in text: String) -> GPSDReport? { GPSDReport(Array(text.utf8)) }

    private func fix(in text: String) throws -> Fix? {
        guard case .position(_, _, let fix, _) = try #require(parsedReport(in: text)) else {
            Issue.record("not parsed as a position")
            return nil
        }
        return fix
    }

    @Test func containAllValuesOfTheFix() throws {
        var expected = Fix(
            timeOfFix: UTCTime(year: 2026, month: 3, day: 31, millisecondOfDay: 37_825_250), latitude: 53.548580333,
            longitude: -9.998961667)
        expected.mode = .threeDimensional
        expected.altitudeMeters = 10.6
        expected.geoidSeparationMeters = 50.2 - 10.6
        expected.speedMetersPerSecond = 13.947
        expected.headingDegrees = 204.05
        expected.horizontalAccuracyMeters = 24.5 * 1.52 / 2.45
        #expect(try fix(in: fullReport) == expected)
    }

    @Test(arguments: [
        (#""mode":3"#, #""mode":1"#), (#""mode":3"#, #""mode":0"#), (#""mode":3,"#, ""), (#""mode":3"#, #""mode":"3""#),
        (#""mode":3"#, #""mode":3,"status":8"#), (#""mode":3"#, #""mode":3,"status":7"#),
        (#""lat":53.548580333,"#, ""), (#""lon":-9.998961667"#, #""lon":-180.1"#), (#""lat":53.5"#, #""lat":93.5"#),
        (#""time":"2026-03-31T10:30:25.250Z","#, ""), ("10:30:25.250Z", "10:30:25.250"), ("03-31T", "02-31T"),
        (#""lat":53.548580333,"lon":-9.998961667"#, #""lat":0.0,"lon":0.000"#),
    ])
    func mayContainNoFix(where part: String, isReplacedBy other: String) throws {
        #expect(fullReport.contains(part))
        #expect(try fix(in: fullReport.replacing(part, with: other)) == nil)
    }

    @Test(arguments: [
        (nil, FixQuality.gps), (0, .gps), (1, .gps), (2, .dgps), (3, .rtkFixed), (4, .rtkFloat), (5, .estimated),
        (6, .gps), (9, .pps),
    ])
    func containTheQuality(status: Int?, quality: FixQuality) throws {
        let mode = status.map { #""mode":2,"status":\#($0)"# } ?? #""mode":2"#
        let fix = try #require(try fix(in: fullReport.replacing(#""mode":3"#, with: mode)))
        #expect(fix.quality == quality && fix.mode == .twoDimensional)
    }

    /// The name of the altitude depends on gpsd's version.
    @Test(arguments: [
        (#""altHAE":50.25,"altMSL":10.75"#, 10.75, 39.5), (#""altHAE":50.25,"geoidSep":39.5"#, 10.75, 39.5),
        (#""altMSL":10.75"#, 10.75, nil), (#""alt":10.75"#, 10.75, nil), (#""alt":10.75,"geoidSep":39.5"#, 10.75, 39.5),
        (#""alt":10.75,"altHAE":50.25"#, nil, nil), (#""altMSL":1e9"#, nil, nil),
    ])
    func containTheAltitude(members: String, altitude: Double?, separation: Double?) throws {
        let text = #"{"class":"TPV","mode":3,"time":"2026-03-31T10:30:25Z","lat":1,"lon":2,\#(members)}"#
        let fix = try #require(try fix(in: text))
        #expect(fix.altitudeMeters == altitude && fix.geoidSeparationMeters == separation)
    }

    @Test(arguments: [
        (#""eph":2.45"#, 1.52), (#""eph":2.45,"epx":9,"epy":9"#, 1.52), (#""epx":1.96,"epy":1.96"#, 1.52),
        (#""epx":9"#, nil), (#""eph":0"#, nil), (#""eph":-1"#, nil), (#""speed":0"#, nil),
    ])
    func convertErrorsFrom95To68Percent(members: String, radius: Double?) throws {
        let text = #"{"class":"TPV","mode":3,"time":"2026-03-31T10:30:25Z","lat":1,"lon":2,\#(members)}"#
        let fix = try #require(try fix(in: text))
        #expect((fix.horizontalAccuracyMeters.map { ($0 * 1e6).rounded() / 1e6 }) == radius)
    }

    @Test(arguments: [
        (#"{"class":"DEVICES","devices":[]}"#, GPSDReport.devices([:])),
        (
            #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/a","activated":"2026-11-21T16:30:10.387Z"},"#
                + #"{"class":"DEVICE","path":"/dev/b"},{"path":"/dev/c","activated":0},7]}"#,
            .devices(["/dev/a": true, "/dev/b": false, "/dev/c": false])
        ),
        (#"{"class":"DEVICE","path":"/dev/a","activated":0}"#, .device(path: "/dev/a", isOpen: false)),
        (#"{"class":"DEVICE","path":"/dev/a","activated":1269959537.20}"#, .device(path: "/dev/a", isOpen: true)),
        (
            #"{"class":"SKY","device":"/dev/a","hdop":0.92,"nSat":11,"uSat":9,"satellites":[]}"#,
            .sky(device: "/dev/a", hdop: 0.92, satellitesUsed: 9, Sky([]))
        ),
        (
            #"{"class":"SKY","hdop":99.99,"satellites":[{"PRN":2,"used":true},{"PRN":4,"used":false}]}"#,
            .sky(device: "", hdop: nil, satellitesUsed: 1, Sky([Satellite(.gps, 2, isUsed: true), Satellite(.gps, 4)]))
        ),
        (#"{"class":"SKY","device":"/dev/a","uSat":3}"#, .sky(device: "/dev/a", hdop: nil, satellitesUsed: 3)),
        (
            #"{"class":"SKY","device":"/dev/a","satellites":[{"PRN":5,"el":42.0,"az":360,"ss":39.6,"used":true,"#
                + #""gnssid":0,"svid":5},{"PRN":70,"el":-1.5,"az":20.0,"ss":0,"used":false,"gnssid":6,"svid":6},"#
                + #"{"PRN":131,"used":false,"gnssid":1,"svid":131},{"PRN":301,"ss":22,"used":true,"gnssid":2,"svid":1},"#
                + #"{"PRN":9,"gnssid":4,"svid":9},{"used":true},7,{"PRN":"x"},{"PRN":66,"el":91,"ss":-3,"used":true}]}"#,
            .sky(
                device: "/dev/a", hdop: nil, satellitesUsed: 4,
                Sky([
                    Satellite(.gps, 5, elevation: 42, azimuth: 0, signal: 40, isUsed: true),
                    Satellite(.glonass, 6, elevation: -2, azimuth: 20), Satellite(.sbas, 131),
                    Satellite(.galileo, 1, signal: 22, isUsed: true), Satellite(.glonass, 66, isUsed: true),
                ]))
        ),
        (
            #"{"class":"GST","device":"/dev/a","time":"2026-03-31T10:30:25.000Z","rms":1,"lat":3.0,"lon":4.0}"#,
            .errors(
                device: "/dev/a", time: UTCTime(year: 2026, month: 3, day: 31, millisecondOfDay: 37_825_000),
                radiusMeters: 5)
        ),
        (#"{"class":"ERROR","message":"Invalid"}"#, .rejection("Invalid")),
        (#"{"class":"AIS","device":"/dev/a","mmsi":1}"#, .other(device: "/dev/a")),
    ])
    func areParsed(text: String, report: GPSDReport) { #expect(parsedReport(in: text + "\r") == report) }

    @Test(arguments: [
        "", "{}", "[]", "{", #"{"class":"VERSION","release":"3.22"}"#, #"{"class":7}"#, #"{"class":"DEVICE"}"#,
        String(fullReport.dropLast(1)), "$GPRMC,,V,,,,,,,,,,N*53", #"{"class":"GST","device":"/dev/a"}"#,
    ])
    func areNotParsedFromOtherText(text: String) { #expect(parsedReport(in: text) == nil) }
}
