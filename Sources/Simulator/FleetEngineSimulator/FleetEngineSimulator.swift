package import FleetEngine
package import HTTPMessages
import HTTPService
import LinuxPlatform

/// A token issuer and a strict Fleet Engine for both services on one loopback port, with faults to order, a record of
/// what arrived, and a page that shows it. Needs no account and no network.
///
/// It listens from the moment it exists; `run` serves until it is cancelled.
package struct FleetEngineSimulator: Sendable {
    private let engine: SimulatorResponder
    private let service: HTTPService
    /// Where everything is: the page at `/`, tokens under `/token`, Fleet Engine under `/v1`.
    package let baseURL: HTTPURL

    /// - Throws: when the address is taken or may not be used, or the record's file cannot be opened.
    package init(_ settings: SimulatorSettings = SimulatorSettings()) throws(SimulatorError) {
        let engine = try SimulatorResponder(settings)
        do {
            service = try HTTPService(
                listeningOn: settings.address, limits: HTTPServiceLimits(bodyBytes: 4 << 20, connections: 512)
            ) { await engine.respond(to: $0) }
        } catch { throw .listening(error) }
        self.engine = engine
        do { baseURL = try HTTPURL("http://\(service.address)") } catch {
            throw .addressWithoutURL(service.address)
        }
    }

    /// Serves until the task is cancelled; then every connection is closed at once.
    package func run() async { await service.run() }

    /// From now on connections are reset, except to the page and the record.
    package func beginOutage() async { await engine.setOutage(true) }

    /// Ends what `beginOutage` began; an outage from the plan goes on.
    package func endOutage() async { await engine.setOutage(false) }

    /// Gives the service account a new key: tokens that were issued before are refused from now on.
    package func rotateKey() async { await engine.rotateKey() }

    /// Everything up to now.
    package var record: SimulatorRecord { get async { await engine.record } }

    /// Where a consumer's tokens are; `{tripId}` stands for the trip.
    package var consumerTokenURL: String { "\(baseURL.origin)/token/consumer/{tripId}" }

    /// Where a driver's tokens are; `{vehicleId}` stands for the vehicle.
    package func tokenURL(for service: FleetService) -> String {
        let kind = service == .onDemandTrips ? "driver" : "delivery_driver"
        return "\(baseURL.origin)/token/\(kind)/{vehicleId}"
    }
}
