import ReportedText

/// A provider of tokens for requests to Fleet Engine, which update a vehicle or read a trip. This port corresponds to
/// the Driver SDK's `GMTDAuthorization` and the Consumer SDK's `GMTCAuthorization`.
///
/// A provider may be asked for a token at any request, from any task. It needs no cache, because `CachedAuthorization`
/// adds caching to every provider.
public protocol VehicleAuthorization: Sendable {
    /// Returns a token for the vehicle, trip or shipment in `context`, with a remaining lifetime of at least five
    /// minutes if the issuer allows that.
    func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken

    /// Notifies the provider that Fleet Engine has rejected `token`, which must not be handed out again.
    func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async

    /// Notifies the provider that the network has returned, so that an unreachable issuer may be asked again at once.
    func networkReturned() async

    /// Notifies the provider that earlier tokens are outdated, for example because a driver has signed out or in. Those
    /// tokens must not be handed out for later requests.
    func forgetTokens() async
}

extension VehicleAuthorization {
    /// Does nothing, because a provider without a cache has nothing to drop.
    public func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async {}

    /// Does nothing, because a provider without memory of failures has nothing to forget.
    public func networkReturned() async {}

    /// Does nothing, because a provider that keeps no tokens has nothing to forget.
    public func forgetTokens() async {}
}

/// The vehicle, trip or shipment that a token is for. This type is the counterpart of `GMTDAuthorizationContext` and,
/// for a trip, of `GMTCAuthorizationContext`.
public struct AuthorizationContext: Sendable, Hashable, CustomStringConvertible {
    /// The vehicle, trip or shipment that the token is for, identified by its id in Fleet Engine.
    public enum Subject: Sendable, Hashable {
        /// A vehicle that the token allows a driver to update. `taskID` is used only for scheduled tasks of trusted
        /// drivers.
        case vehicle(id: String, taskID: String?)
        /// A trip that the token allows a consumer to follow.
        case trip(id: String)
        /// A shipment whose tasks the token allows a consumer to follow.
        case shipment(trackingID: String)
    }

    /// The vehicle, trip or shipment that the token is for.
    public let subject: Subject

    /// Creates a driver's context, for one vehicle.
    public init(vehicleID: String, taskID: String? = nil) { subject = .vehicle(id: vehicleID, taskID: taskID) }

    /// Creates a consumer's context, for one trip.
    public init(tripID: String) { subject = .trip(id: tripID) }

    /// Creates a consumer's context, for one shipment of scheduled tasks.
    public init(trackingID: String) { subject = .shipment(trackingID: trackingID) }

    /// The vehicle's id. It is empty in a consumer's context, so that a provider of drivers' tokens finds no vehicle
    /// there.
    public var vehicleID: String { if case .vehicle(let id, _) = subject { id } else { "" } }

    /// The task's id; `nil` if the context names none.
    public var taskID: String? { if case .vehicle(_, let taskID) = subject { taskID } else { nil } }

    /// The trip's id; `nil` unless the context is for a trip.
    public var tripID: String? { if case .trip(let id) = subject { id } else { nil } }

    /// The tracking id; `nil` unless the context is for a shipment.
    public var trackingID: String? { if case .shipment(let id) = subject { id } else { nil } }

    /// A description for messages, such as `vehicle van-7`.
    public var description: String {
        switch subject {
        case .vehicle(let id, nil): "vehicle \(id)"
        case .vehicle(let id, let taskID?): "vehicle \(id), task \(taskID)"
        case .trip(let id): "trip \(id)"
        case .shipment(let trackingID): "shipment \(trackingID)"
        }
    }

    /// The reason why no token can be requested for this context; `nil` if the context is complete.
    package var problem: AuthorizationError? {
        let id =
            switch subject {
            case .vehicle(let id, _), .trip(let id), .shipment(let id): id
            }
        return id.isEmpty ? AuthorizationError(.incompleteContext(self)) : nil
    }
}

/// The reason why there is no token.
///
/// Your own provider can throw this error with a code and a message. `description`, which the library `Waypost` adds,
/// contains the failure and the remedy.
public struct AuthorizationError: Error, Sendable, Hashable {
    /// The kind of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The context names no vehicle.
        case missingContext
        /// The issuer could not be reached or did not answer in time.
        case unavailable
        /// The issuer answered and rejected the request.
        case refused
        /// The issuer's answer contains no usable token.
        case unusableAnswer
        /// The provider is misconfigured: a file can't be read, or a program can't be started.
        case misconfigured
        /// The calling task was cancelled.
        case cancelled
    }

    /// The details of the failure as values. They never contain a token or a credential.
    package let fault: TokenFault
    /// The minimum wait before the next request, if the issuer demands one; otherwise `nil`.
    public let retryAfter: Duration?

    /// The kind of failure.
    public var code: Code { fault.code }

    /// Creates a provider's error with a message for the operator. Text that looks like a secret is removed from the
    /// message.
    public init(_ code: Code, _ message: String, retryAfter: Duration? = nil) {
        self.init(
            .reported(code, ReportedText(message, limit: ReportedText.maximumSentenceLength)), retryAfter: retryAfter)
    }

    package init(_ fault: TokenFault, retryAfter: Duration? = nil) {
        self.fault = fault
        self.retryAfter = retryAfter
    }
}
