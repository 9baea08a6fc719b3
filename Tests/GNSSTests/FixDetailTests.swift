import GNSS
import Testing
import WaypostTestSupport

@Suite struct FixDetails {
    static let rmc = sentence("GPRMC,101530.00,A,5231.2,N,01324.2,E,,,050126,,,A")
    static let gga = sentence("GPGGA,101530.00,5231.2,N,01324.2,E,1,08,1.0,34.5,M,46.9,M,,")

    static func fix(adding bodies: String...) throws -> Fix {
        let fixes = Decoding.fixes(of: rmc + bodies.map { sentence($0) }.joined())
        try #require(fixes.count == 1)
        return fixes[0]
    }

    static let motions: [(String, Double?, Double?)] = [
        ("GPVTG,054.7,T,034.4,M,005.5,N,010.2,K", 5.5 * 1852 / 3600, 54.7),
        ("GPVTG,054.7,T,034.4,M,005.5,N,010.2,K,A", 5.5 * 1852 / 3600, 54.7),
        ("GPVTG,,T,,M,0.5,N,0.9,K,D", 0.5 * 1852 / 3600, nil), ("GPVTG,,,,,0.5,N,0.9,K,D", 0.5 * 1852 / 3600, nil),
        ("GPVTG,54.7,T,,M,,N,36.0,K,A", 10, 54.7), ("GPVTG,360.0,T,,M,1.0,N,,K,A", 1852.0 / 3600, 0),
        ("GPVTG,054.7,034.4,005.5,010.2", 5.5 * 1852 / 3600, 54.7), ("GPVTG,54.7,T,,M,5.5,N,10.2,K,N", nil, nil),
        ("GPVTG,,,,,,,,,N", nil, nil),
    ]

    @Test(arguments: motions)
    func includeSpeedAndHeadingFromVTG(body: String, speed: Double?, heading: Double?) throws {
        let fix = try Self.fix(adding: body)
        #expect(fix.speedMetersPerSecond == speed)
        #expect(fix.headingDegrees == heading)
    }

    static let accuracies: [([String], Double?)] = [
        ([], nil), (["GPGST,101530.00,5,,,,3.0,4.0,5.0"], 5), (["GPGBS,101530.00,3.0,4.0,5.0,,,,"], 5),
        (["PGRME,19.2,M,28.7,M,34.6,M"], 19.2),
        (["PQTMEPE,2,1.0,1.0,1.5,1.4,2.1"], 1.4), (["PSRFEPE,101530.00,A,0.7,6.82,10.69,0.0,180.0"], 6.82),
        (["PSRFEPE,101530.00,V,0.7,6.82,10.69,0.0,180.0"], nil), (["GPGST,101530.00,,,,,,,"], nil),
        (["GPGST,101530.00,0,,,,0.0,0.0,0.0"], nil),
        (["PGRME,19.2,M,28.7,M,34.6,M", "GPGBS,101530.00,3.0,4.0,5.0,,,,", "GPGST,101530.00,5,,,,6.0,8.0,5.0"], 10),
        (["GPGSA,A,3,01,02,03,04,,,,,,,,,1.7,2.0,1.3"], 9), (["GPGSA,A,3,01,02,03,04,,,,,,,,,1.7,99.99,1.3"], nil),
        (["GPGGA,101530.00,5231.2,N,01324.2,E,2,08,2.0,,,,,,"], 4.5),
        (["GPGGA,101530.00,5231.2,N,01324.2,E,4,08,1.0,,,,,,"], 0.5),
        (["GPGGA,101530.00,5231.2,N,01324.2,E,1,08,0.38,,,,,,"], 4),
        (["GPGGA,101530.00,5231.2,N,01324.2,E,2,08,0.9,,,,,,"], 3),
        (["GPGGA,101530.00,5231.2,N,01324.2,E,5,08,1.0,,,,,,"], 0.5),
        (["GPGGA,101530.00,5231.2,N,01324.2,E,1,08,0,,,,,,"], nil),
    ]

    @Test(arguments: accuracies)
    func stateTheAccuracyOfTheBestSentence(bodies: [String], meters: Double?) {
        let fixes = Decoding.fixes(of: Self.rmc + bodies.map { sentence($0) }.joined())
        #expect(fixes.count == 1)
        #expect(fixes.first?.horizontalAccuracyMeters == meters)
    }

    static let solutions: [(String, FixMode?, Double?)] = [
        ("GPGSA,A,2,01,02,03,,,,,,,,,,1.7,2.0,1.3", .twoDimensional, 2.0),
        ("GNGSA,A,3,01,02,03,04,,,,,,,,,1.7,1.0,1.3,1", .threeDimensional, 1.0),
        ("GNGSA,A,3,01,02,03,04,,,,,,,,,1.7,1.0,1.3,1.5", .threeDimensional, 1.0),
        ("GPGSA,A,1,,,,,,,,,,,,,99.99,99.99,99.99", nil, nil),
        ("GPGSA,A,3,01,02,03,04,,,,,,,,,,,,,,,,,,,,,1.7,1.2,1.3", .threeDimensional, 1.2),
        ("GPGSA,,,,,,,,,,,,,,,,,", nil, nil),
    ]

    @Test(arguments: solutions)
    func includeModeAndDilutionFromGSA(body: String, mode: FixMode?, hdop: Double?) throws {
        let fix = try Self.fix(adding: body)
        #expect(fix.mode == mode)
        #expect(fix.hdop == hdop)
    }

    static let qualities: [(String, FixQuality)] = [
        ("1", .gps), ("2", .dgps), ("3", .pps), ("4", .rtkFixed), ("5", .rtkFloat), ("6", .estimated),
    ]

    @Test(arguments: qualities)
    func nameTheQuality(letter: String, quality: FixQuality) throws {
        #expect(try Self.fix(adding: "GPGGA,101530.00,5231.2,N,01324.2,E,\(letter),08,1.0,,,,,,").quality == quality)
    }

    @Test func includeDeadReckoningThatGGACannotExpress() {
        let reckoned = sentence("GPRMC,101530.00,A,5231.2,N,01324.2,E,,,050126,,,E")
        #expect(Decoding.fixes(of: Self.gga + reckoned).map(\.quality) == [.estimated])
    }

    @Test func haveNoHeadingIfNoSentenceHasOne() throws {
        #expect(try Self.fix().headingDegrees == nil)
        #expect(try Self.fix().speedMetersPerSecond == nil)
    }
}
