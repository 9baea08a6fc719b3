import GNSS
package import TimeAndChance

/// From fixes to accepted updates: plausibility, motion, policy, spacing, outbox.
package actor LocationIntake {
    private var plausibility: Plausibility
    private var motion = MotionFilter()
    private var policy: ReportingPolicy
    private var spacing: RequestSpacing
    private var lastReported: LocationUpdate?
    /// Whether what the outbox took for the newest is wrong, and it could not be told so yet.
    private var owesOverruling = false
    private let outbox: any Outbox
    private var uploader: Uploader
    private let clock: MonotonicClock
    private let latestTime: @Sendable () -> UTCTime?
    private let observer: any ReportingObserver

    /// `latestTime`: the latest time of fix that can be true; `nil` while nothing trustworthy knows the present.
    package init(
        plausibility: Plausibility, policy: ReportingPolicy, spacing: RequestSpacing, outbox: any Outbox,
        uploader: Uploader, clock: MonotonicClock, latestTime: @escaping @Sendable () -> UTCTime?,
        observer: any ReportingObserver
    ) {
        self.plausibility = plausibility
        (self.policy, self.spacing) = (policy, spacing)
        self.outbox = outbox
        self.uploader = uploader
        self.clock = clock
        self.latestTime = latestTime
        self.observer = observer
    }

    /// Tells `uploader` of updates from now on.
    func use(_ uploader: Uploader) { self.uploader = uploader }

    /// Makes updates by this policy from now on; what was reported before counts.
    package func report(by kind: ReportingPolicy.Kind, heartbeat: Duration) {
        policy.change(to: kind, heartbeat: heartbeat)
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
        policy.observe(filtered, motion.motion)
        guard policy.isDue(filtered), await isFarEnough(filtered) else { return }
        let update = LocationUpdate(filtered)
        policy.didReport(filtered)
        spacing.didReport(filtered, at: clock.now)
        lastReported = update
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

    /// Whether `fix` does not follow the last request too soon.
    private func isFarEnough(_ fix: Fix) async -> Bool {
        var elapsed: Duration?
        if let lastReported, spacing.needsRequestTimes { elapsed = await uploader.timeSinceSent(lastReported) }
        guard spacing.isTooSoon(fix, at: clock.now, sinceRequest: elapsed) else { return true }
        observer.observe(.tooSoon(fix))
        return false
    }
}
