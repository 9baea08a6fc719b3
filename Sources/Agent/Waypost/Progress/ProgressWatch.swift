import BackendAuthorization
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
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

/// A stage of the service whose progress is watched.
package enum Stage: String, Sendable, Hashable, CaseIterable, Codable {
    /// The receiver's thread goes round. That nothing arrives on the line is no standstill: the line is opened anew and
    /// the reason told by the thread itself.
    case receiver
    /// What the receiver tells is taken in.
    case intake
    /// The outbox answers.
    case store
    /// The token provider answers, with a token or an error.
    case token
    /// An exchange with Fleet Engine ends, with an answer or an error.
    case transport
    /// The upload loop acts, or waits for a known time or for something to send.
    case upload
    /// The shared pool, on which all tasks run, takes a new one.
    case tasks

    /// What is tried when it stands still, one after the other, before the process ends.
    package var repairs: [String] {
        switch self {
        case .receiver: ["it is opened anew on another thread"]
        case .store: ["positions are sent from memory until it answers"]
        case .token: ["its call is given up and the provider made anew"]
        case .transport: ["its exchange is given up, and the next takes a new connection", "it is made anew"]
        case .upload: ["it is woken, on a new connection"]
        case .intake, .tasks: []
        }
    }

    /// What is wrong when it stands still.
    var complaint: String {
        switch self {
        case .receiver: "the receiver's thread is stuck in a call of the system"
        case .intake: "what the receiver tells is not taken in"
        case .store: "the outbox does not answer"
        case .token: "the token provider gives neither a token nor an error"
        case .transport: "an exchange with Fleet Engine does not end"
        case .upload: "the upload loop neither acts nor waits"
        case .tasks: "no task is run any more"
        }
    }
}

/// A stage that stands still without a reason.
package struct Stall: Sendable, Hashable, CustomStringConvertible {
    package let stage: Stage
    /// How long there has been no progress.
    package let duration: Duration
    /// How many repairs have been tried since there was any.
    package let repairs: Int

    package init(stage: Stage, duration: Duration, repairs: Int) {
        (self.stage, self.duration, self.repairs) = (stage, duration, repairs)
    }

    /// The stage, what is wrong, and for how long.
    package var description: String {
        let tried = repairs == 0 ? "" : repairs == 1 ? ", through 1 repair" : ", through \(repairs) repairs"
        return "\(stage.rawValue): \(stage.complaint) for \(duration.spoken)\(tried)"
    }
}

extension Configuration {
    /// How long each stage may stand still: well past every limit that the stage itself keeps, so that what it can tell
    /// by itself (a timeout, a token command that was ended) is told by it.
    package var patience: [Stage: ProgressWatch.Patience] {
        let token: Duration =
            switch authorization {
            case .http(let settings, _): settings.limits.total
            case .command(_, _, _, let timeout): timeout
            case .file: .zero
            }
        return [
            .receiver: .init(ReceiverPace.longestOpening + ReceiverPace.longestTurn * 3),
            .intake: .init(.seconds(300)),
            // Worn-out flash can take many seconds for an fsync; while positions go out from memory there is no haste.
            .store: .init(.seconds(30), afterRepair: .seconds(300)),
            .token: .init(max(token, .seconds(30)) + .seconds(30)),
            .transport: .init(upload.timeout + .seconds(30)),
            // Longer than all that it may wait for without a word: store, token and exchange.
            .upload: .init(upload.timeout + max(token, .seconds(30)) + .seconds(180)),
            .tasks: .init(.seconds(60)),
        ]
    }
}
