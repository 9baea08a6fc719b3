import FleetEngine
import HTTPMessages
import Testing
import VehicleAuthorization
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

    static let token = AuthorizationToken(value: "t", lifetime: nil)
    private(set) var state: UploadState
    private(set) var action: UploadAction?
    var now = Duration.zero

    init(
        backlogUpdatesPerSecond rate: Double? = nil, maximumPastLocations: Int = 50, heartbeat: Duration = .seconds(60),
        privacy: UploadPrivacy = .open, endpoint: String = "http://127.0.0.1:1"
    ) throws {
        let settings = UploadSettings(
            vehicle: try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v"),
            endpoint: try HTTPURL(endpoint), state: .online, maximumPastLocations: maximumPastLocations,
            backlogUpdatesPerSecond: rate, heartbeat: heartbeat)
        state = UploadState(settings, privacy: privacy, at: .zero)
    }

    /// Begins where `former` has ended.
    func succeed(_ former: UploadStateDriver) {
        now = former.now
        state.succeed(former.state)
    }

    private init(_ other: UploadStateDriver) {
        (state, action, now) = (other.state, other.action, other.now)
    }

    /// How long until something is due.
    var dueIn: Duration? { state.dueAt.map { $0 - now } }

    @discardableResult func take(_ event: UploadEvent, jitter: Double = 1) -> UploadStep {
        let step = state.handle(event, at: now, jitter: jitter)
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
            case .acknowledge?, .quarantine?, .discardToken?: take(.told)
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
        guard case .readOutbox(let limit, let withBacklog, _)? = next.action else { return nil }
        return withBacklog ? limit : 0
    }

    /// Goes on until what the outbox gives is sent; gives what goes out.
    @discardableResult func send(_ pending: UploadBatch?, newest: StoredUpdate? = nil) -> UploadBatch? {
        repeat {
            goOn()
            take(.outboxRead(pending, newest: newest))
        } while action == .wait
        take(.tokenReceived(Self.token))
        guard case .send(let batch, _, _)? = action else { return nil }
        return batch
    }

    /// Sends `batch`, and gives what follows an answer to it.
    func receive(
        _ outcome: UploadOutcome, to batch: UploadBatch, took: Duration = .zero, jitter: Double
    ) -> Course? {
        send(batch)
        now += took
        take(.answered(outcome, traffic: HTTPTraffic()), jitter: jitter)
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
        case let action?: return .tell(action)
        case nil: return nil
        }
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
