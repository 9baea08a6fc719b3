import Conditions

/// The log lines of the last hour, as the technician's page shows them.
///
/// The page contains the text of a failure only once. While a condition is active, its text is in the verdict.
/// Afterwards, its text is in the newest event about it. In all other events, its title stands for it.
struct PageEvents {
    /// The events, the newest first.
    let newestFirst: [RecentHistory.Line]

    /// The maximum time between the log lines of a condition with several causes.
    private static let groupingTime = Duration.seconds(1)

    /// Selects the texts of the events in `history` while conditions with the codes in `active` are active.
    init(_ history: RecentHistory, whileActive active: Set<ConditionCode>) {
        var explained: [ConditionCode: Duration] = [:]
        var events: [RecentHistory.Line] = []
        for line in history.lines.reversed() {
            guard let code = line.failure else {
                events.append(line)
                continue
            }
            if !active.contains(code), (explained[code] ?? line.at) - line.at <= Self.groupingTime {
                explained[code] = line.at
                events.append(line)
                continue
            }
            if let last = events.last, last.failure == code, last.at - line.at <= Self.groupingTime { continue }
            var event = line
            event.text = code.title
            events.append(event)
        }
        newestFirst = events
    }
}
