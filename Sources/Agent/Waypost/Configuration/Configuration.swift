package import FleetEngine

/// What one agent is set up to do: the configuration file as checked values.
///
/// Reading is strict: an unknown key, a wrong type and a value out of range are errors, all reported at once.
public struct Configuration: Sendable {
    package var vehicle: VehicleName
    package var stateWhileRunning: VehicleState
    package var stateOnStop: VehicleState
    package var receiver: ReceiverConfiguration
    package var authorization: AuthorizationConfiguration
    package var reporting: ReportingConfiguration
    package var upload: UploadConfiguration
    package var outbox: OutboxConfiguration
    package var status: StatusConfiguration
    package var log: LogConfiguration
}
