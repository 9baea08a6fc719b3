/// What was told already, by topic: new words are told at once, the same ones again only after a while.
struct ToldTopics: Sendable {
    private var told: [String: (words: String, at: Duration, repetitions: Int)] = [:]

    /// How often the same came since it was told last, if it is to be told now; `nil` when it is not.
    ///
    /// Without an `interval` the same words are never told twice in a row.
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

    /// Forgets a topic that is over; whether it had been told.
    mutating func end(_ topic: String) -> Bool { told.removeValue(forKey: topic) != nil }
}
