import ReportedText
import Testing

@Suite struct HumanReadable {
    @Test(
        arguments: [
            (0, "0 s"), (119, "119 s"), (120, "2 min"), (-3599, "60 min"), (3600, "60 min"), (3569, "59 min"),
            (7169, "119 min"), (7170, "2 h"), (7200, "2 h"), (170_999, "47 h"), (171_000, "2 days"),
            (172_800, "2 days"),
            (63_071_999, "730 days"), (63_072_000, "2 years"), (1_767_225_600, "56 years"),
            (.min, "292277024627 years"),
        ] as [(Int, String)])
    func roundsToOneUnit(seconds: Int, text: String) { #expect(Duration.seconds(seconds).humanReadable == text) }
}
