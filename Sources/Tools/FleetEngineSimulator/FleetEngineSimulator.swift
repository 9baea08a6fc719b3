package import FleetEngine
package import HTTPMessages
import HTTPService
package import LinuxPlatform
package import TimeAndChance

/// A token issuer and a strict Fleet Engine for both services on one loopback port, with faults, a record of the
/// arrivals, and a page. It needs no account and no network.
///
/// The simulator listens as soon as it is created; `run` serves requests until cancelled.
package struct FleetEngineSimulator: Sendable {
    private let engine: SimulatorResponder
    private let service: HTTPService
    /// The base URL: the page is at `/`, tokens under `/token`, Fleet Engine under `/v1`.
    package let baseURL: HTTPURL

    /// - Throws: if the address is in use or not permitted, or the record's file can't be opened.
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

    /// Serves until the task is cancelled, then closes all connections.
    package func run() async { await service.run() }

    /// Starts an outage: connections are reset, except to the page and the record.
    package func beginOutage() async { await engine.setOutage(true) }

    /// Ends the outage that `beginOutage` started; a planned outage continues.
    package func endOutage() async { await engine.setOutage(false) }

    package var record: SimulatorRecord { get async { await engine.record } }

    /// The URL of a consumer's tokens; `{tripId}` is the placeholder for the trip.
    package var consumerTokenURL: String { "\(baseURL.origin)/token/consumer/{tripId}" }

    /// Returns the URL of a driver's tokens; `{vehicleId}` is the placeholder for the vehicle.
    package func tokenURL(for service: FleetService) -> String {
        let kind = service == .onDemandTrips ? "driver" : "delivery_driver"
        return "\(baseURL.origin)/token/\(kind)/{vehicleId}"
    }
}

package struct SimulatorSettings: Sendable {
    /// The address; port 0 uses a free port.
    package var address = LocalAddress.loopback(host: "127.0.0.1", port: 0)
    /// The only provider that exists; `nil` accepts any.
    package var providerID: String?
    package var existence = VehicleExistence.onFirstUse
    package var tokenShape = TokenAnswerShape.guide
    package var faults = FaultPlan()
    /// The trips that exist, under every provider.
    package var trips: [SimulatedTrip] = []
    /// The seed of the random faults.
    package var seed: UInt64 = 1
    /// The RSA private key in DER that signs tokens; `nil` generates a new key, so no earlier token is valid.
    package var signingKey: [UInt8]?
    /// The public key in PEM of a backend whose tokens are also accepted.
    package var trustedKey: [UInt8]?
    /// The file of the complete record as JSON Lines; `nil` keeps only the bounded record in memory.
    package var recordPath: String?
    /// The file to which committed updates are written, one per line; `nil` for none.
    package var uploadsPath: String?
    package var clock: @Sendable () -> UTCTime = { .system }
    /// A closure that gets a message for the user if a problem occurs while the simulator runs.
    package var reportProblem: @Sendable (String) -> Void = { _ in }

    package init() {}
}

/// A reason why a simulator can't start.
package enum SimulatorError: Error, Sendable, CustomStringConvertible {
    case listening(ListenError)
    /// The address has no host and port, which a URL needs.
    case addressWithoutURL(LocalAddress)
    case signing(String)
    case recordFile(path: String, SystemError)

    package var description: String {
        switch self {
        case .listening(let error): "simulator: \(error)"
        case .addressWithoutURL(let address): "simulator: \(address) has no URL; use 127.0.0.1:PORT"
        case .signing(let reason): "simulator: \(reason)"
        case .recordFile(let path, let error): "simulator: cannot write the record to \(path): \(error.reason)"
        }
    }
}
