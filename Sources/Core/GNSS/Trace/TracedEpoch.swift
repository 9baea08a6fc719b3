/// One epoch of a log as the decoder put it together.
struct TracedEpoch {
    /// What made it complete.
    enum Ending {
        /// The sentence that the receiver's epochs end with, as has been learned.
        case learned(SentencePlace)
        /// The first sentence of another epoch.
        case next(SentencePlace)
        case endOfLog
    }

    /// A sentence whose flags say that there is no position.
    struct Veto {
        let source: PositionSource
        let place: SentencePlace
        /// Its flags, in words.
        let flags: String
    }

    let serial: Int
    var timeOfDay: TimeOfDay?
    /// Which sentence each part stands by.
    var sources: [EpochPart: SentencePlace] = [:]
    var vetoes: [Veto] = []
    /// `nil` while it is not complete, and for ever when it has no time of day.
    var completion: EpochCompletion?
    var ending: Ending?
    /// The fix that came out; that of an undated epoch comes later.
    var fix: Fix?
    /// What the fix came out with, when it had waited for a date.
    var releasedBy: SentencePlace?
    var basis: FixCalendar.Basis?
    /// What stated the date.
    var dateSource: SentencePlace?

    /// Whether nothing that follows can change it.
    var isSettled: Bool { completion != nil && (completion != .undated || fix != nil) }
}
