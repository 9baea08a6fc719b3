package import LocationReporting

/// Judges whether every stage makes progress, and says what to do about one that stands still. Pure.
///
/// A stage owes progress while a call of it is under way, and while it has yet to give a sign that it said it would; it
/// is content while it has nothing to do or a reason to wait. Time comes by `tick` alone, and at most `longestTick` of
/// it counts at once: a machine that slept and a process that was stopped find no stage overdue.
package struct ProgressWatch: Sendable {
    /// How long a stage may stand still.
    package struct Patience: Sendable, Hashable {
        /// Before the first repair.
        package var first: Duration
        /// After each repair.
        package var afterRepair: Duration

        package init(_ first: Duration, afterRepair: Duration? = nil) {
            (self.first, self.afterRepair) = (first, afterRepair ?? first)
        }
    }

    /// What to do.
    package enum Action: Sendable, Hashable {
        /// Try repair number `stall.repairs` of the stage.
        case repair(Stall)
        /// Nothing has helped: end the process. Comes once.
        case end(Stall)
    }

    private struct Debt {
        var since: Duration
        var due: Duration
    }

    private struct Account {
        var calls: [Int: Debt] = [:]
        var sign: Debt?
        var repairs = 0
        /// Since when the repairs have been tried, though calls came and were given up.
        var troubleSince: Duration?
    }

    static let longestTick = Duration.seconds(5)

    private let patience: [Stage: Patience]
    private var accounts: [Stage: Account] = [:]
    private var now = Duration.zero
    private var lastCall = 0
    private var hasEnded = false

    /// A stage without `patience` is not watched.
    package init(patience: [Stage: Patience]) { self.patience = patience }

    /// Whether anything waits for a repair to show effect.
    package var isUnderRepair: Bool { accounts.values.contains { $0.repairs > 0 } }

    /// A call of the stage is under way; gives its number.
    package mutating func began(_ stage: Stage) -> Int {
        lastCall += 1
        accounts[stage, default: Account()].calls[lastCall] = debt(of: stage)
        return lastCall
    }

    /// The call has come to its end, good or bad: that is progress.
    package mutating func ended(_ stage: Stage, call: Int) {
        accounts[stage]?.calls[call] = nil
        progressed(stage)
    }

    /// Nobody waits for the call any longer; that is no progress.
    package mutating func gaveUp(_ stage: Stage, call: Int) { accounts[stage]?.calls[call] = nil }

    /// The stage has given a sign, and owes another one within its patience, or that long after `delay`.
    package mutating func moved(_ stage: Stage, nextAfter delay: Duration = .zero) {
        progressed(stage)
        accounts[stage, default: Account()].sign = debt(of: stage, after: delay)
    }

    /// The stage has nothing to do, and owes no sign.
    package mutating func rests(_ stage: Stage) {
        progressed(stage)
        accounts[stage]?.sign = nil
    }

    /// There is something to do for a stage that rested.
    package mutating func roused(_ stage: Stage) {
        if accounts[stage]?.sign == nil { accounts[stage, default: Account()].sign = debt(of: stage) }
    }

    /// Time has passed: what is to be done now, at most one thing a stage.
    package mutating func tick(after elapsed: Duration) -> [Action] {
        now += max(.zero, min(elapsed, Self.longestTick))
        guard !hasEnded else { return [] }
        var actions: [Action] = []
        for stage in Stage.allCases {
            guard let action = judge(stage) else { continue }
            if case .end = action {
                hasEnded = true
                return [action]
            }
            actions.append(action)
        }
        return actions
    }

    private mutating func judge(_ stage: Stage) -> Action? {
        guard var account = accounts[stage], let patience = patience[stage] else { return nil }
        let overdue = (Array(account.calls.values) + [account.sign].compactMap { $0 }).filter { $0.due <= now }
        guard let since = overdue.map(\.since).min() else { return nil }
        let begin = min(since, account.troubleSince ?? since)
        let stall = Stall(stage: stage, duration: now - begin, repairs: account.repairs)
        guard account.repairs < stage.repairs.count else { return .end(stall) }
        account.repairs += 1
        account.troubleSince = begin
        let due = now + patience.afterRepair
        for call in account.calls.keys { account.calls[call]?.due = due }
        account.sign?.due = due
        accounts[stage] = account
        return .repair(stall)
    }

    private mutating func progressed(_ stage: Stage) {
        accounts[stage]?.repairs = 0
        accounts[stage]?.troubleSince = nil
    }

    private func debt(of stage: Stage, after delay: Duration = .zero) -> Debt? {
        guard let patience = patience[stage] else { return nil }
        let isUnderRepair = (accounts[stage]?.repairs ?? 0) > 0
        return Debt(since: now, due: now + delay + (isUnderRepair ? patience.afterRepair : patience.first))
    }
}

extension ProgressWatch {
    /// What the upload loop tells: that it acts, for how long it waits, that it has nothing to do.
    package mutating func take(_ event: ReportingEvent) {
        switch event {
        case .uploading, .delivered, .noToken, .quarantined: moved(.upload)
        case .waiting(let delay, _): moved(.upload, nextAfter: delay)
        case .idle: rests(.upload)
        case .accepted, .notStored: roused(.upload)
        // No signs: these come also of what goes on beside the loop, a vehicle's state and the care of the outbox; the
        // loop itself waits or acts after each of them, and says so.
        case .failed, .outboxFailed, .stateSent: break
        case .receiver, .receiverWarning, .progress, .fix, .refused, .serverTime: break
        }
    }
}
