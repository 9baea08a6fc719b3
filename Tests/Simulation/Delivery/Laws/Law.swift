/// What must hold at every moment of every run, and why.
enum Law: String, CaseIterable, Sendable {
    /// accepted = delivered + pending + evicted + quarantined: an operator can account for every position.
    case ledgerBalances
    /// What counts as delivered, Fleet Engine has: an acknowledgement is never invented.
    case deliveredWasSeen
    /// An accepted update survives every end of the process and of the power.
    case acceptedSurvives
    /// An update is sent twice only after an answer was lost, the power was cut, or the disk failed, a batch each.
    case fewDuplicates
    /// A consumer's map never jumps back: the last location only ever gets newer.
    case neverBackwards
    /// Only what was accepted, or could not be stored, is sent.
    case onlyWhatWasAccepted
    /// Fleet Engine takes the form of every request.
    case wellFormed
    /// A token goes out for its own vehicle only.
    case ownToken
    /// A token is alive, and its successor is asked for while five minutes are left, where it had more.
    case tokenMargin
    /// One fetch in flight, however many ask.
    case oneFetch
    /// A backend in trouble is not made busier.
    case fewFetches
    /// A server in trouble is not made busier, a metered link not emptied.
    case fewAttempts
    /// While the path works, the newest accepted position is with Fleet Engine within 60 s.
    case notLate
    /// While the path works, something is heard of the vehicle every 60 s, moving or not.
    case neverSilent
    /// While the path works, what has piled up goes away.
    case backlogShrinks
    /// Only what Fleet Engine rejects by itself is quarantined.
    case quarantineIsRefused
    /// Evicted is only what does not fit.
    case evictionNeedsFullStore
    /// Of a private vehicle nothing is accepted or repeated, and nothing is told but that it is offline.
    case privateIsSilent
    /// What waits in memory is bounded: jobs, sleepers.
    case bounded
    /// Stopping is cancellation: it takes no time of its own.
    case stopsAtOnce
    /// Somebody always waits for something that will come.
    case neverStuck
    /// When all faults have ended, everything accepted is delivered or quarantined.
    case drains
}
