import ReportedText

/// Gives the token that authorizes one request to Fleet Engine, for a vehicle's update or a trip's reading: the port in
/// the shape of the Driver SDK's `GMTDAuthorization` and the Consumer SDK's `GMTCAuthorization`.
///
/// It is asked at every request, from any task. A provider need not cache: `CachedAuthorization` puts the rules of
/// reuse around any provider.
public protocol VehicleAuthorization: Sendable {
    /// A token for the vehicle, trip or shipment that `context` names, with at least five minutes of life left where
    /// its issuer gives that much now.
    func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken

    /// Reports that Fleet Engine rejected `token`: it must not be handed out again.
    func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async

    /// Tells that the network has come back: an issuer that could not be reached may be asked again at once.
    func networkReturned() async

    /// Tells that what was asked for so far is out of date, as when a driver has signed out or in: a token that comes
    /// of it must not be handed out for a request that is made from now on.
    func forgetTokens() async
}

extension VehicleAuthorization {
    /// Does nothing: a provider that keeps no tokens has none to drop.
    public func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async {}

    /// Does nothing: a provider that remembers no failure has none to forget.
    public func networkReturned() async {}

    /// Does nothing: a provider that asks at each request has nothing to forget.
    public func forgetTokens() async {}
}

/// What a token is asked for; the counterpart of `GMTDAuthorizationContext` and, for a trip,
/// `GMTCAuthorizationContext`.
public struct AuthorizationContext: Sendable, Hashable, CustomStringConvertible {
    /// Whom or what the token lets its holder act for; the ids are those that Fleet Engine knows.
    public enum Subject: Sendable, Hashable {
        /// A driver's token, to report one vehicle. Only scheduled tasks of trusted drivers name a task.
        case vehicle(id: String, taskID: String?)
        /// A consumer's token, to follow one trip.
        case trip(id: String)
        /// A consumer's token, to follow the tasks of one shipment.
        case shipment(trackingID: String)
    }

    /// Whom or what it is for.
    public let subject: Subject

    /// A driver's context, for one vehicle.
    public init(vehicleID: String, taskID: String? = nil) { subject = .vehicle(id: vehicleID, taskID: taskID) }

    /// A consumer's context, for one trip.
    public init(tripID: String) { subject = .trip(id: tripID) }

    /// A consumer's context, for one shipment of scheduled tasks.
    public init(trackingID: String) { subject = .shipment(trackingID: trackingID) }

    /// The vehicle's id; empty in a consumer's context, so that a provider of drivers' tokens finds no vehicle there.
    public var vehicleID: String { if case .vehicle(let id, _) = subject { id } else { "" } }

    /// The task's id; `nil` when the context names none.
    public var taskID: String? { if case .vehicle(_, let taskID) = subject { taskID } else { nil } }

    /// The trip's id; `nil` unless the context is one of a trip.
    public var tripID: String? { if case .trip(let id) = subject { id } else { nil } }

    /// The tracking id; `nil` unless the context is one of a shipment.
    public var trackingID: String? { if case .shipment(let id) = subject { id } else { nil } }

    /// As it stands in messages: `vehicle van-7`.
    public var description: String {
        switch subject {
        case .vehicle(let id, nil): "vehicle \(id)"
        case .vehicle(let id, let taskID?): "vehicle \(id), task \(taskID)"
        case .trip(let id): "trip \(id)"
        case .shipment(let trackingID): "shipment \(trackingID)"
        }
    }

    /// What is missing in the context; `nil` when it is complete.
    package var problem: AuthorizationError? {
        switch subject {
        case .vehicle(let id, _) where id.isEmpty:
            AuthorizationError(.missingContext, "a token was asked for without a vehicle id; set vehicle.vehicleId")
        case .trip(let id) where id.isEmpty:
            AuthorizationError(.missingContext, "a token was asked for without a trip id")
        case .shipment(let trackingID) where trackingID.isEmpty:
            AuthorizationError(.missingContext, "a token was asked for without a tracking id")
        case .vehicle, .trip, .shipment: nil
        }
    }
}

/// Why there is no token.
public struct AuthorizationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it was.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The context names no vehicle.
        case missingContext
        /// The issuer could not be reached or did not answer in time.
        case unavailable
        /// The issuer answered and rejected the request.
        case refused
        /// The issuer's answer holds no usable token.
        case unusableAnswer
        /// The provider is set up wrongly: a file that cannot be read, a program that cannot be started.
        case misconfigured
        /// The asking task was cancelled.
        case cancelled
    }

    /// The kind of failure.
    public let code: Code
    /// What was asked, what came, what to change; never a token or a credential.
    public let detail: String
    /// How long the issuer asked to wait.
    public let retryAfter: Duration?

    /// An error with its words for the operator; what looks like a secret in them is struck out.
    public init(_ code: Code, _ detail: String, retryAfter: Duration? = nil) {
        self.code = code
        self.retryAfter = retryAfter
        self.detail = ReportedText(detail, limit: ReportedText.longestSentence).description
    }

    /// The words for the operator.
    public var description: String { detail }
}
