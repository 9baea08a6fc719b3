package import Reporting
import ReportedText

extension ActiveConditions {
    /// The time for which the condition for a receiver's warning stays active after the receiver last reported the
    /// warning.
    private static let warningLife = Duration.seconds(600)
    /// The time for which the condition for rejected fixes stays active after the last rejection. A live receiver sends
    /// about one fix per second.
    private static let rejectionLife = Duration.seconds(30)

    /// Starts measuring the time without a fix.
    package mutating func start(at now: Duration) { restart(.noPosition, on: .timeWithoutFix, at: now) }

    /// Updates the conditions after an event.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - now: the current time.
    ///   - isLive: whether the source is a live receiver, not a recorded log. The times without a fix and without a
    ///     delivery are measured only for a live receiver.
    package mutating func record(_ event: ReportingEvent, at now: Duration, isLive: Bool) {
        switch event {
        case .receiver(let state): record(state, at: now)
        case .receiverWarning(let warning):
            let condition = Condition(warning)
            raise(condition, on: .code(condition.code), at: now, until: now + Self.warningLife)
        case .sky(let sky): change(.timeWithoutFix, to: Condition(noFixWith: sky))
        case .fix, .withheld: recordFix(at: now, isLive: isLive)
        case .rejected(_, let rejection):
            raise(Condition(rejection), on: .rejections, at: now, until: now + Self.rejectionLife)
        case .privateModeBegan:
            // The time makes the facts unique, so each start is logged, no matter how soon it follows the previous one.
            let facts = Condition.Facts.number(Int64(now / .milliseconds(1)))
            raise(
                Condition(.privateMode, "position not stored, sent or shown", facts: facts), on: .code(.privateMode),
                at: now)
            supersede(.timeWithoutDelivery)
        case .privateModeEnded: clear(.code(.privateMode), at: now)
        case .accepted:
            clear(.storing, at: now)
            clear(.reading, at: now)
        case .notStored(_, let error):
            // Positions are now sent from memory, so a failure to read the outbox no longer matters.
            supersede(.reading)
            raise(Condition(error, isStoring: true), on: .storing, at: now)
        case .dropped(let count):
            raise(
                Condition(dropped: count, atStop: false), on: .code(.updatesDropped), at: now,
                until: now + .seconds(3600))
        case .outboxFailed(let error):
            if active(on: .storing) == nil { raise(Condition(error), on: .reading, at: now) }
        case .uploading(let batch): if !batch.pending.isEmpty { clear(.reading, at: now) }
        case .delivered(let batch, _, _):
            let count = batch.pending.count
            clear(.delivery, at: now, suffix: count > 0 ? "; \(text: count.counted("update")) delivered at once" : "")
            restartTimeWithoutDelivery(at: now, isLive: isLive)
        case .announced: clear(.delivery, at: now)
        case .failed(let outcome, _, _):
            if let condition = Condition(outcome) { raise(condition, on: .delivery, at: now) }
        case .notPrepared(let fault): raise(Condition(fault), on: .delivery, at: now)
        case .internalError(let error):
            let cause: ReportedText = "unexpected event \(text: error.event) in phase \(text: error.phase)"
            let condition = Condition(.internalError, cause, facts: .internalError(error))
            raise(condition, on: .code(.internalError), at: now, until: now + .seconds(86_400))
        case .progress, .tooSoon, .waiting, .quarantined, .serverTime, .idle: break
        }
    }

    private mutating func record(_ state: ReceiverState, at now: Duration) {
        if let condition = Condition(state) {
            raise(condition, on: .receiver, at: now)
        } else if state.kind == .starting {
            supersede(.receiver)  // it isn't known yet whether this attempt will work
        } else {
            clear(.receiver, at: now)
        }
    }

    private mutating func recordFix(at now: Duration, isLive: Bool) {
        clear(.rejections, at: now)
        for code in ConditionCode.obstaclesToFix { clear(.code(code), at: now) }
        guard isLive else { return }
        let isFirst = active(on: .timeWithoutDelivery) == nil && active(on: .code(.privateMode)) == nil
        restart(.noPosition, on: .timeWithoutFix, at: now)
        if isFirst { restartTimeWithoutDelivery(at: now, isLive: true) }
    }

    /// Starts measuring the time without a delivery, because updates are due from now on.
    private mutating func restartTimeWithoutDelivery(at now: Duration, isLive: Bool) {
        guard isLive, active(on: .code(.privateMode)) == nil else { return }
        let cause: ReportedText = "updates are due, but no stage has reported why none is delivered"
        restart(Condition(.nothingDelivered, cause), on: .timeWithoutDelivery, at: now)
    }
}
