import GNSS
package import TimeAndChance

/// From fixes to accepted updates: plausibility, motion, policy, outbox.
package actor LocationIntake {
    private var plausibility: Plausibility
    private var motion = MotionFilter()
    private var policy: ReportingPolicy
    /// Whether what the outbox took for the newest is wrong, and it could not be told so yet.
    private var owesOverruling = false
    private let outbox: any Outbox
    private var uploader: Uploader
    private let latestTime: @Sendable () -> UTCTime?
    private let observer: any ReportingObserver

    /// `latestTime`: the latest time of fix that can be true; `nil` while nothing trustworthy knows the present.
    package init(
        plausibility: Plausibility, policy: ReportingPolicy, outbox: any Outbox, uploader: Uploader,
        latestTime: @escaping @Sendable () -> UTCTime?, observer: any ReportingObserver
    ) {
        self.plausibility = plausibility
        self.policy = policy
        self.outbox = outbox
        self.uploader = uploader
        self.latestTime = latestTime
        self.observer = observer
    }

    /// Tells `uploader` of updates from now on.
    func use(_ uploader: Uploader) { self.uploader = uploader }

    /// Makes updates so often from now on; what was reported before counts.
    package func report(every interval: Duration, heartbeat: Duration) {
        policy.change(interval: interval, heartbeat: heartbeat)
    }

    /// Takes what a source delivers.
    package func take(_ event: FixSourceEvent) async {
        switch event {
        case .state(let state): observer.observe(.receiver(state))
        case .warning(let warning): observer.observe(.receiverWarning(warning))
        case .sky(let sky): observer.observe(.sky(sky))
        case .progress(let reached, let length): observer.observe(.progress(reached: reached, of: length))
        case .fix(let fix): await take(fix)
        }
    }

    private func take(_ fix: Fix) async {
        switch plausibility.judge(fix, latest: latestTime()) {
        case .refused(let refusal): return observer.observe(.refused(fix, refusal))
        case .accepted(overrulesEarlier: true):
            owesOverruling = true
            await uploader.forgetUnstored()
        case .accepted: break
        }
        observer.observe(.fix(fix))
        let filtered = motion.filtered(fix)
        guard policy.isDue(filtered) else { return }
        let update = LocationUpdate(filtered)
        do {
            let stored = try await outbox.append(update, overrulingEarlier: owesOverruling)
            if owesOverruling { await uploader.forgetUnstored() }
            owesOverruling = false
            observer.observe(.accepted(stored))
            await uploader.wake()
        } catch {
            observer.observe(.notStored(error))
            await uploader.offer(unstored: update, overrulingStored: owesOverruling)
        }
    }
}
