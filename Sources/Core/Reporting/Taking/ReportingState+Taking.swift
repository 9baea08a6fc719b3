import GNSS
import TimeAndRandomness

/// The taking lane, from a fix to an accepted update: plausibility, privacy, motion, shape, policy, spacing, outbox.
extension ReportingState {
    mutating func handleFix(_ fix: Fix, latest: UTCTime?, at now: Duration, _ step: inout Step) {
        let verdict = plausibility.judge(fix, latest: latest, after: motion.measured)
        if case .accepted(overrulesEarlier: true) = verdict {
            shapePoints.reset()
            queue.overruleEarlier()
            handleUpload(.forgetUnstored, at: now, &step)
        }
        let isAccepted = if case .accepted = verdict { true } else { false }
        let isPublic = updatePrivateMode(at: now, &step) { $0.mayDisclose(fix, isAccepted: isAccepted, at: now) }
        guard isPublic else { return step.reports.append(.withheld) }
        if case .rejected(let rejection) = verdict { return step.reports.append(.rejected(fix, rejection)) }
        step.reports.append(.fix(fix))
        let filtered = motion.filtered(fix)
        if motion.contradictsReportedMotion { step.reports.append(.receiverWarning(.motionContradicted)) }
        policy.observe(filtered, motion: motion.motion)
        shapePoints.add(filtered, rawFix: fix)
        let mustReportShape = shapePoints.makesUpdateDue && policy.mayReport(filtered)
        guard policy.isDue(filtered) || mustReportShape else { return }
        if isTooSoon(filtered, at: now) { return step.reports.append(.tooSoon(fix)) }
        queueUpdate(for: filtered, at: now, &step)
        storeNextUpdates(at: now, &step)
    }

    /// Queues an update with the position of `fix` and the shape points before it.
    private mutating func queueUpdate(for fix: Fix, at now: Duration, _ step: inout Step) {
        let update = LocationUpdate(fix)
        let points = shapePoints.takePoints()
        policy.didReport(fix)
        spacing.didReport(fix, at: now)
        lastReported = update
        let dropped = queue.add(points + [update])
        reportDropped(dropped, &step)
        liveUpdate = update
    }

    /// Whether an update of `fix` would follow the last request too soon.
    private func isTooSoon(_ fix: Fix, at now: Duration) -> Bool {
        var elapsed: Duration?
        if let lastReported, spacing.needsRequestTimes {
            elapsed = uploadState.timeSinceSent(lastReported, at: now)
        }
        return spacing.isTooSoon(fix, at: now, sinceRequest: elapsed)
    }

    /// Applies `body` to the private mode and returns its result. If private mode begins, everything derived from
    /// earlier positions is forgotten.
    @discardableResult
    mutating func updatePrivateMode<Answer>(
        at now: Duration, _ step: inout Step, _ body: (inout PrivateMode) -> Answer
    ) -> Answer {
        let wasPrivate = privateMode.isPrivate
        let answer = body(&privateMode)
        switch (wasPrivate, privateMode.isPrivate) {
        case (false, true):
            motion = MotionFilter()
            policy.reset()
            shapePoints.reset()
            liveUpdate = nil
            step.reports.append(.privateModeBegan)
            handleUpload(.privateModeBegan, at: now, &step)
        case (true, false):
            step.reports.append(.privateModeEnded)
            handleUpload(.privateModeEnded(mayBePrivate: privateMode.mayBeInZone), at: now, &step)
        default: break
        }
        return answer
    }
}

/// The steps that store the queued updates in the outbox.
extension ReportingState {
    /// Starts an append of the live update, or of updates that the outbox did not accept. Does nothing while another
    /// append is in progress, because this is called again after that append.
    mutating func storeNextUpdates(at now: Duration, _ step: inout Step) {
        guard appendInProgress == nil, !privateMode.isPrivate,
            let updates = queue.takeNext(withNewest: liveUpdate != nil)
        else {
            return
        }
        appendInProgress = Append(
            updates: updates, overrulesEarlier: queue.overrulesStored, generation: queue.generation,
            next: updates.last == liveUpdate ? uploadState.requestForAppend(at: now) : nil)
        step.append = appendInProgress
    }

    /// Handles the success of the append in progress.
    mutating func didAppend(_ appended: AppendResult, at now: Duration, _ step: inout Step) {
        guard let append = appendInProgress else { return reportUnexpected("appended", &step) }
        appendInProgress = nil
        if append.overrulesEarlier {
            handleUpload(.forgetUnstored, at: now, &step)
            queue.didOverrule(generation: append.generation)
        }
        let first = appended.stored.sequence - Int64(append.updates.points.count)
        let points = zip(first..., append.updates.points).map(StoredUpdate.init)
        step.reports += (points + [appended.stored]).map(ReportingEvent.accepted)
        if append.updates.last == liveUpdate {
            liveUpdate = nil
            handleUpload(.updateStored(appended.next), at: now, &step)
        } else {
            handleUpload(.requeued, at: now, &step)
        }
        storeNextUpdates(at: now, &step)
    }

    /// Handles the failure of the append in progress. The updates of the append are kept, and a live update is sent
    /// from memory.
    mutating func didFailToAppend(_ error: OutboxError, at now: Duration, _ step: inout Step) {
        guard let append = appendInProgress else { return reportUnexpected("appendFailed", &step) }
        appendInProgress = nil
        if queue.generation == append.generation {
            let dropped = queue.restore(failed: append.updates)
            reportDropped(dropped, &step)
        }
        guard let liveUpdate else { return }
        self.liveUpdate = nil
        step.reports.append(.notStored(liveUpdate, error))
        handleUpload(.updateNotStored(liveUpdate, overrulesStored: queue.overrulesStored), at: now, &step)
    }

    private func reportDropped(_ count: Int, _ step: inout Step) {
        if count > 0 { step.reports.append(.dropped(count: count)) }
    }

    private func reportUnexpected(_ event: String, _ step: inout Step) {
        step.reports.append(.internalError(InternalError(event: event, phase: "no append")))
    }
}
