/// ZDA and PUBX,04: a time of day with its date, valid or not; whether there is a fix others say.
struct DateSentence: Hashable {
    let timeOfDay: TimeOfDay
    /// Days since 1970-01-01.
    let date: Int32

    /// A date that stands beside a time in another sentence.
    init(timeOfDay: TimeOfDay, date: Int32) { (self.timeOfDay, self.date) = (timeOfDay, date) }

    /// ZDA: time, day, month, year; the zone fields do not change that the time is UTC.
    init?(zda fields: inout FieldCursor) {
        guard let timeOfDay = fields.timeOfDay(),
            let day = fields.number(in: 1...31), let month = fields.number(in: 1...12),
            let year = fields.number(in: 1980...2999),
            let date = FieldCursor.days(year: Int(year), month: Int(month), day: Int(day))
        else { return nil }
        (self.timeOfDay, self.date) = (timeOfDay, date)
    }

    /// PUBX,04: time and `ddmmyy`.
    init?(pubx04 fields: inout FieldCursor) {
        guard let timeOfDay = fields.timeOfDay(), let date = fields.date() else { return nil }
        (self.timeOfDay, self.date) = (timeOfDay, date)
    }
}
