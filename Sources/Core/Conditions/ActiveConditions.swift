package import ReportedText

/// The active conditions, and the lines to log about them.
///
/// Each topic has at most one active condition. A new condition replaces the previous one on its topic, but keeps the
/// start time of the replaced condition. A condition is logged when it becomes visible and when its code or facts
/// change. If it occurs again after ten minutes, it is logged again, with the number of repetitions. Its end is logged
/// only if its start was. The same condition is logged at most once in ten minutes, even if it ends and starts again.
package struct ActiveConditions: Sendable {
    /// The subject of a condition. Conditions on the same topic replace each other.
    package enum Topic: Sendable, Hashable {
        /// The connection to the receiver.
        case receiver
        case rejections
        /// The time since the last fix.
        case timeWithoutFix
        /// Storing updates in the outbox. While a condition is active on this topic, updates are sent from memory only.
        case storing
        /// Reading from the outbox.
        case reading
        case renewal
        case delivery
        /// The time since the last delivery.
        case timeWithoutDelivery
        /// The file that turns private mode on.
        case privateSwitch
        case systemInterface(SystemInterface)
        /// A topic that only conditions with this code use.
        case code(ConditionCode)
    }

    /// A line for the log.
    package struct Line: Sendable, Hashable {
        package let code: ConditionCode
        package let severity: ConditionCode.Severity
        package let text: ReportedText
        /// Whether the line says that the condition has ended.
        package var isEnd = false
    }

    private struct Key: Hashable {
        let code: ConditionCode
        let facts: Condition.Facts

        init(_ condition: Condition) {
            code = condition.code
            facts = condition.facts
        }
    }

    private struct State {
        var condition: Condition
        let since: Duration
        /// The time when the condition ends unless it occurs again; `nil` if only `clear` ends it.
        var expiry: Duration?
        /// Whether the condition has been logged with its current code and facts since it started.
        var isLogged = false
    }

    /// The time when a condition was last logged, its wording then, and how often it has occurred since.
    private struct LoggedLine {
        let at: Duration
        let condition: Condition
        /// The number of times that the condition has occurred since `at` without being logged.
        var repetitions = 0
    }

    /// The conditions on a topic that were logged recently.
    private struct History {
        var lines: [Key: LoggedLine] = [:]
        /// The condition whose start has been logged, but not its end.
        var open: ConditionCode?
    }

    /// The minimum interval between two log lines about the same condition.
    package static let reminderInterval = Duration.seconds(600)
    /// The maximum time between the starts of two conditions that still count as simultaneous, such as those found at
    /// startup.
    private static let simultaneityWindow = Duration.seconds(5)

    private var states: [Topic: State] = [:]
    private var histories: [Topic: History] = [:]
    private var lines: [Line] = []

    package init() {}

    /// Records that `condition` has occurred.
    ///
    /// - Parameters:
    ///   - condition: the condition.
    ///   - topic: its topic.
    ///   - now: the current time.
    ///   - expiry: the time when the condition ends unless it occurs again; `nil` if only `clear` ends it.
    package mutating func raise(
        _ condition: Condition, on topic: Topic, at now: Duration, until expiry: Duration? = nil
    ) {
        clearExpired(at: now)
        let condition = asLogged(condition, on: topic, at: now)
        var state = states[topic] ?? State(condition: condition, since: now)
        if Key(state.condition) != Key(condition) { state.isLogged = false }
        state.condition = condition
        state.expiry = expiry
        states[topic] = state
        guard isVisible(state, at: now) else { return }
        if !logIfDue(topic, at: now) { histories[topic]?.lines[Key(condition)]?.repetitions += 1 }
    }

    /// Replaces the condition that is active on `topic`, if any, because more is known about its cause.
    package mutating func change(_ topic: Topic, to condition: Condition) {
        guard let before = states[topic]?.condition else { return }
        states[topic]?.condition = condition
        if Key(before) != Key(condition) { states[topic]?.isLogged = false }
    }

    /// Records that `condition` is still active. Unlike `raise`, this isn't counted as a repetition.
    package mutating func refresh(_ condition: Condition, on topic: Topic, at now: Duration) {
        if states[topic] == nil { raise(condition, on: topic, at: now) } else { change(topic, to: condition) }
    }

    /// Ends the condition that is active on `topic`. `suffix` is appended to the log line about the end.
    package mutating func clear(_ topic: Topic, at now: Duration, suffix: ReportedText = "") {
        let state = states.removeValue(forKey: topic)
        guard var history = histories[topic] else { return }
        history.lines = history.lines.filter { now - $0.value.at < Self.reminderInterval }
        if let open = history.open, state.map({ now - $0.since >= topic.minimumDurationToLogEnd }) ?? true {
            history.open = nil
            let code = state?.condition.code ?? open
            lines.append(Line(code: code, severity: .info, text: "\(topic.endText(for: code))\(suffix)", isEnd: true))
        }
        histories[topic] = history
    }

    /// Ends the condition that is active on `topic` without logging its end, for example because another condition says
    /// more.
    package mutating func supersede(_ topic: Topic) { states[topic] = nil }

    /// Ends the condition on `topic` and starts `condition` at `now`. A condition that measures the time since an
    /// event, such as the last fix, is restarted in this way at each event.
    package mutating func restart(_ condition: Condition, on topic: Topic, at now: Duration) {
        clear(topic, at: now)
        states[topic] = State(condition: condition, since: now)
    }

    /// Removes and returns the lines that the log should write at `now`.
    package mutating func takeLines(at now: Duration) -> [Line] {
        clearExpired(at: now)
        for (topic, state) in states where !state.isLogged && isVisible(state, at: now) && !isHidden(topic, at: now) {
            _ = logIfDue(topic, at: now)
        }
        defer { lines = [] }
        return lines
    }

    /// Returns the active condition of `topic`, visible or not.
    package func active(on topic: Topic) -> ActiveCondition? {
        states[topic].map { ActiveCondition(condition: $0.condition, since: $0.since) }
    }

    /// Returns the conditions to show at `now`, ordered by their start, because a later condition can't have caused an
    /// earlier one. Conditions that began together are in the order in which a position passes their stages. A wrong
    /// clock comes first, because it may cause any of the others; conditions that need no attention come last.
    package func visible(at now: Duration) -> [ActiveCondition] {
        let shown = states.filter { isVisible($0.value, at: now) && !isHidden($0.key, at: now) }
        let inOrder = shown.sorted {
            $0.key.rank(of: $0.value.condition.code) < $1.key.rank(of: $1.value.condition.code)
        }
        let sorted = inOrder.reduce(into: [ActiveCondition]()) { sorted, next in
            let found = ActiveCondition(condition: next.value.condition, since: next.value.since)
            let later = sorted.firstIndex { found.since + Self.simultaneityWindow < $0.since }
            sorted.insert(found, at: later ?? sorted.endIndex)
        }
        return sorted.filter { $0.code == .hostClockWrong }
            + sorted.filter { $0.code != .hostClockWrong && $0.code.severity != .info }
            + sorted.filter { $0.code.severity == .info }
    }

    /// Returns the condition in the words with which it was logged in the last ten minutes. libcurl and servers have
    /// several texts for one failure, so the status would otherwise differ from the log.
    private func asLogged(_ condition: Condition, on topic: Topic, at now: Duration) -> Condition {
        guard topic == .delivery, let line = histories[topic]?.lines[Key(condition)],
            now - line.at < Self.reminderInterval
        else { return condition }
        return line.condition
    }

    private func isVisible(_ state: State, at now: Duration) -> Bool {
        now - state.since >= state.condition.code.visibleAfter && state.expiry.map { now < $0 } ?? true
    }

    /// Whether a visible condition on another topic explains the condition on `topic`.
    private func isHidden(_ topic: Topic, at now: Duration) -> Bool {
        topic.explanations.contains { other in states[other].map { isVisible($0, at: now) } ?? false }
    }

    private mutating func clearExpired(at now: Duration) {
        for (topic, state) in states where state.expiry.map({ now >= $0 }) ?? false {
            // The token has expired without having been renewed.
            if topic == .renewal { supersede(topic) } else { clear(topic, at: now) }
        }
    }

    /// Logs the condition of `topic` unless it was logged recently. Returns whether it logged.
    private mutating func logIfDue(_ topic: Topic, at now: Duration) -> Bool {
        guard let state = states[topic] else { return false }
        let key = Key(state.condition)
        let before = histories[topic]?.lines[key]
        if let before, now - before.at < Self.reminderInterval { return false }
        states[topic]?.isLogged = true
        var history = histories[topic] ?? History()
        history.open = state.condition.code
        // An entry is kept for two intervals, because it counts the repetitions for the next line about a lasting
        // condition.
        history.lines = history.lines.filter { now - $0.value.at < Self.reminderInterval * 2 }
        history.lines[key] = LoggedLine(at: now, condition: state.condition)
        histories[topic] = history
        let repetitions = before?.repetitions ?? 0
        let count = repetitions > 0 ? " (\(repetitions.counted("more time")) since last logged)" : ""
        lines += state.condition.lines.map {
            Line(code: key.code, severity: key.code.severity, text: "\($0)\(text: count)")
        }
        return true
    }
}

extension ActiveConditions.Topic {
    /// The topics whose visible conditions explain this topic's condition.
    fileprivate var explanations: [Self] {
        switch self {
        case .timeWithoutFix:
            [.receiver, .rejections] + ConditionCode.obstaclesToFix.map(Self.code)
        case .timeWithoutDelivery: [.delivery, .reading, .storing]
        case .code(.outboxDamaged): [.reading, .storing]
        case .code(.positionsUnreadable): [.receiver]
        case .receiver, .rejections, .storing, .reading, .renewal, .delivery, .privateSwitch, .systemInterface, .code:
            []
        }
    }

    /// The time that a condition must have lasted for its end to be logged. It is a minute for rejections, because a
    /// single fix may be wrong.
    fileprivate var minimumDurationToLogEnd: Duration { self == .rejections ? .seconds(60) : .zero }

    /// Returns the text to log when a condition with the given code ends.
    fileprivate func endText(for code: ConditionCode) -> ReportedText {
        switch self {
        case .receiver: "receiver works again"
        case .rejections: "fixes accepted again"
        case .timeWithoutFix: "position available again"
        case .storing: "outbox accepts updates again"
        case .reading: "outbox works again"
        case .renewal: "token renewal works again"
        case .delivery, .timeWithoutDelivery: "delivery works again"
        case .systemInterface(.serviceManager): "service manager receives messages again"
        case .code(.privateMode): "private mode off"
        case .privateSwitch, .systemInterface, .code: "no longer: \(text: code.title)"
        }
    }

    /// Returns a rank that sorts conditions in the order in which a position passes their stages and topics.
    fileprivate func rank(of code: ConditionCode) -> Int {
        let stage = ConditionCode.Stage.allCases.firstIndex(of: code.stage) ?? 0
        let place: [Self] = [
            .receiver, .rejections, .timeWithoutFix, .storing, .renewal, .reading, .delivery, .timeWithoutDelivery,
        ]
        let codes = ConditionCode.allCases.firstIndex(of: code) ?? 0
        return stage * 10_000 + (place.firstIndex(of: self) ?? place.count) * 100 + codes
    }
}
