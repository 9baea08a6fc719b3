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

    /// What is missing where the context names nobody; `nil` when it is complete.
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
