import GNSS
import TimeAndRandomness

/// The state machine of a vehicle's reporter, which makes every decision: each event leads to reports and actions. This
/// type does no I/O.
///
/// Two lanes run concurrently. The taking lane turns fixes into updates and has the outbox store them, one append at a
/// time. The delivery lane sends the outbox's updates, one action at a time.
struct ReportingState: Sendable {
    enum Event: Sendable {
        /// The receiver has delivered a fix. `latest` is the maximum time that a fix can have.
        case fix(Fix, latest: UTCTime?)
        /// The reporter has read the private switch. `isPolled` says whether it reads the switch every second.
        case switchRead(isOn: Bool, exists: Bool, isPolled: Bool)
        /// The reporter must try again to store the updates that the outbox did not accept.
        case storingRetryRequested
        /// The append in progress has succeeded.
        case appended(AppendResult)
        case appendFailed(OutboxError)
        case upload(UploadEvent)
    }

    /// The updates and options of a single call to the outbox.
    struct Append: Sendable, Hashable {
        let updates: UpdateQueue.Append
        /// Whether all earlier updates were wrong.
        let overrulesEarlier: Bool
        /// The queue's `generation` at the start of the append.
        let generation: Int
        let next: BatchRequest?
    }

    /// The consequences of an event: the reports to the observer, in order, and the next action of each lane. A lane
    /// without a next action continues its action in progress.
    struct Step: Sendable {
        var reports: [ReportingEvent] = []
        var append: Append?
        var delivery: UploadAction?
    }

    var plausibility: Plausibility
    var motion = MotionFilter()
    var shapePoints: ShapePoints
    var policy: ReportingPolicy
    var spacing: RequestSpacing
    var privateMode: PrivateMode
    var queue = UpdateQueue()
    /// The last update made from a fix; `nil` before the first update.
    var lastReported: LocationUpdate?
    /// The newest update until its first append has ended; then `nil`.
    var liveUpdate: LocationUpdate?
    /// The append in progress; `nil` if there is none.
    var appendInProgress: Append?
    var uploadState: UploadState

    /// - Parameters:
    ///   - settings: the vehicle's settings.
    ///   - hasPresence: whether the service records a vehicle's presence.
    ///   - now: the current time, which starts the first heartbeat interval.
    init(_ settings: ReportingSettings, hasPresence: Bool, at now: Duration) {
        plausibility = settings.plausibility
        shapePoints = settings.shape
        policy = settings.policy
        spacing = settings.spacing
        privateMode = settings.privateMode
        uploadState = UploadState(
            settings.upload, hasPresence: hasPresence, privacy: settings.privateMode.mayBeInZone ? .unknown : .off,
            at: now)
    }

    /// Handles an event that has occurred at `now`, and returns its consequences. `jitter` is a random number in 0...1,
    /// evaluated only if a wait may begin.
    mutating func handle(_ event: Event, at now: Duration, jitter: @autoclosure () -> Double) -> Step {
        var step = Step()
        switch event {
        case .fix(let fix, let latest): handleFix(fix, latest: latest, at: now, &step)
        case .switchRead(let isOn, let exists, let isPolled):
            updatePrivateMode(at: now, &step) { mode in
                mode.observe(isSwitchedOn: isOn, at: exists ? now : nil, isPolled: isPolled)
            }
        case .storingRetryRequested: storeNextUpdates(at: now, &step)
        case .appended(let appended): didAppend(appended, at: now, &step)
        case .appendFailed(let error): didFailToAppend(error, at: now, &step)
        case .upload(let event): handleUpload(event, at: now, jitter: jitter(), &step)
        }
        return step
    }

    /// Passes an event to the delivery lane.
    mutating func handleUpload(
        _ event: UploadEvent, at now: Duration, jitter: @autoclosure () -> Double = 1, _ step: inout Step
    ) {
        let delivery = uploadState.handle(event, at: now, jitter: jitter())
        step.reports += delivery.reports
        step.delivery = delivery.action ?? step.delivery
    }
}

/// The settings for a vehicle's reporter.
package struct ReportingSettings: Sendable {
    package var plausibility: Plausibility
    package var shape: ShapePoints
    package var policy: ReportingPolicy
    package var spacing: RequestSpacing
    package var privateMode: PrivateMode
    package var upload: UploadSettings

    package init(
        plausibility: Plausibility = Plausibility(earliest: nil),
        shape: ShapePoints = ShapePoints(toleranceMeters: 5),
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
