import GNSS
import Reporting
import TimeAndRandomness

/// An observer that records a process's events in the trace, and checks them against the laws.
struct ProcessObserver: ReportingObserver {
    let world: World
    let life: ProcessLife

    func observe(_ event: ReportingEvent) {
        guard life.isAlive else { return }
        switch event {
        case .receiver(let state): world.note(.receiver, 0, 0, "receiver: \(state)")
        case .receiverWarning(let warning):
            world.note(.receiver, 1, Int64(warning.rawValue), "receiver: \(warning.label)")
        case .sky, .progress, .privateModeBegan, .privateModeEnded, .withheld, .tooSoon, .dropped: break
        case .fix(let fix):
            world.note(.fix, fix.timeOfFix.millisecondsSince1970, 0, "fix of \(fix.timeOfFix)")
        case .rejected(let fix, let why):
            world.note(.rejectedFix, fix.timeOfFix.millisecondsSince1970, 0, "fix of \(fix.timeOfFix) rejected: \(why)")
        case .accepted(let stored):
            world.note(.accepted, stored.sequence, 0, "accepted \(stored.sequence) of \(stored.update.timeOfFix)")
        case .notStored(let update, let error):
            world.account.recordNotStored(update, at: world.now)
            world.note(.notStored, 0, 0, "not stored: \(error.code)")
        case .uploading(let batch):
            world.require(
                .privateIsSilent, batch.lastIsPending || !world.isKnownPrivate,
                "the position of \(batch.last.timeOfFix) is repeated for a private vehicle")
            let sequence = batch.stored?.sequence ?? 0
            world.note(
                .uploading, sequence, Int64(batch.past.count),
                "uploading \(sequence) of \(batch.last.timeOfFix)"
                    + "\(batch.lastIsPending ? "" : " (again)") with \(batch.past.count) past")
        case .delivered(let batch, _, _):
            world.note(
                .delivered, batch.stored?.sequence ?? 0, Int64(batch.past.count),
                "delivered \(batch.pending.map(\.sequence))")
        case .failed(let outcome, _, _): world.note(.failed, 0, 0, "attempt failed: \(outcome)")
        case .notPrepared(let fault): world.note(.noToken, 0, 0, "no token: \(fault)")
        case .outboxFailed(let error): world.note(.outboxFailed, 0, 0, "outbox failed: \(error)")
        case .waiting(let delay): world.note(.waiting, delay.components.seconds, 0, "waits \(delay)")
        case .quarantined(let stored, let reason):
            world.note(.quarantined, stored.sequence, 0, "quarantined \(stored.sequence): \(reason)")
        case .serverTime: break
        case .internalError(let error):
            world.recordBreach(.neverStuck, "unexpected event \(error.event) in phase \(error.phase)")
        case .idle: world.note(.idle, 0, 0, "idle")
        case .announced(let presence, _): world.note(.stateSent, 0, 0, "\(presence) announced")
        }
    }
}
