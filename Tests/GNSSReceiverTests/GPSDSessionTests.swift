import GNSS
import ReportedText
import Reporting
import Testing
import TimeAndRandomness

@testable import GNSSReceiver

/// Returns a position report of `device` at the given second of a minute.
func positionReport(from device: String, second: Int, latitude: Double = 48, mode: Int = 3) -> String {
    let position = mode < 2 ? "" : #","lat":\#(latitude),"lon":11.5"#
    let time = #""2026-01-05T10:15:\#(second < 10 ? "0" : "")\#(second).000Z""#
    return #"{"class":"TPV","device":"\#(device)","mode":\#(mode),"time":\#(time)\#(position)}"#
}

@Suite struct GPSDSessions {
    private static let releaseDate = UTCTime(year: 2026, month: 1, day: 1)

    private var session = GPSDSession()
    private var fixes: [Fix] = []

    @discardableResult
    private mutating func receive(_ text: String, at now: Duration = .zero) throws -> Bool {
        let report = try #require(GPSDReport(Array(text.utf8)))
        var out: [Fix] = []
        let isProof = session.handle(report, at: now) { out.append($0) }
        fixes += out
        return isProof
    }

    private mutating func idle(at now: Duration) {
        var out: [Fix] = []
        session.handleIdleLine(at: now) { out.append($0) }
        fixes += out
    }

    @Test mutating func addTheHDOPAndErrorsOfTheReceiverToItsFixes() throws {
        try receive(#"{"class":"SKY","device":"/dev/b","hdop":7,"uSat":3}"#)
        try receive(#"{"class":"SKY","device":"/dev/a","hdop":0.8,"uSat":11}"#)
        try receive(#"{"class":"GST","device":"/dev/a","time":"2026-01-05T10:15:01.000Z","lat":3,"lon":4}"#)
        try receive(positionReport(from: "/dev/a", second: 1))
        try receive(#"{"class":"SKY","device":"/dev/b","hdop":7,"uSat":3}"#)
        try receive(positionReport(from: "/dev/a", second: 2))
        idle(at: .seconds(1))
        #expect(fixes.map(\.hdop) == [0.8, 0.8] && fixes.map(\.satellitesUsed) == [11, 11])
        #expect(fixes.map(\.horizontalAccuracyMeters) == [5, nil])
    }

    @Test mutating func reportTheSkyOfTheChosenReceiver() throws {
        func skyReport(from device: String, satellite number: Int) -> String {
            #"{"class":"SKY","device":"\#(device)","satellites":[{"PRN":\#(number),"used":true}]}"#
        }
        try receive(skyReport(from: "/dev/b", satellite: 2))
        #expect(
            session.takeSky() == Sky([Satellite(.gps, 2, isUsed: true)]), "before a fix, any receiver's sky is used")
        #expect(session.takeSky() == nil)
        try receive(positionReport(from: "/dev/a", second: 1))
        try receive(skyReport(from: "/dev/b", satellite: 2))
        #expect(session.takeSky() == nil)
        try receive(skyReport(from: "/dev/a", satellite: 3))
        try receive(#"{"class":"SKY","device":"/dev/a","hdop":0.8}"#)
        #expect(session.takeSky() == Sky([Satellite(.gps, 3, isUsed: true)]))
    }

    @Test mutating func useTheFirstReceiverWithAFix() throws {
        try receive(positionReport(from: "/dev/a", second: 1, mode: 1))
        for second in 1...3 {
            try receive(positionReport(from: "/dev/b", second: second, latitude: 1), at: .seconds(second))
            try receive(positionReport(from: "/dev/a", second: second, latitude: 2), at: .seconds(second))
        }
        #expect(fixes.map(\.latitude) == [1, 1, 1])
        // The receiver remains chosen for ten seconds without a fix.
        try receive(positionReport(from: "/dev/b", second: 4, mode: 1), at: .seconds(4))
        try receive(positionReport(from: "/dev/a", second: 12, latitude: 2), at: .seconds(12))
        #expect(fixes.count == 3)
        try receive(positionReport(from: "/dev/a", second: 13, latitude: 2), at: .seconds(13))
        try receive(positionReport(from: "/dev/b", second: 14, latitude: 1), at: .seconds(14))
        try receive(positionReport(from: "/dev/a", second: 14, latitude: 2), at: .seconds(14))
        #expect(fixes.map(\.latitude) == [1, 1, 1, 2, 2])
    }

    @Test mutating func useAnotherReceiverAtOnceWhenTheFirstIsRemoved() throws {
        try receive(positionReport(from: "/dev/a", second: 1, latitude: 1))
        try receive(#"{"class":"DEVICE","path":"/dev/a","activated":0}"#)
        #expect(session.obstacle == .deviceLost("/dev/a"))
        try receive(positionReport(from: "/dev/b", second: 2, latitude: 2), at: .seconds(1))
        idle(at: .seconds(2))
        #expect(fixes.map(\.latitude) == [1, 2])
        #expect(session.obstacle == nil)
    }

    @Test mutating func ignoreOtherReceiversIfOneIsConfigured() throws {
        session = GPSDSession(device: "/dev/a")
        #expect(try !receive(positionReport(from: "/dev/b", second: 1)))
        #expect(try !receive(#"{"class":"SKY","device":"/dev/b","hdop":7,"uSat":3}"#))
        #expect(try receive(positionReport(from: "/dev/a", second: 2, latitude: 2)))
        idle(at: .seconds(2))
        #expect(fixes.map(\.latitude) == [2])
    }

    @Test mutating func repairDatesLikeThoseOfSentences() throws {
        session = GPSDSession(dates: .repaired(reference: { Self.releaseDate }, earliest: Self.releaseDate))
        try receive(positionReport(from: "/dev/a", second: 1).replacing("2026-01-05", with: "2006-05-22"))
        idle(at: .seconds(1))
        #expect(fixes.map(\.timeOfFix.description) == ["2026-01-05T10:15:01.000Z"])
        #expect(session.takeWarning() == .weekRolloverRepaired)
        #expect(session.takeWarning() == nil)
        session = GPSDSession(dates: .repaired(reference: { Self.releaseDate }, earliest: Self.releaseDate))
        try receive(#"{"class":"DEVICES","devices":[{"path":"/dev/a","activated":1}]}"#)
        try receive(positionReport(from: "/dev/a", second: 1).replacing("2026-01-05", with: "2025-09-01"))
        #expect(session.takeWarning() == .dateTooEarly && session.obstacle == nil)
    }

    /// The position isn't used, and the operator learns why.
    @Test(
        arguments: [
            (#""mode":3"#, #""mode":3,"status":8"#, .simulatedOrManual),
            (#""mode":3"#, #""mode":3,"status":7"#, .simulatedOrManual),
            ("\"lat\":1", "\"lat\":0", .nullIsland), (#""mode":3"#, #""mode":3"#, nil),
        ] as [(String, String, ReceiverWarning?)])
    mutating func warnAboutAnUnusedPosition(part: String, replacement: String, warning: ReceiverWarning?) throws {
        let report = positionReport(from: "/dev/a", second: 1, latitude: 1)
        try #require(report.contains(part), "\(report)")
        var text = report.replacing(part, with: replacement)
        if warning == .nullIsland { text = text.replacing(/"lon":[0-9.]+/, with: "\"lon\":0") }
        try receive(text)
        idle(at: .seconds(2))
        #expect(session.takeWarning() == warning && fixes.isEmpty == (warning != nil))
    }

    static let obstacles: [(String?, [String], GPSDFault?)] = [
        (nil, [], nil),
        (nil, [#"{"class":"DEVICES","devices":[]}"#], .noDevice),
        (nil, [#"{"class":"DEVICES","devices":[{"path":"/dev/a","activated":1}]}"#], nil),
        (
            nil, [#"{"class":"DEVICES","devices":[{"path":"/dev/a"},{"path":"/dev/b"}]}"#],
            .deviceNotOpened(["/dev/a", "/dev/b"])
        ),
        (
            "/dev/a", [#"{"class":"DEVICES","devices":[{"path":"/dev/b","activated":1}]}"#],
            .unknownDevice("/dev/a", others: ["/dev/b"])
        ),
        (
            "/dev/a", [#"{"class":"DEVICES","devices":[]}"#],
            .unknownDevice("/dev/a", others: [])
        ),
        (
            "/dev/a", [#"{"class":"DEVICES","devices":[{"path":"/dev/a"},{"path":"/dev/b","activated":1}]}"#],
            .deviceNotOpened(["/dev/a"])
        ),
        (
            nil,
            [
                #"{"class":"DEVICES","devices":[]}"#, #"{"class":"DEVICE","path":"/dev/a","activated":1}"#,
                positionReport(from: "/dev/a", second: 1, mode: 1),
            ], nil
        ),
        (
            nil,
            [
                #"{"class":"DEVICES","devices":[{"path":"/dev/a","activated":1}]}"#,
                positionReport(from: "/dev/a", second: 1, mode: 1), positionReport(from: "/dev/a", second: 2),
                positionReport(from: "/dev/a", second: 3, mode: 1),
            ], nil
        ),
        (
            nil, [#"{"class":"ERROR","message":"Invalid\nWATCH"}"#],
            .requestRejected("Invalid WATCH")
        ),
    ]

    @Test(arguments: obstacles)
    mutating func reportTheObstacle(device: String?, reports: [String], obstacle: GPSDFault?) throws {
        session = GPSDSession(device: device)
        for report in reports { try receive(report) }
        #expect(session.obstacle == obstacle)
    }

    @Test mutating func keepABoundedNumberOfDevices() throws {
        for number in 0..<100 { try receive(#"{"class":"DEVICE","path":"/dev/\#(number)","activated":1}"#) }
        try receive(#"{"class":"DEVICE","path":"/dev/99","activated":0}"#)
        for number in 0..<GPSDReport.maximumDevices {
            try receive(#"{"class":"DEVICE","path":"/dev/\#(number)","activated":0}"#)
        }
        #expect(session.obstacle == .noDevice)
    }
}
