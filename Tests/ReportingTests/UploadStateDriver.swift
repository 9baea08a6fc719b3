import ReportedText
import Testing
import WaypostTestSupport

@testable import Reporting

/// A driver that moves an upload state from event to event in simulated time, and records its next action.
final class UploadStateDriver {
    /// The step after an answer.
    enum NextStep: Hashable {
        /// The state waits for the given time, or for `withNetwork` if the network returns now.
        case wait(Duration, withNetwork: Duration)
        case perform(UploadAction)
        /// The state reads the outbox for the next upload.
        case readNext

        static func wait(_ delay: Duration) -> Self { .wait(delay, withNetwork: delay) }
    }

    private(set) var state: UploadState
    private(set) var action: UploadAction?
    var now = Duration.zero

    init(
        backlogUpdatesPerSecond rate: Double? = nil, maximumPastLocations: Int = 50, heartbeat: Duration = .seconds(60),
        timeLimit: Duration = .seconds(15), privacy: UploadPrivacy = .off
    ) {
        let settings = UploadSettings(
            timeLimit: timeLimit, maximumPastLocations: maximumPastLocations, backlogUpdatesPerSecond: rate,
            heartbeat: heartbeat)
        state = UploadState(settings, privacy: privacy, at: .zero)
    }

    private init(_ other: UploadStateDriver) {
        state = other.state
        action = other.action
        now = other.now
    }

    var dueIn: Duration? { state.dueAt.map { $0 - now } }

    @discardableResult func handle(_ event: UploadEvent, jitter: Double = 1) -> UploadStep {
        // The reporter passes this event first.
        if case .networkReturned = event { _ = state.handle(.willNotifyOfNetworkReturn, at: now, jitter: jitter) }
        if case .updateStored = event { _ = state.requestForAppend(at: now) }
        let step = state.handle(event, at: now, jitter: jitter)
        for case .internalError(let error) in step.reports {
            Issue.record("unexpected event \(error.event) in phase \(error.phase)")
        }
        action = step.action ?? action
        return step
    }

    /// Completes the action in progress and lets time pass over every wait, until the state reads the outbox.
    func runToNextRead() {
        for _ in 0..<100 {
            switch action {
            case nil: handle(.started)
            case .readOutbox?: return
            case .wait?:
                now = max(now, state.dueAt ?? now)
                handle(.timeReached)
            case .acknowledge?, .quarantine?: handle(.resultRecorded(nil))
            default:
                Issue.record("the action needs a result: \(String(describing: action))")
                return
            }
        }
        Issue.record("the outbox is not read")
    }

    /// The number of past locations that the next upload may carry.
    var nextLimit: Int? {
        let next = UploadStateDriver(self)
        next.runToNextRead()
        guard case .readOutbox(let request)? = next.action else { return nil }
        return request.withBacklog ? request.maximumPastLocations : 0
    }

    /// Continues until the outbox's updates are sent. Returns the batch that is sent.
    @discardableResult func send(_ pending: UploadBatch?, newest: StoredUpdate? = nil) -> UploadBatch? {
        repeat {
            runToNextRead()
            handle(.outboxRead(pending, newest: newest))
        } while action == .wait
        handle(.prepared)
        guard case .send(let batch, _)? = action else { return nil }
        return batch
    }

    /// Sends `batch`, answers it with `outcome`, and returns the next step.
    func receive(
        _ outcome: DeliveryOutcome, to batch: UploadBatch, took: Duration = .zero, jitter: Double
    ) -> NextStep? {
        send(batch)
        now += took
        handle(.answered(DeliveryResult(outcome)), jitter: jitter)
        return nextStep
    }

    var nextStep: NextStep? {
        switch action {
        case .readOutbox?: return .readNext
        case .wait?:
            guard let dueIn else { return nil }
            let other = UploadStateDriver(self)
            other.handle(.networkReturned)
            return .wait(dueIn, withNetwork: other.action == .wait ? other.dueIn ?? dueIn : .zero)
        case let action?: return .perform(action.withoutRequest)
        case nil: return nil
        }
    }
}

extension UploadAction {
    /// Returns an acknowledgement with a fixed request, so that acknowledgements compare equal whatever their requests.
    static func acknowledge(_ batch: UploadBatch) -> Self {
        .acknowledge(batch, next: BatchRequest(maximumPastLocations: 0, withBacklog: false))
    }

    var withoutRequest: Self { if case .acknowledge(let batch, _) = self { .acknowledge(batch) } else { self } }
}

extension UploadEvent {
    /// Returns the outbox's answer. Without a batch, `newest` is the newest update ever accepted.
    static func outboxRead(_ batch: UploadBatch?, newest: StoredUpdate?) -> Self {
        .outboxRead(NextUpload(batch, newest: batch?.stored ?? newest))
    }

    static func lost(_ cause: LostExchange.Cause, _ message: ReportedText, traffic: Traffic = Traffic()) -> Self {
        let fault = DeliveryFault.unanswered(LostExchange(cause, message, origin: "https://f.example"))
        let outcome: DeliveryOutcome = cause == .cancelled ? .retry(fault, after: nil) : .unanswered(fault)
        return .answered(DeliveryResult(outcome, traffic: traffic))
    }
}

extension StoredUpdate {
    /// Returns the update of second `sequence`, with `sequence` as its number.
    static func sample(_ sequence: Int64) -> Self {
        StoredUpdate(sequence: sequence, update: LocationUpdate(.sample(Double(sequence))))
    }
}

extension UploadBatch {
    /// Returns a batch that is led by update 1000, with `past` past locations from number 1.
    static func sample(past: Int, lastIsPending: Bool = true) -> Self {
        UploadBatch(
            last: .sample(1000), lastIsPending: lastIsPending, past: (0..<past).map { .sample(Int64($0 + 1)) })
    }
}
