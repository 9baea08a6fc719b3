import ReportedText
import Testing

@Suite struct Counted {
    @Test(
        arguments: [
            (0, "0 lines", "0 fixes"), (1, "1 line", "1 fix"), (2, "2 lines", "2 fixes"),
            (999, "999 lines", "999 fixes"),
            (1000, "1,000 lines", "1,000 fixes"), (12_345, "12,345 lines", "12,345 fixes"),
            (1_234_567, "1,234,567 lines", "1,234,567 fixes"),
        ])
    func hasSingularAndPlural(number: Int, lines: String, fixes: String) {
        #expect(number.counted("line") == lines)
        #expect(Int64(number).counted("fix", plural: "fixes") == fixes)
    }

    @Test(
        arguments: [
            (-1, "-1"), (-123, "-123"), (-1234, "-1,234"), (.max, "9,223,372,036,854,775,807"),
            (.min, "-9,223,372,036,854,775,808"),
        ] as [(Int64, String)])
    func groupsThousands(number: Int64, text: String) { #expect(number.grouped == text) }
}
