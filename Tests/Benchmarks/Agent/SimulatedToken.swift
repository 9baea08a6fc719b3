import CurlTransport
import FleetEngine
import FleetEngineSimulator
import HTTPMessages

/// A vehicle's token as a backend signs it, so that its size is a real one.
enum SimulatedToken {
    static func fetch(from simulator: FleetEngineSimulator) async throws -> String {
        let address = simulator.tokenURL(for: .onDemandTrips)
            .replacing("{vehicleId}", with: LoopbackFleetEngine.vehicle)
        let transport = try CurlTransport(options: CurlTransportOptions(userAgent: "waypost/benchmark"))
        let answer = try await transport.send(HTTPRequest(.get, try HTTPURL(address)))
        guard case .object(let members) = try JSONValue(parsing: answer.body),
            let token = members["VEHICLE_TOKEN_KEY"]?.stringValue
        else { throw BenchmarkError("the simulator gives no token") }
        return token
    }
}
