import GNSS
import TimeAndChance

/// The taking lane, from a fix to an accepted update: plausibility, privacy, motion, shape, policy, spacing, outbox.
extension ReportingState {
    mutating func take(_ fix: Fix, latest: UTCTime?, at now: Duration, _ step: inout Step) {
        let verdict = plausibility.judge(fix, latest: latest, after: motion.measured)
        if case .accepted(overrulesEarlier: true) = verdict {
            shape.forget()
            queue.overruleEarlier()
            deliver(.forgetUnstored, at: now, &step)
        }
        let isAccepted = if case .accepted = verdict { true } else { false }
        let isPublic = updatePrivateMode(at: now, &step) { $0.mayDisclose(fix, isAccepted: isAccepted, at: now) }
        guard isPublic else { return step.reports.append(.withheld) }
        if case .rejected(let rejection) = verdict { return step.reports.append(.rejected(fix, rejection)) }
        step.reports.append(.fix(fix))
        let filtered = motion.filtered(fix)
        if motion.contradictsReportedMotion { step.reports.append(.receiverWarning(.motionContradicted)) }
        policy.observe(filtered, motion.motion)
        shape.add(filtered, seenAt: fix)
        let mustReportShape = shape.isFull && policy.mayReport(filtered)
        guard policy.isDue(filtered) || mustReportShape else { return }
        if isTooSoon(filtered, at: now) { return step.reports.append(.tooSoon(fix)) }
        report(filtered, at: now, &step)
        storeNext(at: now, &step)
    }

    /// Queues an update with the position of `fix` and the shape points before it.
    private mutating func report(_ fix: Fix, at now: Duration, _ step: inout Step) {
        let update = LocationUpdate(fix)
        let points = shape.take()
        policy.didReport(fix)
        spacing.didReport(fix, at: now)
        lastReported = update
        let dropped = queue.keep(points + [update])
        reportDropped(dropped, &step)
        live = update
    }

    /// Whether an update of `fix` would follow the last request too soon.
    private func isTooSoon(_ fix: Fix, at now: Duration) -> Bool {
        var elapsed: Duration?
        if let lastReported, spacing.needsRequestTimes {
            elapsed = delivering.timeSinceSent(lastReported, at: now)
        }
        return spacing.isTooSoon(fix, at: now, sinceRequest: elapsed)
    }

    /// Applies `body` to the private mode. If private mode begins, everything derived from earlier positions is
    /// forgotten.
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
            shape.forget()
            live = nil
            step.reports.append(.privateModeBegan)
            deliver(.privateModeBegan, at: now, &step)
        case (true, false):
            step.reports.append(.privateModeEnded)
            deliver(.privateModeEnded(mayBePrivate: privateMode.mayBeInZone), at: now, &step)
        default: break
        }
        return answer
    }
}

/// The steps that store the queued updates in the outbox.
extension ReportingState {
    /// Starts an append of the live update, or of updates that the outbox did not accept. Does nothing while another
    /// append is in progress, because this is called again after that append.
    mutating func storeNext(at now: Duration, _ step: inout Step) {
        guard appending == nil, !privateMode.isPrivate, let updates = queue.takeNext(withNewest: live != nil) else {
            return
        }
        appending = Append(
            updates: updates, overrulesEarlier: queue.overrulesStored, generation: queue.generation,
            next: updates.last == live ? delivering.requestForAppend(at: now) : nil)
        step.append = appending
    }

    /// Handles the success of the append in progress.
    mutating func didAppend(_ appended: AppendedUpdate, at now: Duration, _ step: inout Step) {
        guard let append = appending else { return unexpected("appended", &step) }
        appending = nil
        if append.overrulesEarlier {
            deliver(.forgetUnstored, at: now, &step)
            queue.didOverrule(append.generation)
        }
        let first = appended.stored.sequence - Int64(append.updates.points.count)
        let points = zip(first..., append.updates.points).map(StoredUpdate.init)
        step.reports += (points + [appended.stored]).map(ReportingEvent.accepted)
        if append.updates.last == live {
            live = nil
            deliver(.updateStored(appended.next), at: now, &step)
        } else {
            deliver(.requeued, at: now, &step)
        }
        storeNext(at: now, &step)
    }

    /// Handles the failure of the append in progress. The updates of the append are kept, and a live update is sent
    /// from memory.
    mutating func didFailToAppend(_ error: OutboxError, at now: Duration, _ step: inout Step) {
        guard let append = appending else { return unexpected("appendFailed", &step) }
        appending = nil
        if queue.generation == append.generation {
            let dropped = queue.keep(failed: append.updates)
            reportDropped(dropped, &step)
        }
        guard let live else { return }
        self.live = nil
        step.reports.append(.notStored(live, error))
        deliver(.updateNotStored(live, overrulesStored: queue.overrulesStored), at: now, &step)
    }

    private func reportDropped(_ count: Int, _ step: inout Step) {
        if count > 0 { step.reports.append(.dropped(count: count)) }
    }

    private func unexpected(_ event: String, _ step: inout Step) {
        step.reports.append(.internalError(InternalError(event: event, phase: "no append")))
    }
}
