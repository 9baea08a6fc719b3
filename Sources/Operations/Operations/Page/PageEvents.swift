import Conditions

/// The log lines of the last hour, as the technician's page shows them.
///
/// The page contains the text of a failure only once. While a condition is active, its text is in the verdict. In the
/// events, titles stand for all conditions of the same stage, because a failure often has several codes one after
/// another. Afterwards, the newest event about a condition contains the condition's text.
struct PageEvents {
    /// The events, the newest first.
    let newestFirst: [RecentHistory.Line]

    /// The maximum time between the log lines of a condition with several causes.
    private static let groupingTime = Duration.seconds(1)

    /// Selects the texts of the events in `history` while conditions of the stages in `active` are active.
    init(_ history: RecentHistory, whileActive active: Set<ConditionCode.Stage>) {
        var explained: [ConditionCode: Duration] = [:]
        var events: [RecentHistory.Line] = []
        for line in history.lines.reversed() {
            guard let code = line.failure else {
                events.append(line)
                continue
            }
            if !active.contains(code.stage), (explained[code] ?? line.at) - line.at <= Self.groupingTime {
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
