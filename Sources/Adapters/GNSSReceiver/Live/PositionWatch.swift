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

    /// How long sentences may come without a position.
    private let patience: Duration
    private var hasPosition = false
    /// The last position, or the first sentence on this line; `nil` until there is either.
    private var since: Duration?

    init(patience: Duration) { self.patience = patience }

    /// The line is open, perhaps not for the first time: its receiver may have to start.
    mutating func lineOpened() { since = nil }

    /// Sentences have arrived.
    mutating func sentencesArrived(withPosition: Bool, at now: Duration) {
        if withPosition { hasPosition = true }
        if withPosition || since == nil { since = now }
    }

    /// What holds while sentences arrive.
    func condition(at now: Duration) -> Condition {
        guard let since, now - since >= patience else { return .good }
        return hasPosition ? .lost : .noneYet
    }

    /// The next moment after `now` at which the judgement changes if no position comes; `nil` when it does not.
    func nextChange(after now: Duration) -> Duration? {
        guard let since, since + patience > now else { return nil }
        return since + patience
    }
}
