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
    /// The name of the section that `authorization` was read from, for errors.
    private(set) var authorizationSection = "authorization"
    /// Where a trip's tokens come from, for those who follow one.
    package var consumerAuthorization: AuthorizationConfiguration?
    package var reporting: ReportingConfiguration
    package var upload: UploadConfiguration
    package var outbox: OutboxConfiguration
    package var status: StatusConfiguration
    package var log: LogConfiguration
}

extension Configuration {
    /// The same with the consumers' provider in the place of the driver's; `nil` when none is configured.
    var forConsumers: Configuration? {
        consumerAuthorization.map { provider in
            var own = self
            (own.authorization, own.authorizationSection) = (provider, "consumerAuthorization")
            return own
        }
    }
}
