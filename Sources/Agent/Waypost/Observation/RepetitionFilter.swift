/// What was reported already, by topic: a new text is reported at once, the same one again only after a while.
struct RepetitionFilter: Sendable {
    private var told: [String: (words: String, at: Duration, repetitions: Int)] = [:]

    /// How often the same text came since the last report, if it is to be reported now; `nil` when it is not.
    ///
    /// Without an `interval` the same text is never reported twice in a row.
    mutating func tell(
        _ words: String = "", of topic: String, again interval: Duration?, at now: Duration
    ) -> Int? {
        let before = told[topic].flatMap { $0.words == words ? $0 : nil }
        if let before, interval.map({ now - before.at < $0 }) ?? true {
            told[topic]?.repetitions += 1
            return nil
        }
        told[topic] = (words, now, 0)
        return before?.repetitions ?? 0
    }

    /// Forgets a topic that is over; whether it had been reported.
    mutating func end(_ topic: String) -> Bool { told.removeValue(forKey: topic) != nil }
}
