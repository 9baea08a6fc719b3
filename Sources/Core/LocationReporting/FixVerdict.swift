/// What `Plausibility` makes of a fix.
package enum FixVerdict: Sendable, Hashable {
    /// `overrulesEarlier` when it contradicts what was believed before, and that was wrong.
    case believed(overrulesEarlier: Bool)
    case refused(FixRefusal)
}
