package import TimeAndChance

/// The service that updates are delivered to: the port that `FleetEngineDelivery` implements.
///
/// A delivery has two steps. `prepare` asks for what a request needs, such as a token. Then the batch is chosen, so
/// that what arrived meanwhile leads it, and the permit delivers it.
package protocol Delivery: Sendable {
    /// Whether the service shows whether a vehicle is online.
    var hasPresence: Bool { get }

    /// Asks for what one request needs. It is called before every request and may take long.
    func prepare() async throws(DeliveryFault) -> any DeliveryPermit

    /// Reports the presence alone, without a position. It works while the network fails, as at a stop.
    ///
    /// - Throws: the reason if there is no permit.
    func announce(_ presence: Presence) async throws(DeliveryFault) -> DeliveryResult

    /// Forgets what is known of the network: it has just returned. Connections that may be dead aren't used again.
    func networkReturned() async
}

/// What `Delivery.prepare` has obtained for one request; opaque to the reporter.
package protocol DeliveryPermit: Sendable {
    /// Sends `batch` in one request. Cancelling the task ends the exchange at once; an answer that has arrived counts.
    ///
    /// - Parameters:
    ///   - batch: the updates.
    ///   - presence: the presence that goes with them; ignored if the service has none.
    ///   - seconds: the age of `batch.last` since it was first sent; `nil` if it never was.
    /// - Returns: what became of it.
    func deliver(
        _ batch: UploadBatch, as presence: Presence, secondsSinceFirstSent seconds: Int?
    ) async -> DeliveryResult
}

/// Whether a vehicle is at work.
package enum Presence: String, Sendable, Hashable, CaseIterable {
    case online, offline
    /// Unknown, and so not reported: the vehicle may be private.
    case unknown
}

/// What became of one request.
package struct DeliveryResult: Sendable, Hashable {
    package var outcome: DeliveryOutcome
    package var traffic: Traffic
    /// The service's clock, if its answer states it.
    package var serverTime: UTCTime?

    package init(_ outcome: DeliveryOutcome, traffic: Traffic = Traffic(), serverTime: UTCTime? = nil) {
        self.outcome = outcome
        self.traffic = traffic
        self.serverTime = serverTime
    }
}

/// What the result of a request means for the updates that it carried, and so what happens next.
package enum DeliveryOutcome: Sendable, Hashable {
    /// The service has them.
    case delivered
    /// The permit was rejected, and is used no longer: once more with a new one, then hold.
    case prepareAgain(DeliveryFault)
    /// This request will never be accepted as it is.
    case rejected(DeliveryFault)
    /// Something on the way rejects a request of this size: a smaller one goes first.
    case tooLarge(DeliveryFault)
    /// Will pass by itself: again after a backoff, and not before `after`.
    case retry(DeliveryFault, after: Duration?)
    /// Too much for the service: again after a backoff, not before `after`, and less often from then on.
    case throttled(DeliveryFault, after: Duration?)
    /// No answer came: the network path is interrupted, and may work again at any moment.
    case unanswered(DeliveryFault)
    /// Something else answered in the service's place, such as a captive portal: again after a backoff, or when the
    /// network changes.
    case intercepted(DeliveryFault)
    /// Waypost can't resolve it itself, such as an unknown vehicle: probe slowly, keep everything.
    case held(DeliveryFault)

    /// Whether it counts as an attempt that failed. A hold doesn't: nothing was wrong with the update or the network.
    package var isFailedAttempt: Bool {
        switch self {
        case .retry, .throttled, .unanswered, .intercepted, .tooLarge, .rejected: true
        case .delivered, .prepareAgain, .held: false
        }
    }

    /// What went wrong; `nil` if delivered.
    package var fault: DeliveryFault? {
        switch self {
        case .delivered: nil
        case .prepareAgain(let fault), .rejected(let fault), .tooLarge(let fault), .retry(let fault, _),
            .throttled(let fault, _), .unanswered(let fault), .intercepted(let fault), .held(let fault):
            fault
        }
    }
}

/// The bytes of a request and its answer, without TLS and TCP framing.
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
