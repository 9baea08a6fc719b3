/// What was reported already, by topic: a new text is reported at once, the same one again only after a while. What
/// comes and goes is reported a few times, and then as it stands from time to time.
package struct RepetitionFilter: Sendable {
    /// How often a continuing trouble is reported again.
    package static let reminderInterval = Duration.seconds(600)

    private struct Topic {
        let words: String
        let toldAt: Duration
        var repetitions = 0
        /// Whether its end was reported.
        var isOver = false
    }

    /// So many ends and new beginnings of one topic are reported within `span`.
    private static let mostChanges = 6
    private static let span = Duration.seconds(600)

    private var told: [String: Topic] = [:]
    /// When the last of them were.
    private var changes: [String: [Duration]] = [:]

    package init() {}

    /// How often the same text came since the last report, if it is to be reported now; `nil` when it is not.
    ///
    /// Without an `interval` the same text is never reported twice in a row.
    package mutating func tell(
        _ words: String = "", of topic: String, again interval: Duration?, at now: Duration
    ) -> Int? {
        let before = told[topic].flatMap { $0.words == words ? $0 : nil }
        if let before {
            let isDue = before.isOver ? mayChange(topic, at: now) : interval.map { now - before.toldAt >= $0 } ?? false
            guard isDue else {
                told[topic]?.repetitions += 1
                return nil
            }
        }
        told[topic] = Topic(words: words, toldAt: now)
        return before?.repetitions ?? 0
    }

    /// A topic is over: whether that is to be reported now. One that comes and goes is over when it is asked again
    /// later.
    mutating func end(_ topic: String, at now: Duration) -> Bool {
        guard let before = told[topic], !before.isOver, mayChange(topic, at: now) else { return false }
        told[topic]?.isOver = true
        return true
    }

    /// Whether a change of `topic` may be reported now, which is then counted.
    mutating func mayChange(_ topic: String, at now: Duration) -> Bool {
        let recent = changes[topic, default: []].filter { now - $0 < Self.span }
        guard recent.count < Self.mostChanges else { return false }
        changes[topic] = recent + [now]
        return true
    }
}
