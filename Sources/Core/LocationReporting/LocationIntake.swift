package import GNSS

/// From fixes to accepted updates: plausibility, policy, outbox.
package actor LocationIntake {
    private var plausibility: Plausibility
    private var policy: ReportingPolicy
    private let outbox: any Outbox
    private let uploader: Uploader
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

    /// Takes what a source tells.
    package func take(_ event: FixSourceEvent) async {
        switch event {
        case .state(let state): observer.observe(.receiver(state))
        case .progress(let bytesRead, let totalBytes):
            observer.observe(.progress(bytesRead: bytesRead, totalBytes: totalBytes))
        case .fix(let fix): await take(fix)
        }
    }

    private func take(_ fix: Fix) async {
        if let refusal = plausibility.judge(fix, latest: latestTime()) {
            observer.observe(.refused(fix, refusal))
            return
        }
        observer.observe(.fix(fix))
        guard policy.isDue(fix) else { return }
        let update = LocationUpdate(fix)
        do {
            let stored = try await outbox.append(update)
            observer.observe(.accepted(stored))
            uploader.wake()
        } catch {
            observer.observe(.notStored(error))
            await uploader.offer(unstored: update)
        }
    }
}
