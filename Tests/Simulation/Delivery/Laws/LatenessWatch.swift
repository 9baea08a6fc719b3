import TimeAndRandomness

/// A watch over the laws about time. These laws apply while the path works: the vehicle's process runs, and every delay
/// that the retry rules allow after a fault is over.
struct LatenessWatch {
    /// The maximum time until a position arrives, and between two requests.
    static let limit = Duration.seconds(60)
    /// The time for two exchanges on a network that works.
    static let timeForTwoExchanges = Duration.seconds(5)
    /// The time for an exchange with a slow server, after which the heartbeat starts.
    static let slowExchangeTime = Duration.seconds(10)

    private struct Awaited {
        let time: UTCTime
        let acceptedAt: Duration
        let isStored: Bool
    }

    /// The accepted positions that are newer than any received by Fleet Engine, in order of time.
    private var awaited: [Awaited] = []
    /// The newest position that Fleet Engine has; `nil` before the first position, and after an overruling update until
    /// another position arrives.
    private var newestReceived: UTCTime?
    /// The time from which the path works; in the future while a delay is allowed.
    private var settledAt = Duration.zero
    private var isRunning = false
    private var hasPosition = false
    private var lastHeard = Duration.zero
    private var pendingSince: Duration?
    /// The numbers of accepted and pending updates at `pendingSince`.
    private var pendingFrom: (accepted: Int64, count: Int64) = (0, 0)
    private var pendingCount: Int64 = 0
    /// The maximum number of pending updates since the last fault.
    private var maximumPendingCount: Int64 = 0

    var isCaughtUp: Bool { awaited.isEmpty }

    mutating func start(at now: Duration) {
        isRunning = true
        settledAt = max(settledAt, now)
        lastHeard = now
        maximumPendingCount = max(maximumPendingCount, pendingCount)
    }

    mutating func stop() {
        isRunning = false
        awaited.removeAll { !$0.isStored }
    }

    mutating func allowDelay(until time: Duration) {
        settledAt = max(settledAt, time)
        maximumPendingCount = max(maximumPendingCount, pendingCount)
    }

    /// Records that the outbox has accepted, at once, `count` updates that it had failed to store earlier.
    mutating func storeLate(_ count: Int64, at now: Duration) {
        settledAt = max(settledAt, now)
        maximumPendingCount += count
    }

    /// Records that the vehicle is private until `end`. Until then, nothing is repeated or sent from memory, and no new
    /// position is sent until one is accepted.
    mutating func beginPrivateTime(until end: Duration) {
        hasPosition = false
        awaited.removeAll { !$0.isStored }
        allowDelay(until: end)
    }

    mutating func accept(_ time: UTCTime, isStored: Bool, overrules: Bool, at now: Duration) {
        if !hasPosition { (hasPosition, lastHeard) = (true, now) }
        if overrules {
            awaited = []
            newestReceived = nil
        }
        // An older position that is stored late follows as a past location.
        if let newestReceived, time <= newestReceived { return }
        if awaited.last.map({ $0.time < time }) ?? true {
            awaited.append(Awaited(time: time, acceptedAt: now, isStored: isStored))
        }
    }

    /// Records that Fleet Engine has the position of `time` as the vehicle's last location.
    mutating func receive(_ time: UTCTime, at now: Duration) {
        lastHeard = now
        newestReceived = max(newestReceived ?? time, time)
        let rest = awaited.firstIndex { $0.time > time } ?? awaited.count
        awaited.removeFirst(rest)
    }

    mutating func reject(_ time: UTCTime, at now: Duration) {
        lastHeard = now
        awaited.removeAll { $0.time == time }
    }

    /// Records that `count` of the `accepted` updates are pending.
    ///
    /// With a slow server some updates are always pending, because the drive adds new ones. So the time starts again
    /// once as many updates as were pending have been delivered, unless more are pending now.
    mutating func recordPending(_ count: Int64, of accepted: Int64, at now: Duration) {
        pendingCount = count
        if pendingSince != nil, accepted - count >= pendingFrom.accepted, count <= pendingFrom.count + 2 {
            pendingSince = nil
        }
        if now < settledAt { maximumPendingCount = max(maximumPendingCount, count) }
        if count == 0 {
            pendingSince = nil
            if now >= settledAt { maximumPendingCount = 0 }
        } else if pendingSince == nil {
            pendingSince = now
            pendingFrom = (accepted, count)
        }
    }

    func overdue(before next: Duration) -> DeliveryAccount.Breach? {
        guard isRunning else { return nil }
        if let first = awaited.first, max(first.acceptedAt, settledAt) + Self.limit < next {
            return (
                .notLate,
                "the position of \(first.time), accepted at \(first.acceptedAt.clockText), has not arrived; the path "
                    + "has worked since \(settledAt.clockText)"
            )
        }
        if hasPosition, max(lastHeard, settledAt) + Self.limit + Self.slowExchangeTime < next {
            return (
                .neverSilent,
                "nothing was received since \(lastHeard.clockText); the path has worked since \(settledAt.clockText)"
            )
        }
        if let pendingSince,
            max(pendingSince, settledAt) + Self.limit + Self.timeForTwoExchanges * Int(maximumPendingCount) < next
        {
            return (
                .backlogShrinks,
                "\(pendingCount) are pending, some since \(pendingSince.clockText); the path has worked since "
                    + settledAt.clockText
            )
        }
        return nil
    }
}
