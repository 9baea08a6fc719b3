import GNSS
package import TimeAndChance

/// From fixes to accepted updates: plausibility, motion, shape, policy, spacing, outbox.
package actor LocationIntake {
    private var plausibility: Plausibility
    private var motion = MotionFilter()
    private var shape: ShapePoints
    private var policy: ReportingPolicy
    private var spacing: RequestSpacing
    private var privateMode: PrivateMode
    /// How its switch stands; `nil` where there is none.
    private let privateSwitch: PrivateSwitch?
    private var lastReported: LocationUpdate?
    private var unstored = UnstoredUpdates()
    /// The newest of these while it waits for its first append.
    private var live: LocationUpdate?
    private var isStoring = false
    private let outbox: any Outbox
    private let uploader: Uploader
    private let clock: MonotonicClock
    private let latestTime: @Sendable () -> UTCTime?
    private let observer: any ReportingObserver

    /// `latestTime`: the latest time of fix that can be true; `nil` while nothing trustworthy knows the present.
    package init(
        plausibility: Plausibility, shape: ShapePoints, policy: ReportingPolicy, spacing: RequestSpacing,
        privateMode: PrivateMode = PrivateMode(zones: []), privateSwitch: PrivateSwitch? = nil, outbox: any Outbox,
        uploader: Uploader, clock: MonotonicClock, latestTime: @escaping @Sendable () -> UTCTime?,
        observer: any ReportingObserver
    ) {
        self.plausibility = plausibility
        (self.shape, self.policy, self.spacing) = (shape, policy, spacing)
        (self.privateMode, self.privateSwitch) = (privateMode, privateSwitch)
        self.outbox = outbox
        self.uploader = uploader
        self.clock = clock
        self.latestTime = latestTime
        self.observer = observer
    }

    /// Sees how the private switch stands; also while no fix comes, for the last position is not to be repeated then.
    ///
    /// `isWatching`: the caller does so each second, whether fixes come or not.
    package func lookAtSwitch(isWatching: Bool = false) async {
        let isOn = await privateSwitch?() ?? false
        let now = privateSwitch == nil ? nil : clock.now
        await change { $0.observe(isSwitchedOn: isOn, at: now, isWatched: isWatching) }
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
        if privateSwitch != nil { await lookAtSwitch() }
        let verdict = plausibility.judge(fix, latest: latestTime(), after: motion.measured)
        if case .accepted(overrulesEarlier: true) = verdict {
            shape.forget()
            unstored.overruleEarlier()
            await uploader.forgetUnstored()
        }
        let now = clock.now
        let isTold = await change { $0.tells(fix, isAccepted: verdict.isAcceptance, at: now) }
        guard isTold else { return observer.observe(.withheld) }
        if case .refused(let refusal) = verdict { return observer.observe(.refused(fix, refusal)) }
        observer.observe(.fix(fix))
        let filtered = motion.filtered(fix)
        if motion.contradictsStated { observer.observe(.receiverWarning(.motionContradicted)) }
        policy.observe(filtered, motion.motion)
        shape.add(filtered, seenAt: fix)
        guard policy.isDue(filtered) || shape.isFull && policy.mayReport(filtered), await isFarEnough(filtered)
        else { return }
        let (update, points) = (LocationUpdate(filtered), shape.take())
        policy.didReport(filtered)
        spacing.didReport(filtered, at: clock.now)
        lastReported = update
        unstored.keep(points + [update])
        live = update
        try? await store()  // what fails is reported
    }

    /// Stores what the outbox did not accept before; also while no fix comes.
    package func storeUnstored() async throws(OutboxError) { try await store() }

    /// Whether the outbox has accepted every update.
    package var hasStoredAll: Bool { !isStoring && unstored.isEmpty }

    /// Stores the live position and all that the outbox did not accept before, one append at a time. A call that comes
    /// meanwhile leaves its position to the one in progress.
    private func store() async throws(OutboxError) {
        guard !isStoring else { return }
        isStoring = true
        defer { isStoring = false }
        while !privateMode.isPrivate, let append = unstored.takeNext(withNewest: live != nil) {
            do throws(OutboxError) {
                let batch = try await store(append)
                if append.last == live {
                    live = nil
                    await uploader.wake(for: batch)
                } else {
                    await uploader.storedEarlier()
                }
            } catch {
                if let live {
                    self.live = nil
                    observer.observe(.notStored(live, error))
                    await uploader.offer(unstored: live, overrulingStored: unstored.overrulesStored)
                }
                throw error
            }
        }
    }

    /// Stores an append, or keeps it in memory.
    private func store(_ append: UnstoredUpdates.Append) async throws(OutboxError) -> UploadBatch {
        let overrules = unstored.overrulesStored
        let generation = unstored.generation
        let stored: StoredUpdate
        do throws(OutboxError) {
            stored = try await outbox.append(append.last, with: append.points, overrulingEarlier: overrules)
        } catch {
            if unstored.generation == generation { unstored.keep(failed: append) }
            throw error
        }
        if overrules {
            await uploader.forgetUnstored()
            unstored.didOverrule(generation)
        }
        let first = stored.sequence - Int64(append.points.count)
        let past = zip(first..., append.points).map(StoredUpdate.init)
        for accepted in past + [stored] { observer.observe(.accepted(accepted)) }
        return UploadBatch(last: stored, lastIsPending: true, past: past)
    }

    /// Tells when the vehicle becomes private or is so no more. What is told after that begins anew, as at a start.
    private func change<Answer>(_ body: (inout PrivateMode) -> Answer) async -> Answer {
        let wasPrivate = privateMode.isPrivate
        let answer = body(&privateMode)
        switch (wasPrivate, privateMode.isPrivate) {
        case (false, true):
            motion = MotionFilter()
            policy.beginAnew()
            shape.forget()
            live = nil
            observer.observe(.privateModeBegan)
            await uploader.privateModeBegan()
        case (true, false):
            observer.observe(.privateModeEnded)
            await uploader.privateModeEnded(mayBePrivate: privateMode.mayBeInZone)
        default: break
        }
        return answer
    }

    /// Whether `fix` does not follow the last request too soon.
    private func isFarEnough(_ fix: Fix) async -> Bool {
        var elapsed: Duration?
        if let lastReported, spacing.needsRequestTimes {
            elapsed = await uploader.timeSinceSent(lastReported)
        }
        guard spacing.isTooSoon(fix, at: clock.now, sinceRequest: elapsed) else { return true }
        observer.observe(.tooSoon(fix))
        return false
    }
}

/// Whether the switch by which a vehicle is private is on at this moment.
package typealias PrivateSwitch = @Sendable () async -> Bool

extension FixVerdict {
    fileprivate var isAcceptance: Bool { if case .accepted = self { true } else { false } }
}
