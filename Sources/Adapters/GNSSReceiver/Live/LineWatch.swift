/// Judges an open line by what has arrived on it and when: a decision, without a clock of its own.
///
/// All times are on one monotonic scale. A line is given five of its own intervals, and at least 5 seconds, before it
/// counts as silent; three times as long, and it is worth reopening.
struct LineWatch: Sendable, Hashable {
    /// What can be said of the line.
    enum Condition: Sendable, Hashable {
        /// Open, and not yet long enough without a sentence to be judged.
        case opened
        case receiving
        /// No byte within the limit.
        case silent
        /// Bytes within the limit, but no sentence: the wrong rate, or not NMEA.
        case noise
    }

    private static let longestInterval = Duration.seconds(60)

    /// How long any line may be without a sentence.
    private let patience: Duration
    /// How long the line may be without a first sentence before it is opened in another way.
    private let trial: Duration?
    private let openedAt: Duration
    /// The receiver's own pace: the longest recent time between sentences.
    private(set) var interval: Duration
    /// Whether a sentence has come since the line was opened.
    private(set) var hasSentence = false
    /// Whether a byte has come since the line was opened.
    private(set) var hasBytes = false
    private var lastByte: Duration
    private var lastSentence: Duration

    /// `interval` is what a watch of the same line had learned before.
    ///
    /// `trial` is for a line that may be opened in another way when no sentence comes.
    init(
        openedAt: Duration, interval: Duration = .zero, patience: Duration = .seconds(5), trial: Duration? = nil
    ) {
        self.interval = interval
        self.patience = patience
        self.trial = trial
        self.openedAt = openedAt
        lastByte = openedAt
        lastSentence = openedAt
    }

    /// How long this line may be without a sentence.
    var limit: Duration { max(patience, interval * 5) }

    /// Bytes have arrived, and `sentences` ended within them.
    mutating func bytesArrived(sentences: Int, at now: Duration) {
        lastByte = now
        hasBytes = true
        guard sentences > 0 else { return }
        if hasSentence {
            // Within a burst gaps are short: the longest fades slowly enough to outlast one.
            interval = min(max(now - lastSentence, interval * 9 / 10), Self.longestInterval)
        }
        lastSentence = now
        hasSentence = true
    }

    func condition(at now: Duration) -> Condition {
        if now - lastSentence < limit { return hasSentence ? .receiving : .opened }
        return now - lastByte < limit ? .noise : .silent
    }

    /// Whether the line should be closed and reopened.
    func isOverdue(at now: Duration) -> Bool { now >= overdueAt }

    private var overdueAt: Duration {
        if let trial, !hasSentence { return openedAt + trial }
        return lastSentence + limit * 3
    }

    /// The next moment after `now` at which the judgement changes if nothing arrives.
    func nextChange(after now: Duration) -> Duration {
        // A line that cannot be reopened outlives all of them.
        [lastSentence + limit, lastByte + limit, overdueAt].filter { $0 > now }.min() ?? now + limit
    }
}

/// Judges whether the sentences that arrive lead to positions: a decision, without a clock of its own.
///
/// All times are on one monotonic scale.
struct PositionWatch: Sendable, Hashable {
    /// What can be said of the positions.
    enum Condition: Sendable, Hashable {
        /// They come, or may still be waited for.
        case good
        /// Sentences come, but there has been no position since the start.
        case noneYet
        /// Sentences come, but positions do not any more.
        case lost
    }

    /// Within this a receiver has sent every sentence that it is set to send.
    private static let longestRound = Duration.seconds(20)

    /// How long sentences may come without a position.
    private let patience: Duration
    private var hasPosition = false
    /// The last position, or the first sentence on this line; `nil` until there is either.
    private var since: Duration?

    init(patience: Duration) { self.patience = patience }

    /// The line is open, perhaps not for the first time: its receiver may have to start.
    mutating func lineOpened() { since = nil }

    mutating func sentencesArrived(withPosition: Bool, at now: Duration) {
        if withPosition { hasPosition = true }
        if withPosition || since == nil { since = now }
    }

    /// What holds while sentences arrive.
    func condition(at now: Duration) -> Condition {
        guard let since, now - since >= patience else { return .good }
        return hasPosition ? .lost : .noneYet
    }

    /// Whether sentences have come for so long, and no position, that one that states it would have been among them.
    func hasHeardEverySentence(at now: Duration) -> Bool {
        since.map { now - $0 >= min(patience, Self.longestRound) } ?? false
    }

    /// The next moment after `now` at which the judgement changes if no position comes; `nil` when it does not.
    func nextChange(after now: Duration) -> Duration? {
        guard let since, since + patience > now else { return nil }
        return since + patience
    }
}
