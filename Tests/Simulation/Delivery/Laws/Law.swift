/// A rule that must hold at every moment of every run.
enum Law: String, CaseIterable, Sendable {
    /// accepted = delivered + pending + evicted + quarantined, so that an operator can account for every position.
    case ledgerBalances
    /// Fleet Engine has every update that the ledger counts as delivered: no acknowledgement is invented.
    case deliveredWasSeen
    /// An accepted update survives every end of the process and every power cut.
    case acceptedSurvives
    /// Updates are sent twice only after a lost answer, a power cut or a disk failure, at most one batch each time.
    case fewDuplicates
    /// The last location never becomes older, so that a consumer's map doesn't jump back.
    case neverBackwards
    /// Only updates that were accepted, or could not be stored, are sent.
    case onlyWhatWasAccepted
    /// Every request has the form that Fleet Engine requires.
    case wellFormed
    /// A token is used only for its own vehicle.
    case ownToken
    /// A token is valid when it is sent, and is renewed while five minutes of its life remain if it had more.
    case tokenMargin
    /// At most one fetch per vehicle is in progress, however many tasks ask for a token.
    case oneFetch
    /// Failures don't make Waypost ask the token backend more often.
    case fewFetches
    /// Failures don't make Waypost send requests more often, which would also use up a metered link.
    case fewAttempts
    /// While the path works, Fleet Engine receives the newest accepted position within 60 s.
    case notLate
    /// While the path works, Fleet Engine receives a request every 60 s, whether the vehicle moves or not.
    case neverSilent
    /// While the path works, a backlog is delivered.
    case backlogShrinks
    /// Only updates that Fleet Engine rejects individually are quarantined.
    case quarantineIsRefused
    /// Updates are evicted only if they don't fit.
    case evictionNeedsFullStore
    /// No position of a private vehicle is accepted or repeated, and its only presence is offline.
    case privateIsSilent
    /// A reload doesn't report the vehicle as offline, unless it is private.
    case reloadIsSilent
    /// The numbers of jobs and sleepers are bounded.
    case bounded
    /// Cancellation ends a process without delay.
    case stopsAtOnce
    /// At least one task waits for an event that will occur.
    case neverStuck
    /// After all faults have ended, every accepted update is delivered or quarantined.
    case drains
}
