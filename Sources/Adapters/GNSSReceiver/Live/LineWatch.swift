/// Judges an open line by the bytes and sentences on it. It has no clock; all times are on one monotonic scale.
///
/// A line is considered silent after five of its intervals without a sentence, but not before 5 seconds have passed.
/// After three times that limit, the line is worth reopening.
struct LineWatch: Sendable, Hashable {
    enum Condition: Sendable, Hashable {
        /// Open, without a sentence, but not for long enough to be judged.
        case opened
        case receiving
        /// No byte within the limit.
        case silent
        /// Bytes within the limit, but no sentence: the wrong baud rate, or not NMEA.
        case noise
    }

    private static let maximumInterval = Duration.seconds(60)

    /// The minimum value of `limit`.
    private let timeout: Duration
    /// The time to wait for a first sentence before the line is opened in another way.
    private let trial: Duration?
    private let openedAt: Duration
    /// The maximum recent time between sentences.
    private(set) var interval: Duration
    private(set) var hasSentence = false
    private(set) var hasBytes = false
    private var lastByte: Duration
    private var lastSentence: Duration

    /// - Parameters:
    ///   - openedAt: the time at which the line was opened.
    ///   - interval: the interval of the previous watch of the same line.
    ///   - timeout: the time for which any line may be without a sentence.
    ///   - trial: the time to wait for a first sentence; `nil` unless the line can then be opened in another way.
    init(
        openedAt: Duration, interval: Duration = .zero, timeout: Duration = .seconds(5), trial: Duration? = nil
    ) {
        self.interval = interval
        self.timeout = timeout
        self.trial = trial
        self.openedAt = openedAt
        lastByte = openedAt
        lastSentence = openedAt
    }

    /// The maximum time for which this line may be without a sentence.
    var limit: Duration { max(timeout, interval * 5) }

    /// Records bytes that completed the given number of sentences.
    mutating func recordBytes(sentences: Int, at now: Duration) {
        lastByte = now
        hasBytes = true
        guard sentences > 0 else { return }
        if hasSentence {
            // Times within a burst are short, so the maximum decays slowly enough to outlast a burst.
            interval = min(max(now - lastSentence, interval * 9 / 10), Self.maximumInterval)
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

    /// Returns the next time after `now` at which the judgement changes if nothing arrives.
    func nextChange(after now: Duration) -> Duration {
        // A line that can't be reopened may outlast all three times.
        [lastSentence + limit, lastByte + limit, overdueAt].filter { $0 > now }.min() ?? now + limit
    }
}

/// Judges whether the arriving sentences lead to positions. It has no clock; all times are on one monotonic scale.
struct PositionWatch: Sendable, Hashable {
    enum Condition: Sendable, Hashable {
        /// There are positions, or the receiver still has time to find one.
        case good
        /// No position has arrived yet.
        case noneYet
        /// Positions no longer arrive.
        case lost
    }

    /// The time within which a receiver sends each of its sentences at least once.
    private static let maximumRound = Duration.seconds(20)

    /// The maximum time for which sentences may arrive without a position.
    private let timeout: Duration
    private var hasPosition = false
    /// The time of the last position, or of the first sentence on this line; `nil` until there is either.
    private var since: Duration?

    init(timeout: Duration) { self.timeout = timeout }

    /// Starts over for an opened line, because its receiver may have to start.
    mutating func startOver() { since = nil }

    mutating func recordSentences(withPosition: Bool, at now: Duration) {
        if withPosition { hasPosition = true }
        if withPosition || since == nil { since = now }
    }

    /// Returns the line's condition, assuming that sentences still arrive.
    func condition(at now: Duration) -> Condition {
        guard let since, now - since >= timeout else { return .good }
        return hasPosition ? .lost : .noneYet
    }

    /// Whether sentences without a position have arrived long enough to include each type of sentence.
    func hasReceivedEveryType(at now: Duration) -> Bool {
        since.map { now - $0 >= min(timeout, Self.maximumRound) } ?? false
    }

    /// Returns the next time after `now` at which the judgement changes if no position arrives; `nil` if it won't
    /// change.
    func nextChange(after now: Duration) -> Duration? {
        guard let since, since + timeout > now else { return nil }
        return since + timeout
    }
}
