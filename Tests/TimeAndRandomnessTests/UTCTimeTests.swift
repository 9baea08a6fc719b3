import Testing
import TimeAndRandomness

@Suite struct UTCTimes {
    @Test(arguments: [
        ("2026-03-31T10:30:23.000Z", "2026-03-31T10:30:23.000Z"), ("2026-03-31T10:30:23Z", "2026-03-31T10:30:23.000Z"),
        ("2026-03-31T10:30:23.1Z", "2026-03-31T10:30:23.100Z"),
        ("2026-03-31T10:30:23.12345Z", "2026-03-31T10:30:23.123Z"),
        ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"), ("2016-12-31T23:59:60.500Z", "2016-12-31T23:59:59.999Z"),
        ("2023-02-29T00:00:00Z", nil), ("2026-03-31T24:00:00Z", nil), ("2026-03-31 10:30:23Z", nil),
        ("2026-03-31", nil),
        ("", nil), ("2026-03-31T10:30:2Z", nil), ("2026-03-31T10:30:23.Z", nil), ("2026-03-31T10:30:23.x00Z", nil),
        ("2026-03-31T10:30:23+00:00", "2026-03-31T10:30:23.000Z"), ("2026-03-31T10:30:233Z", nil),
        ("-026-03-31T10:30:23.000Z", nil), ("2026-03-31T10:30:23ZZ", nil),
    ])
    func areParsedFromRFC3339(text: String, time: String?) { #expect(UTCTime(rfc3339: text)?.description == time) }

    @Test(arguments: [
        ("2026-03-31T10:30:23Z", "2026-03-31T10:30:23Z"), ("2026-03-31T10:30:23.100Z", "2026-03-31T10:30:23.100Z"),
        ("2026-03-31T10:30:20.001Z", "2026-03-31T10:30:20.001Z"), ("1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00Z"),
    ])
    func omitAZeroFraction(text: String, shortest: String) {
        #expect(UTCTime(rfc3339: text)?.shortestDescription == shortest)
    }

    /// No addition, from any time and of any length, yields a time outside the calendar.
    @Test(
        arguments: [
            (0, 1, "1970-01-01T00:00:01.000Z"), (0, -62_167_219_200, "0000-01-01T00:00:00.000Z"),
            (0, .max, "9999-12-31T23:59:59.999Z"), (0, .min, "0000-01-01T00:00:00.000Z"),
            (.max, 1, "9999-12-31T23:59:59.999Z"), (.min, -1, "0000-01-01T00:00:00.000Z"),
            (.max, .min, "0000-01-01T00:00:00.000Z"), (.min, .max, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, Int64, String)])
    func stayWithinTheCalendar(milliseconds: Int64, seconds: Int64, text: String) {
        let time = UTCTime(millisecondsSince1970: milliseconds).advanced(by: .seconds(seconds))
        #expect(time.description == text)
    }

    /// Counts every day of 400 years, and no others.
    @Test func followTheCalendar() {
        var time = UTCTime(year: 1970, month: 1, day: 1)
        var wrong: [UTCTime] = []
        for year in 1970..<2370 {
            for month in 1...12 {
                for day in 0...32 {
                    let exists = UTCTime.hasDay(day, ofMonth: month, in: year)
                    let date = time.civilDate
                    if exists != (date == (year, month, day)) { wrong.append(time) }
                    guard exists else { continue }
                    if time != UTCTime(year: year, month: month, day: day) { wrong.append(time) }
                    time.millisecondsSince1970 += UTCTime.millisecondsPerDay
                }
            }
        }
        #expect(wrong.isEmpty)
        #expect(time.daysSince1970 == 146_097)
    }
}
