/// A watch that judges, by the arrival of bytes and sentences, whether an open line works. It reads no clock; the
/// caller passes times from one monotonic clock.
///
/// A line works if a sentence arrives within `limit`, which is five times `interval`, but at least 5 seconds. If none
/// arrives for three times that limit, the line should be reopened.
struct LineWatch: Sendable, Hashable {
    enum Condition: Sendable, Hashable {
        /// The line is open, and its first sentence may still arrive within the limit.
        case opened
        case receiving
        /// No byte has arrived within the limit.
        case silent
        /// Bytes have arrived within the limit, but no sentence. Either the baud rate is wrong, or the bytes aren't
        /// NMEA.
        case noise
    }

    private static let maximumInterval = Duration.seconds(60)

    /// The minimum value of `limit`.
    private let timeout: Duration
    /// The time to wait for a first sentence before the line is opened at another baud rate; `nil` if only one is
    /// possible.
    private let trial: Duration?
    private let openedAt: Duration
    /// The longest recent gap between two sentences.
    private(set) var interval: Duration
    private(set) var hasSentence = false
    private(set) var hasBytes = false
    private var lastByte: Duration
    private var lastSentence: Duration

    /// - Parameters:
    ///   - openedAt: the time at which the line was opened.
    ///   - interval: the `interval` of this line's previous watch; zero if there was none.
    ///   - timeout: the minimum value of `limit`.
    ///   - trial: the time to wait for a first sentence before another baud rate is tried; `nil` if only one is
    ///     possible.
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

    /// The maximum time that may pass without a sentence on this line.
    var limit: Duration { max(timeout, interval * 5) }

    /// Records the arrival of bytes that completed the given number of sentences.
    mutating func recordBytes(sentences: Int, at now: Duration) {
        lastByte = now
        hasBytes = true
        guard sentences > 0 else { return }
        if hasSentence {
            // The gaps within a burst are short, so the longest gap is forgotten slowly enough to outlast a burst.
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

    /// Returns the next time after `now` at which the line's condition changes or it becomes overdue, if nothing
    /// arrives.
    func nextChange(after now: Duration) -> Duration {
        // On a line that can't be reopened, all three times may have passed.
        [lastSentence + limit, lastByte + limit, overdueAt].filter { $0 > now }.min() ?? now + limit
    }
}

/// A watch that judges whether the sentences on a line provide positions. It reads no clock; the caller passes times
/// from one monotonic clock.
struct PositionWatch: Sendable, Hashable {
    enum Condition: Sendable, Hashable {
        /// Positions arrive, or the receiver still has time to find one.
        case good
        /// No position has arrived yet.
        case noneYet
        /// Positions no longer arrive.
        case lost
    }

    /// The time within which a receiver sends each type of sentence at least once.
    private static let maximumRound = Duration.seconds(20)

    /// The maximum time for which sentences may arrive without a position.
    private let timeout: Duration
    private var hasPosition = false
    /// The time of the last position on this line or, before the first position, of the first sentence; `nil` before
    /// the first sentence.
    private var waitingSince: Duration?

    init(timeout: Duration) { self.timeout = timeout }

    /// Starts over when a line has been opened, because the receiver may just have been switched on.
    mutating func startOver() { waitingSince = nil }

    mutating func recordSentences(withPosition: Bool, at now: Duration) {
        if withPosition { hasPosition = true }
        if withPosition || waitingSince == nil { waitingSince = now }
    }

    /// Returns the line's condition. Assumes that sentences are still arriving.
    func condition(at now: Duration) -> Condition {
        guard let waitingSince, now - waitingSince >= timeout else { return .good }
        return hasPosition ? .lost : .noneYet
    }

    /// Whether sentences without a position have arrived for so long that each type of sentence must have been among
    /// them.
    func hasReceivedEveryType(at now: Duration) -> Bool {
        waitingSince.map { now - $0 >= min(timeout, Self.maximumRound) } ?? false
    }

    /// Returns the next time after `now` at which the condition changes if no position arrives; `nil` if it won't
    /// change.
    func nextChange(after now: Duration) -> Duration? {
        guard let waitingSince, waitingSince + timeout > now else { return nil }
        return waitingSince + timeout
    }
}
