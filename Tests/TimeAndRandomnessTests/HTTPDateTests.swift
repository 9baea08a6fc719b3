import Testing
import TimeAndRandomness

@Suite struct HTTPDates {
    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_767_608_130, "Mon, 05 Jan 2026 10:15:30 GMT"),
            (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
        ] as [(Int64, String)])
    func areParsedAndFormatted(seconds: Int64, text: String) {
        #expect(UTCTime(millisecondsSince1970: seconds * 1000).httpDate == text)
        #expect(UTCTime(httpDate: text)?.millisecondsSince1970 == seconds * 1000)
    }

    @Test(arguments: ["Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func areParsedInTheObsoleteForms(text: String) { #expect(UTCTime(httpDate: text)?.secondsSince1970 == 784_111_777) }

    @Test(arguments: [
        "", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "7",
    ])
    func areRejected(text: String) { #expect(UTCTime(httpDate: text) == nil) }
}
