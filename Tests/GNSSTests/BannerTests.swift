import GNSS
import ReportedText
import Testing
import WaypostTestSupport

@Suite struct Banners {
    static func banners(in bodies: [String]) -> [String] {
        Decoding.outcome(of: Array(bodies.map { sentence($0) }.joined().utf8)).statistics.banners
            .map(\.description)
    }

    @Test(arguments: [
        ("GPTXT,01,01,02,u-blox ag - www.u-blox.com", "u-blox ag - www.u-blox.com"),
        ("GPTXT,01,01,02,ANTARIS ATR062x HW 80040001", "ANTARIS ATR062x HW 80040001"),
        ("GPTXT,01,01,02,HW  UBX-G50xx  00040005 ", "HW UBX-G50xx 00040005"),
        ("PMTK705,AXN_1.30,0145,Fastrax IT500,", "AXN_1.30, 0145, Fastrax IT500"),
        ("PSRFTXT,Version: GSW3.2.2", "Version: GSW3.2.2"),
        ("PGRMT,GPS 15L Software Ver. 2.50,,,", "GPS 15L Software Ver. 2.50"),
        ("PQTMVERNO,LC29HEANR11A02S,2022/06/08", "LC29HEANR11A02S, 2022/06/08"),
        ("PDTINFO,UM621-02,G1B1L1E1", "UM621-02, G1B1L1E1"),
    ])
    func nameTheReceiver(body: String, text: String) { #expect(Self.banners(in: [body, body]) == [text]) }

    @Test(arguments: [
        "GPTXT,01,01,02,ANTSTATUS=OK", "GPTXT,01,01,02,LIC 1EBF-BD07", "GNTXT,01,01,01,txbuf alloc",
        "GNTXT,01,01,02,0,00,10000,00,01,17,01", "PMTK001,604,1", "GPTXT,01", "GPTXT", "PGRMT", "PASHR,RID,90",
    ])
    func doNotIncludeOtherTexts(body: String) { #expect(Self.banners(in: [body]).isEmpty) }

    @Test func areLimitedInNumberAndLength() {
        let banners = Self.banners(
            in: (0..<1000).map { "GPTXT,01,01,02,Version \($0) " + String(repeating: "x", count: 150) })
        #expect(banners.count == 8)
        #expect(banners.allSatisfy { $0.utf8.count <= 80 })
    }
}

@Suite struct SentenceAddresses {
    @Test(
        arguments: [
            ("GPRMC", "GP", "GPS"), ("GNGGA", "GN", "several constellations"),
            ("PQGSV", "PQ", "Quectel's BeiDou and QZSS"),
            ("PUBX", nil, nil), ("PGRME", nil, nil), ("LOG108", nil, nil), ("XXRMC", "XX", nil), ("", nil, nil),
        ] as [(String, String?, String?)])
    func nameTheTalker(address: String, talker: String?, meaning: String?) {
        #expect(Talker.code(ofAddress: address) == talker)
        #expect(talker.flatMap(Talker.meaning) == meaning)
    }

    @Test(arguments: [("PUBX", "u-blox"), ("PMTK705", "MediaTek"), ("PGRMZ", "Garmin"), ("PXYZ", nil), ("GPRMC", nil)])
    func nameTheMaker(address: String, maker: String?) { #expect(ReceiverMaker.name(ofAddress: address) == maker) }
}
