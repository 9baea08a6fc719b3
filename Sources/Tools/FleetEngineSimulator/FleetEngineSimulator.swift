package import FleetEngine
package import HTTPMessages
import HTTPService
package import LinuxPlatform
package import TimeAndChance

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

    /// Ends what `beginOutage` began; an outage from the plan continues.
    package func endOutage() async { await engine.setOutage(false) }

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

/// Everything a simulator can be told before it starts.
package struct SimulatorSettings: Sendable {
    /// Port 0 takes a free one.
    package var address = LocalAddress.loopback(host: "127.0.0.1", port: 0)
    /// The only provider that exists; `nil` takes any.
    package var providerID: String?
    package var existence = VehicleExistence.onFirstUse
    package var tokenShape = TokenAnswerShape.guide
    package var faults = FaultPlan()
    /// The trips that exist, for whichever provider asks.
    package var trips: [SimulatedTrip] = []
    /// Decides where the faults fall.
    package var seed: UInt64 = 1
    /// An RSA private key in DER that signs the tokens; `nil` makes a new one, so that no earlier token is valid.
    package var signingKey: [UInt8]?
    /// A public key in PEM whose tokens are accepted too: a backend's own.
    package var trustedKey: [UInt8]?
    /// Where the complete record goes as JSON Lines; `nil` keeps it in memory only, within bounds.
    package var recordPath: String?
    /// Where every committed update is written as one line, its positions together.
    package var uploadsPath: String?
    /// The server's clock.
    package var clock: @Sendable () -> UTCTime = { .system }
    /// Hears, in words for a person, what goes wrong while it runs.
    package var tell: @Sendable (String) -> Void = { _ in }

    package init() {}
}

/// Why a simulator does not start.
package enum SimulatorError: Error, Sendable, CustomStringConvertible {
    case listening(ListenError)
    /// The simulator is reached by URL, so it needs a host and a port.
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
