import GNSS
import TimeAndChance

/// All that the reporter knows of a vehicle, and every decision of it. An event goes in; reports and actions come out.
/// Pure.
///
/// Two lanes run side by side. The taking lane makes updates of fixes and has the outbox store them, one append at a
/// time. The delivering lane sends what the outbox holds, one action at a time.
struct ReportingState: Sendable {
    /// What happens.
    enum Event: Sendable {
        /// A fix has come; `latest`: the latest time that can be true.
        case fix(Fix, latest: UTCTime?)
        /// The private switch has been looked at. `isWatched`: that happens every second.
        case switchSeen(isOn: Bool, isThere: Bool, isWatched: Bool)
        /// It is time to store what the outbox did not accept before.
        case storeAgain
        /// How an append ended.
        case appended(AppendedUpdate)
        case appendFailed(OutboxError)
        /// An event of the delivering lane.
        case delivering(UploadEvent)
    }

    /// Updates for a single call of the outbox.
    struct Append: Sendable, Hashable {
        let updates: UpdateQueue.Append
        /// Whether all earlier updates were wrong.
        let overrulesEarlier: Bool
        /// How often all earlier updates had been found wrong by then.
        let generation: Int
        let next: BatchRequest?
    }

    /// What follows from an event: reports for the observer in this order, then an action of each lane. Without one,
    /// whatever the lane has in progress continues.
    struct Step: Sendable {
        var reports: [ReportingEvent] = []
        var append: Append?
        var delivery: UploadAction?
    }

    var plausibility: Plausibility
    var motion = MotionFilter()
    var shape: ShapePoints
    var policy: ReportingPolicy
    var spacing: RequestSpacing
    var privateMode: PrivateMode
    var queue = UpdateQueue()
    /// The update that was made last.
    var lastReported: LocationUpdate?
    /// The newest update while it waits for its first append.
    var live: LocationUpdate?
    /// The append in progress.
    var appending: Append?
    var delivering: UploadState

    /// `now`: the heartbeat counts from here until something is delivered.
    init(_ settings: ReportingSettings, hasPresence: Bool, at now: Duration) {
        plausibility = settings.plausibility
        shape = settings.shape
        policy = settings.policy
        spacing = settings.spacing
        privateMode = settings.privateMode
        delivering = UploadState(
            settings.upload, hasPresence: hasPresence, privacy: settings.privateMode.mayBeInZone ? .unknown : .open,
            at: now)
    }

    /// Handles what has happened at `now`, and returns what follows; `jitter` draws from 0...1 when a wait may begin.
    mutating func handle(_ event: Event, at now: Duration, jitter: @autoclosure () -> Double) -> Step {
        var step = Step()
        switch event {
        case .fix(let fix, let latest): take(fix, latest: latest, at: now, &step)
        case .switchSeen(let isOn, let isThere, let isWatched):
            change(at: now, &step) { mode in
                mode.observe(isSwitchedOn: isOn, at: isThere ? now : nil, isWatched: isWatched)
            }
        case .storeAgain: storeNext(at: now, &step)
        case .appended(let appended): self.appended(appended, at: now, &step)
        case .appendFailed(let error): appendFailed(error, at: now, &step)
        case .delivering(let event): deliver(event, at: now, jitter: jitter(), &step)
        }
        return step
    }

    /// Passes an event on to the delivering lane.
    mutating func deliver(
        _ event: UploadEvent, at now: Duration, jitter: @autoclosure () -> Double = 1, _ step: inout Step
    ) {
        let delivery = delivering.handle(event, at: now, jitter: jitter())
        step.reports += delivery.reports
        step.delivery = delivery.action ?? step.delivery
    }
}

/// What the reporter needs to know of a vehicle.
package struct ReportingSettings: Sendable {
    package var plausibility: Plausibility
    package var shape: ShapePoints
    package var policy: ReportingPolicy
    package var spacing: RequestSpacing
    package var privateMode: PrivateMode
    package var upload: UploadSettings

    package init(
        plausibility: Plausibility = Plausibility(earliest: nil), shape: ShapePoints = ShapePoints(meters: 5),
        policy: ReportingPolicy = ReportingPolicy(.interval(.seconds(10)), heartbeat: .seconds(60)),
        spacing: RequestSpacing = .live, privateMode: PrivateMode = PrivateMode(zones: []),
        upload: UploadSettings = UploadSettings()
    ) {
        self.plausibility = plausibility
        self.shape = shape
        self.policy = policy
        self.spacing = spacing
        self.privateMode = privateMode
        self.upload = upload
    }
}
