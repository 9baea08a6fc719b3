package import FleetEngine
package import HTTPMessages
import HTTPService
package import LinuxPlatform
package import TimeAndRandomness

/// A simulated token issuer and Fleet Engine on one loopback port, for on-demand trips and scheduled tasks. The
/// simulator rejects invalid requests, injects faults, records the updates and shows them on a page. It needs no
/// account and no network.
///
/// The simulator listens as soon as it is created; `run` serves requests until cancelled.
package struct FleetEngineSimulator: Sendable {
    private let responder: SimulatorResponder
    private let service: HTTPService
    /// The base URL. The page is at `/`, tokens are under `/token`, and Fleet Engine is under `/v1`.
    package let baseURL: HTTPURL

    /// - Throws: an error if the address is in use or not permitted, or the record's file can't be opened.
    package init(_ settings: SimulatorSettings = SimulatorSettings()) throws(SimulatorError) {
        let responder = try SimulatorResponder(settings)
        do {
            service = try HTTPService(
                listeningOn: settings.address, limits: HTTPServiceLimits(bodyBytes: 4 << 20, connections: 512)
            ) { await responder.respond(to: $0) }
        } catch { throw .listening(error) }
        self.responder = responder
        do { baseURL = try HTTPURL("http://\(service.address)") } catch {
            throw .addressWithoutURL(service.address)
        }
    }

    /// Serves until the task is cancelled, then closes all connections.
    package func run() async { await service.run() }

    /// Starts an outage, during which all connections except those to the page and the record are reset.
    package func beginOutage() async { await responder.setOutage(true) }

    /// Ends the outage that `beginOutage` started. Planned outages aren't affected.
    package func endOutage() async { await responder.setOutage(false) }

    package var record: SimulatorRecord { get async { await responder.record } }

    /// The URL template for consumers' tokens. The id of the trip replaces `{tripId}`.
    package var consumerTokenURL: String { "\(baseURL.origin)/token/consumer/{tripId}" }

    /// Returns the URL template for drivers' tokens. The id of the vehicle replaces `{vehicleId}`.
    package func tokenURL(for service: FleetService) -> String {
        let kind = service == .onDemandTrips ? "driver" : "delivery_driver"
        return "\(baseURL.origin)/token/\(kind)/{vehicleId}"
    }
}

package struct SimulatorSettings: Sendable {
    /// The address to listen on. Port 0 selects a free port.
    package var address = LocalAddress.loopback(host: "127.0.0.1", port: 0)
    /// The id of the only provider that exists; `nil` accepts any provider.
    package var providerID: String?
    package var existence = VehicleExistence.onFirstUse
    package var tokenShape = TokenAnswerShape.guide
    package var faults = FaultPlan()
    /// The trips that exist. Each of them exists under every provider.
    package var trips: [SimulatedTrip] = []
    /// The seed of the random numbers that select faults and delays.
    package var seed: UInt64 = 1
    /// The RSA private key that signs tokens, in DER. If it is `nil`, a new key is generated, and tokens from earlier
    /// runs are invalid.
    package var signingKey: [UInt8]?
    /// The public key, in PEM, of a backend whose tokens are also accepted; `nil` if there is no such backend.
    package var trustedKey: [UInt8]?
    /// The path of the file for the complete record, as JSON Lines; `nil` keeps only the bounded record in memory.
    package var recordPath: String?
    /// The path of the file to which committed updates are written, one per line; `nil` for no file.
    package var uploadsPath: String?
    package var clock: @Sendable () -> UTCTime = { .system }
    /// A closure that is called with a message for the user if a problem occurs while the simulator runs.
    package var reportProblem: @Sendable (String) -> Void = { _ in }

    package init() {}
}

/// A reason why a simulator can't start.
package enum SimulatorError: Error, Sendable, CustomStringConvertible {
    case listening(ListenError)
    /// The address contains no host and port, for example because it is a UNIX socket. A URL needs both.
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
