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

    /// Why no token can be asked for; `nil` if the context is complete.
    package var problem: AuthorizationError? {
        let id =
            switch subject {
            case .vehicle(let id, _), .trip(let id), .shipment(let id): id
            }
        return id.isEmpty ? AuthorizationError(.incompleteContext(self)) : nil
    }
}

/// Why there is no token.
///
/// A provider of your own throws one with a code and a message. `description`, which the library `Waypost` adds, says
/// what failed and what to do.
public struct AuthorizationError: Error, Sendable, Hashable {
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

    /// What happened; never a token or a credential.
    package let fault: TokenFault
    /// How long the issuer asked to wait.
    public let retryAfter: Duration?

    /// The kind of failure.
    public var code: Code { fault.code }

    /// An error of a provider, with a message for the operator. What looks like a secret in it is removed.
    public init(_ code: Code, _ message: String, retryAfter: Duration? = nil) {
        self.init(.reported(code, ReportedText(message, limit: ReportedText.longestSentence)), retryAfter: retryAfter)
    }

    package init(_ fault: TokenFault, retryAfter: Duration? = nil) {
        self.fault = fault
        self.retryAfter = retryAfter
    }
}
