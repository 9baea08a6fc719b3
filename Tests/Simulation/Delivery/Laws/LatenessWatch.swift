import TimeAndChance

/// The laws on time, which hold while the path works: the vehicle's process runs, and nothing has gone wrong whose
/// consequence the rules of retry still allow.
struct LatenessWatch {
    /// The longest that a position may take, and that nothing may be heard.
    static let limit = Duration.seconds(60)
    /// Two exchanges on a network that works.
    static let exchange = Duration.seconds(5)
    /// An exchange with a slow server; a heartbeat counts from its end.
    static let slowExchange = Duration.seconds(10)

    private struct Awaited {
        let time: UTCTime
        let acceptedAt: Duration
        let isStored: Bool
    }

    /// Accepted, and newer than anything that Fleet Engine has heard, in order of time.
    private var awaited: [Awaited] = []
    /// The newest position that Fleet Engine has; `nil` before the first, and while an earlier one may overrule it.
    private var newestReceived: UTCTime?
    /// From when on the path works; in the future while a consequence lasts.
    private var settledAt = Duration.zero
    private var isRunning = false
    private var hasPosition = false
    private var lastHeard = Duration.zero
    private var pendingSince: Duration?
    /// How many had been accepted and were pending then.
    private var pendingFrom: (accepted: Int64, count: Int64) = (0, 0)
    private var pendingCount: Int64 = 0
    /// The most that was pending since the last trouble.
    private var backlog: Int64 = 0

    var isCaughtUp: Bool { awaited.isEmpty }

    mutating func start(at now: Duration) {
        isRunning = true
        settledAt = max(settledAt, now)
        lastHeard = now
        backlog = max(backlog, pendingCount)
    }

    mutating func stop() {
        isRunning = false
        awaited.removeAll { !$0.isStored }
    }

    mutating func trouble(until time: Duration) {
        settledAt = max(settledAt, time)
        backlog = max(backlog, pendingCount)
    }

    /// So many updates come into the outbox at once, which did not accept them at their time.
    mutating func storeLate(_ count: Int64, at now: Duration) {
        settledAt = max(settledAt, now)
        backlog += count
    }

    /// Until `end` the vehicle is private: nothing is repeated, what is in memory alone is not sent, and nothing of now
    /// is told until the next position is accepted.
    mutating func privateTime(until end: Duration) {
        hasPosition = false
        awaited.removeAll { !$0.isStored }
        trouble(until: end)
    }

    mutating func accept(_ time: UTCTime, isStored: Bool, overrules: Bool, at now: Duration) {
        if !hasPosition { (hasPosition, lastHeard) = (true, now) }
        if overrules {
            awaited = []
            newestReceived = nil
        }
        // An older one that is stored late follows as a past location.
        if let newestReceived, time <= newestReceived { return }
        if awaited.last.map({ $0.time < time }) ?? true {
            awaited.append(Awaited(time: time, acceptedAt: now, isStored: isStored))
        }
    }

    /// Fleet Engine has the position of `time` for the vehicle's last.
    mutating func receive(_ time: UTCTime, at now: Duration) {
        lastHeard = now
        newestReceived = max(newestReceived ?? time, time)
        let rest = awaited.firstIndex { $0.time > time } ?? awaited.count
        awaited.removeFirst(rest)
    }

    mutating func refuse(_ time: UTCTime, at now: Duration) {
        lastHeard = now
        awaited.removeAll { $0.time == time }
    }

    /// Notes that `count` of the `accepted` updates are pending.
    ///
    /// While a slow server answers, a drive makes new ones, so that some are always pending. The time starts again once
    /// as many have left as there were, if the rest hasn't grown.
    mutating func pending(_ count: Int64, of accepted: Int64, at now: Duration) {
        pendingCount = count
        if pendingSince != nil, accepted - count >= pendingFrom.accepted, count <= pendingFrom.count + 2 {
            pendingSince = nil
        }
        if now < settledAt { backlog = max(backlog, count) }
        if count == 0 {
            pendingSince = nil
            if now >= settledAt { backlog = 0 }
        } else if pendingSince == nil {
            pendingSince = now
            pendingFrom = (accepted, count)
        }
    }

    /// What will not have happened in time before `next`.
    func overdue(before next: Duration) -> DeliveryAccount.Breach? {
        guard isRunning else { return nil }
        if let first = awaited.first, max(first.acceptedAt, settledAt) + Self.limit < next {
            return (
                .notLate,
                "the position of \(first.time), accepted at \(first.acceptedAt.clockText), has not arrived; the path "
                    + "works since \(settledAt.clockText)"
            )
        }
        if hasPosition, max(lastHeard, settledAt) + Self.limit + Self.slowExchange < next {
            return (
                .neverSilent,
                "nothing was heard since \(lastHeard.clockText); the path works since \(settledAt.clockText)"
            )
        }
        if let pendingSince, max(pendingSince, settledAt) + Self.limit + Self.exchange * Int(backlog) < next {
            return (
                .backlogShrinks,
                "\(pendingCount) are pending; some are since \(pendingSince.clockText), the path works since "
                    + settledAt.clockText
            )
        }
        return nil
    }
}
