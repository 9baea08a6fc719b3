import GNSS
import Testing
import WaypostTestSupport

@Suite struct BodyHeadings {
    /// The bodies of sentences, and the headings that they state.
    static let sentences: [(String, Double?)] = [
        ("GNHDT,271.5,T", 271.5), ("GPHDT,360.0,T", 0), ("HEHDT,0.0,T", 0), ("GPHDT,15.25", 15.25), ("GPHDT,,T", nil),
        ("GNTHS,271.5,A", 271.5), ("GNTHS,12.0,E", 12), ("GNTHS,12.0,V", nil), ("GNTHS,12.0,S", nil),
        ("GNTHS,12.0,M", nil), ("GNTHS,,V", nil),
    ]

    @Test(arguments: sentences)
    func areSeparateFromTheCourse(body: String, heading: Double?) {
        let fixes = Decoding.fixes(of: sentence(body) + FixDetails.rmc + FixDetails.gga)
        #expect(fixes.map(\.bodyHeadingDegrees) == [heading])
        #expect(fixes.map(\.headingDegrees) == [nil])
    }

    @Test(arguments: [
        ("GNHDT,360.1,T", SentenceRejection.outOfRange), ("GNHDT,-1.0,T", .outOfRange),
        ("GNHDT,12x,T", .malformedField),
        ("GNHDT,12.0,M", .malformedField), ("GNTHS,400,A", .outOfRange), ("GNTHS,12.0,Q", .malformedField),
    ])
    func areRejectedIfMalformedOrOutOfRange(body: String, reason: SentenceRejection) {
        let outcome = Decoding.outcome(of: Array((sentence(body) + FixDetails.rmc).utf8))
        #expect(outcome.fixes.map(\.bodyHeadingDegrees) == [nil])
        #expect(outcome.statistics.rejections(reason).count == 1)
    }

    /// A compass sends ten times per second, independently of the receiver.
    @Test func neverDelayAnEpoch() {
        var decoder = NMEADecoder()
        var headings: [Double?] = []
        for tick in 0..<20 {
            let text =
                Epochs.sentence("RMC", tick: tick, milliseconds: 1000)
                + Epochs.sentence("GGA", tick: tick, milliseconds: 1000)
            let before = headings.count
            decoder.decode(Array(text.utf8).span, receivedAt: .zero) { headings.append($0.bodyHeadingDegrees) }
            if tick > 3 { #expect(headings.count == before + 1) }
            for tenth in 0..<10 {
                let compass = sentence("HEHDT,\(tick).\(tenth),T")
                decoder.decode(Array(compass.utf8).span, receivedAt: .zero) { headings.append($0.bodyHeadingDegrees) }
            }
        }
        #expect(headings.count == 20)
        #expect(headings.last == 18.9)
    }

    @Test func areUsedForOneEpochOnly() {
        let compass = sentence("GNHDT,90.0,T")
        let first = Epochs.sentence("RMC", tick: 0, milliseconds: 1000)
        let second = Epochs.sentence("RMC", tick: 1, milliseconds: 1000)
        #expect(Decoding.fixes(of: first + compass + second).map(\.bodyHeadingDegrees) == [90, nil])
    }
}
