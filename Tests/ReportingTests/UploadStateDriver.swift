import ReportedText
import Testing
import WaypostTestSupport

@testable import Reporting

/// Leads an upload state from one event to the next, on a time of its own, and remembers what it wants.
final class UploadStateDriver {

    /// What follows an answer.
    enum Course: Hashable {
        /// It waits for so long, or only for so long if the network returns now.
        case wait(Duration, withNetwork: Duration)
        case tell(UploadAction)
        case goOn

        static func wait(_ delay: Duration) -> Self { .wait(delay, withNetwork: delay) }
    }

    private(set) var state: UploadState
    private(set) var action: UploadAction?
    var now = Duration.zero

    init(
        backlogUpdatesPerSecond rate: Double? = nil, maximumPastLocations: Int = 50, heartbeat: Duration = .seconds(60),
        privacy: UploadPrivacy = .off
    ) {
        let settings = UploadSettings(
            maximumPastLocations: maximumPastLocations, backlogUpdatesPerSecond: rate, heartbeat: heartbeat)
        state = UploadState(settings, privacy: privacy, at: .zero)
    }

    private init(_ other: UploadStateDriver) {
        (state, action, now) = (other.state, other.action, other.now)
    }

    /// How long until something is due.
    var dueIn: Duration? { state.dueAt.map { $0 - now } }

    @discardableResult func take(_ event: UploadEvent, jitter: Double = 1) -> UploadStep {
        // Whoever delivers hears of it in between.
        if case .networkReturned = event { _ = state.handle(.networkReturning, at: now, jitter: jitter) }
        if case .updateStored = event { _ = state.requestForAppend(at: now) }
        let step = state.handle(event, at: now, jitter: jitter)
        for case .internalError(let error) in step.reports {
            Issue.record("\(error.event) came while \(error.phase)")
        }
        action = step.action ?? action
        return step
    }

    /// Tells that what is under way has succeeded, and lets time pass over every wait, until the outbox is to be read.
    func goOn() {
        for _ in 0..<100 {
            switch action {
            case nil: take(.started)
            case .readOutbox?: return
            case .wait?:
                now = max(now, state.dueAt ?? now)
                take(.timeReached)
            case .acknowledge?, .quarantine?: take(.resultRecorded(nil))
            default:
                Issue.record("it does not go on by itself: \(String(describing: action))")
                return
            }
        }
        Issue.record("it does not ask the outbox")
    }

    /// How many past locations the next upload may carry.
    var nextLimit: Int? {
        let next = UploadStateDriver(self)
        next.goOn()
        guard case .readOutbox(let request)? = next.action else { return nil }
        return request.withBacklog ? request.maximumPastLocations : 0
    }

    /// Goes on until what the outbox gives is sent; gives what goes out.
    @discardableResult func send(_ pending: UploadBatch?, newest: StoredUpdate? = nil) -> UploadBatch? {
        repeat {
            goOn()
            take(.outboxRead(pending, newest: newest))
        } while action == .wait
        take(.prepared)
        guard case .send(let batch, _)? = action else { return nil }
        return batch
    }

    /// Sends `batch`, and gives what follows an answer to it.
    func receive(
        _ outcome: DeliveryOutcome, to batch: UploadBatch, took: Duration = .zero, jitter: Double
    ) -> Course? {
        send(batch)
        now += took
        take(.answered(DeliveryResult(outcome)), jitter: jitter)
        return course
    }

    /// What the state wants now.
    var course: Course? {
        switch action {
        case .readOutbox?: return .goOn
        case .wait?:
            guard let dueIn else { return nil }
            let other = UploadStateDriver(self)
            other.take(.networkReturned)
            return .wait(dueIn, withNetwork: other.action == .wait ? other.dueIn ?? dueIn : .zero)
        case let action?: return .tell(action.withoutRequest)
        case nil: return nil
        }
    }
}

extension UploadAction {
    /// What is noted, whatever the outbox is asked for by the way.
    static func acknowledge(_ batch: UploadBatch) -> Self {
        .acknowledge(batch, next: BatchRequest(maximumPastLocations: 0, withBacklog: false))
    }

    var withoutRequest: Self { if case .acknowledge(let batch, _) = self { .acknowledge(batch) } else { self } }
}

extension UploadEvent {
    /// The outbox has answered; without a batch, `newest` is the newest that it ever accepted.
    static func outboxRead(_ batch: UploadBatch?, newest: StoredUpdate?) -> Self {
        .outboxRead(NextUpload(batch, newest: batch?.stored ?? newest))
    }

    /// No answer came.
    static func lost(_ cause: LostExchange.Cause, _ message: ReportedText, traffic: Traffic = Traffic()) -> Self {
        let fault = DeliveryFault.unanswered(LostExchange(cause, message, origin: "https://f.example"))
        let outcome: DeliveryOutcome = cause == .cancelled ? .retry(fault, after: nil) : .unanswered(fault)
        return .answered(DeliveryResult(outcome, traffic: traffic))
    }
}

extension StoredUpdate {
    /// The update of that second, with the same number.
    static func sample(_ sequence: Int64) -> Self {
        StoredUpdate(sequence: sequence, update: LocationUpdate(.sample(Double(sequence))))
    }
}

extension UploadBatch {
    /// Led by update 1000, behind it `past` others from number 1 on.
    static func sample(past: Int, lastIsPending: Bool = true) -> Self {
        UploadBatch(
            last: .sample(1000), lastIsPending: lastIsPending, past: (0..<past).map { .sample(Int64($0 + 1)) })
    }
}
