package import TimeAndRandomness

/// The service that updates are delivered to. `FleetEngineDelivery` implements this protocol.
///
/// A delivery has two steps. First `prepare` obtains a permit, which may contain a token. Only then does the reporter
/// make the final choice of the batch to deliver with it. A position that arrived in between can thus lead the batch.
package protocol Delivery: Sendable {
    /// Whether the service records a vehicle's presence.
    var hasPresence: Bool { get }

    /// Obtains and returns a permit for one request. The reporter calls this before every request. The call may take
    /// long.
    func prepare() async throws(DeliveryFault) -> any DeliveryPermit

    /// Reports the presence without a position, and returns the result. This also works in a cancelled task, such as at
    /// shutdown.
    ///
    /// - Throws: the reason why no permit could be obtained.
    func announce(_ presence: Presence) async throws(DeliveryFault) -> DeliveryResult

    /// Notifies the service's client that the network has returned. Connections that may be dead aren't used again.
    func networkReturned() async
}

/// The permission to send one request, such as a token; opaque to the reporter.
package protocol DeliveryPermit: Sendable {
    /// Sends `batch` in one request. Cancelling the task aborts the exchange, but an answer that has arrived is still
    /// returned.
    ///
    /// - Parameters:
    ///   - batch: the updates.
    ///   - presence: the presence to send with the updates; ignored if the service doesn't record a presence.
    ///   - seconds: the seconds since `batch.last` was first sent; `nil` if it has never been sent.
    /// - Returns: the result of the request.
    func deliver(
        _ batch: UploadBatch, as presence: Presence, secondsSinceFirstSent seconds: Int?
    ) async -> DeliveryResult
}

/// The presence of a vehicle: in service or not.
package enum Presence: String, Sendable, Hashable, CaseIterable {
    case online, offline
    /// The presence is not reported, because the vehicle may be private.
    case unknown
}

/// The result of one request.
package struct DeliveryResult: Sendable, Hashable {
    package var outcome: DeliveryOutcome
    package var traffic: Traffic
    /// The time of the service's clock, as reported in the answer; `nil` if the answer contains no time.
    package var serverTime: UTCTime?

    package init(_ outcome: DeliveryOutcome, traffic: Traffic = Traffic(), serverTime: UTCTime? = nil) {
        self.outcome = outcome
        self.traffic = traffic
        self.serverTime = serverTime
    }
}

/// The outcome of a request. The outcome decides what happens to the updates, and what the reporter does next.
package enum DeliveryOutcome: Sendable, Hashable {
    /// The service has accepted the updates.
    case delivered
    /// The permit was rejected. The reporter retries once with a new permit; after that, delivery is on hold.
    case prepareAgain(DeliveryFault)
    /// The service will never accept this request as it is.
    case rejected(DeliveryFault)
    /// An intermediary rejects requests of this size. The reporter sends a smaller request.
    case tooLarge(DeliveryFault)
    /// The fault is temporary. The reporter retries after a backoff, but not before `after` has passed.
    case retry(DeliveryFault, after: Duration?)
    /// There were too many requests. The reporter retries as it does after `retry`, but leaves more time between
    /// requests from then on.
    case throttled(DeliveryFault, after: Duration?)
    /// There was no answer. The network path is probably interrupted, but may work again at any moment.
    case unanswered(DeliveryFault)
    /// Another server answered, such as a captive portal. The reporter retries after a backoff, or when the network
    /// changes.
    case intercepted(DeliveryFault)
    /// Waypost can't resolve the fault itself, such as an unknown vehicle. The reporter keeps all updates, and tries
    /// again at long intervals.
    case held(DeliveryFault)

    /// Whether the outcome is a failed attempt. A hold doesn't count as a failed attempt, because neither the updates
    /// nor the network were at fault.
    package var isFailedAttempt: Bool {
        switch self {
        case .retry, .throttled, .unanswered, .intercepted, .tooLarge, .rejected: true
        case .delivered, .prepareAgain, .held: false
        }
    }

    /// The fault; `nil` if the updates were delivered.
    package var fault: DeliveryFault? {
        switch self {
        case .delivered: nil
        case .prepareAgain(let fault), .rejected(let fault), .tooLarge(let fault), .retry(let fault, _),
            .throttled(let fault, _), .unanswered(let fault), .intercepted(let fault), .held(let fault):
            fault
        }
    }
}

/// The sizes of a request and its answer, without TLS and TCP framing.
package struct Traffic: Sendable, Hashable {
    package var bytesSent: Int
    package var bytesReceived: Int

    package init(bytesSent: Int = 0, bytesReceived: Int = 0) {
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
    }

    package static func += (sum: inout Self, other: Self) {
        sum.bytesSent += other.bytesSent
        sum.bytesReceived += other.bytesReceived
    }
}
