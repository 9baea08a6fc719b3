import FleetEngine
import HTTPMessages
import HTTPService
import LinuxPlatform
import StrictJSON
import Testing
import TimeAndRandomness

@testable import FleetEngineSimulator

/// A simulator without sockets, whose clock moves only when a test advances it.
struct SimulatedBackend: Sendable {
    /// The signing key, generated only once because that takes nearly a second.
    static let key = Result { try SigningKey().encoded }

    /// A shared backend for tests that only provoke errors.
    static let shared = Result { try SimulatedBackend() }

    /// The initial time of the clock, 2026-01-05T10:15:30Z, in seconds since 1970.
    static let initialSeconds: Int64 = 1_767_608_130

    let engine: SimulatorResponder
    private let time: Locked<UTCTime>

    init(_ change: (inout SimulatorSettings) throws -> Void = { _ in }) throws {
        let time = Locked(UTCTime(millisecondsSince1970: Self.initialSeconds * 1000))
        self.time = time
        var settings = SimulatorSettings()
        settings.signingKey = try Self.key.get()
        settings.clock = { time.withLock { $0 } }
        try change(&settings)
        engine = try SimulatorResponder(settings)
    }

    func advance(by seconds: Int64) { time.withLock { $0.millisecondsSince1970 += seconds * 1000 } }

    func token(_ path: String) async throws -> String {
        let answer = try await get("/token/\(path)")
        return try #require((answer["VEHICLE_TOKEN_KEY"] ?? answer["TRIP_TOKEN_KEY"])?.stringValue)
    }

    func get(_ target: String) async throws -> JSONValue {
        try JSONValue(parsing: await engine.respond(to: ServedRequest(.get, target)).response.body)
    }

    /// Sends a request with a token to a path below `/v1/providers/p/`, and returns the response.
    func send(
        _ method: HTTPMethod, _ target: String, token: String?, body: String = "",
        contentType: String? = "application/json"
    ) async throws -> (status: Int, json: JSONValue, served: ServedResponse) {
        var headers = HTTPHeaders()
        headers["Authorization"] = token.map { "Bearer \($0)" }
        headers["Content-Type"] = contentType
        let served = await engine.respond(
            to: ServedRequest(method, "/v1/providers/p/" + target, headers: headers, body: Array(body.utf8)))
        return (served.response.status, try JSONValue(parsing: served.response.body), served)
    }

    /// Sends an update of the vehicle `van` with its own token, and returns the response.
    func sendUpdate(
        _ body: String, as service: FleetService = .onDemandTrips, mask: String = "lastLocation"
    ) async throws -> (status: Int, json: JSONValue, served: ServedResponse) {
        let token = try await token(service == .onDemandTrips ? "driver/van" : "delivery_driver/van")
        return try await send(
            service == .onDemandTrips ? .put : .patch, "\(service.collection)/van?updateMask=\(mask)", token: token,
            body: body)
    }
}

extension JSONValue {
    var errorStatus: String? { self["error"]?["status"]?.stringValue }
    var errorMessage: String { self["error"]?["message"]?.stringValue ?? "" }
    var violatedField: String? { self["error"]?["details"]?[0]?["fieldViolations"]?[0]?["field"]?.stringValue }
}
