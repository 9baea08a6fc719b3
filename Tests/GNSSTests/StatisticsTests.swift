import GNSS
import Testing
import WaypostTestSupport

@Suite struct Statistics {
    static let warnings: [(String, ReceiverWarning)] = [
        ("GPDTM,P90,,0.001,N,0.0,E,0.0,W84", .foreignDatum), ("GPDTM,P90,,,,,,,W84", .foreignDatum),
        ("GPDTM,999,,0.1,N,0.0,E,0.0,W84", .foreignDatum),
        ("GNTXT,01,01,01,ANTSTATUS=OPEN", .antennaOpen), ("GPTXT,01,01,02,antenna short", .antennaShort),
        ("GNTXT,01,01,01,txbuf alloc", .transmitBufferFull),
        ("GPGGA,101530.00,5231.2,N,01324.2,E,8,08,1.0,,,,,,", .simulatedOrManual),
        ("GPRMC,101530.00,A,0000.0,N,00000.0,E,,,050126,,,A", .nullIsland),
    ]

    @Test(arguments: warnings)
    func countWarnings(body: String, warning: ReceiverWarning) {
        let statistics = Decoding.outcome(of: Array((Decoding.dateSentence() + sentence(body)).utf8)).statistics
        for other in ReceiverWarning.allCases {
            #expect(statistics.warnings(other).count == (other == warning ? 1 : 0))
        }
    }

    @Test(arguments: [
        "GPDTM,W84,,0.0,N,0.0,E,0.0,W84", "GPTXT,01,01,02,u-blox ag - www.u-blox.com", "GPTXT,01,01,02,ANTSTATUS=OK",
    ])
    func countNoWarningForHarmlessNotices(body: String) {
        let statistics = Decoding.outcome(of: Array(sentence(body).utf8)).statistics
        #expect(ReceiverWarning.allCases.allSatisfy { statistics.warnings($0).count == 0 })
    }

    @Test func recogniseUTF16() {
        for start in [[0xFF, 0xFE, 0x24, 0], [0xFE, 0xFF, 0, 0x24], [0x24, 0, 0x47, 0]] as [[UInt8]] {
            #expect(Decoding.outcome(of: start).statistics.warnings(.utf16Text).count == 1)
        }
        #expect(Decoding.outcome(of: Array("$GPRMC".utf8)).statistics.warnings(.utf16Text).count == 0)
    }

    @Test func countSentencesByAddress() {
        let text = FixDetails.gga + FixDetails.rmc + FixDetails.gga + sentence("PSTMANTENNASTATUS,0")
        let statistics = Decoding.outcome(of: Array(text.utf8)).statistics
        #expect(statistics.sentencesByAddress.map(\.address) == ["GPGGA", "GPRMC", "PSTMANTE"])
        #expect(statistics.sentencesByAddress.map(\.count) == [2, 1, 1])
        #expect(statistics.sentences == 4)
        #expect(statistics.lines == 4)
        #expect(statistics.bytes == text.utf8.count)
        #expect(statistics.epochs.all == 1)
        #expect(statistics.epochs.fixes == 1)
    }

    @Test func countAnyNumberOfAddresses() {
        let text = (0..<2000).map { sentence("X\($0),1") }.joined()
        #expect(Decoding.outcome(of: Array(text.utf8)).statistics.sentences == 2000)
    }

    /// Sentences that contain a position are also counted if the table of addresses is full.
    @Test func countSentencesThatContainAPosition() {
        let others = (0..<2000).map { sentence("X\($0),1") }.joined()
        let positions = ["GP", "GN", "GL", "GA", "GB", "II"].map { sentence("\($0)GGA,,,,,,0,,,,,,,,") }.joined()
        let emptyPosition = sentence("GPRMC,,V,,,,,,,,,,N")
        let withoutPosition = sentence("GPGSA,A,1,,,,,,,,,,,,,,,") + sentence("AIVDM,1,1,,A,15M,0", start: "!")
        let text = others + positions + emptyPosition + withoutPosition
        #expect(Decoding.outcome(of: Array(text.utf8)).statistics.positionSentences == 7)
    }
}
