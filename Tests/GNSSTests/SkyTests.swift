import GNSS
import Testing
import WaypostTestSupport

@Suite struct Skies {
    /// Returns one line per satellite: system, number, elevation/azimuth, C/N0, and `*` if it is used.
    private static func lines(of sky: Sky?) -> [String]? {
        sky?.satellites.map { satellite in
            func text(_ value: Int?) -> String { value.map(String.init) ?? "-" }
            return "\(satellite.id.system.rawValue) \(satellite.id.number) \(text(satellite.elevationDegrees))/"
                + "\(text(satellite.azimuthDegrees)) \(text(satellite.signalDecibelHertz))"
                + "\(satellite.isUsed ? " *" : "")"
        }
    }

    /// Returns the sky that `sentences` report, one line per satellite; `nil` if they contain no complete report.
    private static func skyLines(in sentences: [String]) -> [String]? {
        var decoder = NMEADecoder(options: NMEADecoderOptions(readsSky: true))
        decoder.decode(Array(sentences.map { sentence($0) }.joined().utf8).span, receivedAt: .zero) { _ in }
        return lines(of: decoder.takeSky(at: .zero))
    }

    @Test(arguments: [
        (["GPGSV,1,1,02,01,40,083,46,02,17,308,"], ["GPS 1 40/83 46", "GPS 2 17/308 -"]),
        // Several parts; more than four satellites in one sentence; nine parts.
        (["GPGSV,2,1,05,01,40,083,46", "GPGSV,2,2,05,12,07,360,39"], ["GPS 1 40/83 46", "GPS 12 7/0 39"]),
        (
            ["GPGSV,1,1,05,01,1,1,1,02,2,2,2,03,3,3,3,04,4,4,4,05,5,5,5"],
            ["GPS 1 1/1 1", "GPS 2 2/2 2", "GPS 3 3/3 3", "GPS 4 4/4 4", "GPS 5 5/5 5"]
        ),
        ((1...9).map { "GPGSV,9,\($0),09,0\($0),10,020,30" }, (1...9).map { "GPS \($0) 10/20 30" }),
        // NMEA 4.10: a signal after the satellites, one group per signal; the stronger signal is used.
        (
            ["GAGSV,1,1,02,05,60,120,40,24,68,279,37,7", "GAGSV,1,1,02,05,,,44,31,48,156,,2"],
            ["Galileo 5 60/120 44", "Galileo 24 68/279 37", "Galileo 31 48/156 -"]
        ),
        // A signal in the last part only, as the Quectel LC79D sends it.
        (["GPGSV,2,1,02,06,12,215,45", "GPGSV,2,2,02,06,,,40,8"], ["GPS 6 12/215 45"]),
        (["PQGSV,1,1,01,03,10,020,30,1,5"], ["QZSS 3 10/20 30"]),
        // Older receivers list other systems under GPS.
        (
            ["GPGSV,1,1,04,46,31,150,,70,76,297,23,193,50,100,40,03,3,3,3"],
            ["GPS 3 3/3 3", "GLONASS 70 76/297 23", "QZSS 193 50/100 40", "SBAS 46 31/150 -"]
        ),
        (["GNGSV,1,1,02,03,3,3,3,71,4,4,4"], ["GPS 3 3/3 3", "GLONASS 71 4/4 4"]),
        (["BDGSV,1,1,01,219,,,47", "GIGSV,1,1,01,02,3,4,5"], ["BeiDou 219 -/- 47", "NavIC 2 3/4 5"]),
        // No satellites in view; empty fields; invalid angles and signals.
        (["GPGSV,1,1,00"], []), (["GPGSV,1,1,00,1"], []),
        (["GPGSV,1,1,01,,,,,05,,,,00,00,000,00,,,,"], ["GPS 5 -/- -"]),
        (["GPGSV,1,1,02,05,91,361,100,06,-3,x,00"], ["GPS 5 -/- -", "GPS 6 -3/- -"]),
        // The same number twice in a group.
        (["GLGSV,1,1,02,70,10,020,,70,11,021,33"], ["GLONASS 70 10/20 33"]),
        // Used satellites, whose system follows from GSA, the talker or the number.
        (
            ["GPGSV,1,1,01,05,10,020,30", "GNGSA,A,3,05,,,,,,,,,,,,1.7,1.0,1.3,1"], ["GPS 5 10/20 30 *"]
        ),
        (["GNGSA,A,3,05,,,,,,,,,,,,1.7,1.0,1.3,3"], ["Galileo 5 -/- - *"]),
        (["GPGSA,A,3,05,,,,,,,,,,,,1.7,1.0,1.3,1.2"], ["GPS 5 -/- - *"]),
        (["GNGSA,A,3,05,70,,,,,,,,,,,1.7,1.0,1.3"], ["GPS 5 -/- - *", "GLONASS 70 -/- - *"]),
        (
            ["GPGSA,A,3,01,,,,,,,,,,,,,,,,,,,,,,,24,1.7,1.0,1.3"], ["GPS 1 -/- - *", "GPS 24 -/- - *"]
        ),
    ])
    func areReadFromCompleteGroups(sentences: [String], lines: [String]) {
        #expect(Self.skyLines(in: sentences) == lines)
    }

    /// A group with a missing or faulty part is dropped.
    @Test(arguments: [
        ["GPGSV,2,2,05,12,07,344,39"], ["GPGSV,2,1,05,12,07,344,39"], ["GPGSV,3,1,9,01,1,1,1", "GPGSV,3,3,9,02,2,2,2"],
        ["GPGSV,2,1,05,01,1,1,1", "GLGSV,2,2,05,71,2,2,2"], ["GPGSV,2,1,05,01,1,1,1", "GPGSV,3,2,05,71,2,2,2"],
        ["GPGSV,2,1,05,1x,1,1,1", "GPGSV,2,2,05,02,2,2,2"], ["GPGSV,1,1,01,-4,1,1,1"], ["GPGSV,1,1,01,1000,1,1,1"],
        ["GPGSV,1,2,01,01,1,1,1"], ["GPGSV,0,0,00"], ["GPGSV,,,"], ["GPGSV"], ["GPGSV,1"], ["GPGSV,1,1,01,01,1,1"],
        ["GPGSV,99,1,01,01,1,1,1"], ["GPGSV,x,1,01,01,1,1,1"], ["PGSV,1,1,01,01,1,1,1"], ["GPRMC,,V,,,,,,,,,,N"],
    ])
    func areNotReadFromIncompleteGroups(sentences: [String]) { #expect(Self.skyLines(in: sentences) == nil) }

    @Test func startOverWithTheFirstPart() {
        let parts = ["GPGSV,2,1,02,01,1,1,1", "GPGSV,2,1,02,03,1,1,1", "GPGSV,2,2,02,02,2,2,2"]
        #expect(Self.skyLines(in: parts) == ["GPS 2 2/2 2", "GPS 3 1/1 1"])
    }

    @Test func keepGroupsOfEachKindForThirtySeconds() {
        var decoder = NMEADecoder(options: NMEADecoderOptions(readsSky: true))
        func decode(_ body: String, at second: Int) {
            decoder.decode(Array(sentence(body).utf8).span, receivedAt: .seconds(second)) { _ in }
        }
        decode("GPGSV,1,1,01,01,1,1,40", at: 0)
        decode("GLGSV,1,1,01,70,2,2,30", at: 0)
        #expect(Self.lines(of: decoder.takeSky(at: .zero))?.count == 2)
        #expect(decoder.takeSky(at: .seconds(1)) == nil, "nothing new")
        // The next group of a kind replaces the previous one.
        decode("GPGSV,1,1,01,02,1,1,41", at: 5)
        #expect(Self.lines(of: decoder.takeSky(at: .seconds(5))) == ["GPS 2 1/1 41", "GLONASS 70 2/2 30"])
        decode("GPGSV,1,1,00", at: 31)
        #expect(Self.lines(of: decoder.takeSky(at: .seconds(31))) == [])
    }

    /// Several GSA sentences belong to one epoch; the GSA sentences of the next epoch replace all of them.
    @Test func listTheSatellitesOfTheLastEpoch() {
        var decoder = NMEADecoder(options: NMEADecoderOptions(readsSky: true))
        func used() -> [Int]? {
            decoder.takeSky(at: .zero)?.satellites.filter(\.isUsed).map(\.id.number)
        }
        func decode(_ bodies: String...) {
            let text = bodies.map { sentence($0) }.joined()
            decoder.decode(Array(text.utf8).span, receivedAt: .zero) { _ in }
        }
        func rmc(_ second: Int) -> String {
            "GPRMC,10150\(second).00,A,4810.5000,N,01131.2000,E,0.1,,050126,,,A"
        }
        decode(rmc(1), "GNGSA,A,3,01,02,,,,,,,,,,,1.7,1.0,1.3,1", "GNGSA,A,3,70,,,,,,,,,,,,1.7,1.0,1.3,2")
        #expect(used() == [1, 2, 70])
        decode(rmc(2), "GNGSA,A,3,02,,,,,,,,,,,,1.7,1.0,1.3,1")
        #expect(used() == [1, 2, 70], "the rest may still come")
        decode("GNGSA,A,3,,,,,,,,,,,,,1.7,1.0,1.3,2", rmc(3), "GNGSA,A,3,02,,,,,,,,,,,,1.7,1.0,1.3,1")
        #expect(used() == [2])
    }

    @Test func areLimitedTo256Satellites() throws {
        var text = ""
        for signal in 0..<8 {
            for part in 1...16 {
                let satellites = (0..<8).map { ",\(part * 40 + $0 * 7 + signal),1,1,40" }.joined()
                text += sentence("GAGSV,16,\(part),99\(satellites),\(signal)")
            }
        }
        var decoder = NMEADecoder(options: NMEADecoderOptions(readsSky: true))
        decoder.decode(Array(text.utf8).span, receivedAt: .zero) { _ in }
        let galileo = try #require(decoder.takeSky(at: .zero)?.satellites)
        #expect(galileo.count == 256)
        // Satellites of a system that comes earlier take the places of the last ones.
        let gps = sentence("GPGSV,1,1,02,01,1,1,40,02,1,1,40")
        decoder.decode(Array(gps.utf8).span, receivedAt: .zero) { _ in }
        let both = try #require(decoder.takeSky(at: .zero)?.satellites)
        #expect(both.map(\.id) == [Satellite.ID(.gps, 1), Satellite.ID(.gps, 2)] + galileo.prefix(254).map(\.id))
    }

    @Test func areReadOnlyIfRequested() {
        var decoder = NMEADecoder()
        decoder.decode(Array(sentence("GPGSV,1,1,01,01,1,1,40").utf8).span, receivedAt: .zero) { _ in }
        #expect(decoder.takeSky(at: .zero) == nil)
    }

    /// Satellites in view and used at the end of logs of seven makers' receivers, counted by another reader.
    @Test(
        .enabled(if: Fixtures.recordedReceivers != nil),
        arguments: [
            ("ublox-8.log", "GPS 13/8 GLONASS 9/5 SBAS 3/0"),
            ("unicore-um621.log", "GPS 10/9 GLONASS 8/5 Galileo 9/4 BeiDou 14/8 SBAS 3/0"),
            ("st-teseo-liv4f.log", "GPS 9/4 Galileo 5/3 BeiDou 12/9"),
            ("quectelLC79D.log", "GPS 8/6 GLONASS 6/5 Galileo 2/0 BeiDou 1/0 QZSS 1/0"),
            ("furuno_gl_ga.log", "GLONASS 10/6 Galileo 7/5 SBAS 1/0"), ("beidou-bd.log", "GPS 20/4 BeiDou 12/3"),
            ("garmin25lp.log", "GPS 9/3"),
        ])
    func areReadFromRecordedReceivers(log: String, satellites: String) throws {
        var decoder = NMEADecoder(options: NMEADecoderOptions(readsSky: true))
        let bytes = try RecordedReceivers.bytes(of: log)
        decoder.decode(bytes.span, receivedAt: .zero) { _ in }
        let last = decoder.takeSky(at: .zero)
        let sky = try #require(last)
        let bySystem = SatelliteSystem.allCases.compactMap { system -> String? in
            let all = sky.satellites.filter { $0.id.system == system }
            return all.isEmpty ? nil : "\(system.rawValue) \(all.count)/\(all.count(where: \.isUsed))"
        }
        #expect(bySystem.joined(separator: " ") == satellites)
    }

    /// Fixes don't depend on whether the sky is read.
    @Test(.enabled(if: Fixtures.recordedReceivers != nil), arguments: RecordedReceivers.logs)
    func doNotAffectFixes(log: String) throws {
        let bytes = try RecordedReceivers.bytes(of: log)
        #expect(Decoding.fixes(of: bytes, options: NMEADecoderOptions(readsSky: true)) == Decoding.fixes(of: bytes))
    }
}
