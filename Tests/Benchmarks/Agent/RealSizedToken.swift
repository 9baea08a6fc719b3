import FleetEngine
import CurlTransport
import FleetEngineSimulator
import FoundationEssentials
import HTTPMessages
import ReportedText
import StrictJSON

/// A vehicle's token as large as a real backend's: signed by the simulator, with a key identifier of 40 hexadecimal
/// digits and a service account of ordinary length. It is never verified.
enum RealSizedToken {
    private static let serviceAccount = "fleet-engine-driver@my-cloud-project.iam.gserviceaccount.com"

    static func make(with simulator: FleetEngineSimulator) async throws -> String {
        let keyID = String((0..<40).map { _ in "0123456789abcdef".randomElement() ?? "0" })
        let header = "{\"alg\":\"RS256\",\"kid\":\"\(keyID)\",\"typ\":\"JWT\"}"
        let claims =
            "{\"iss\":\"\(serviceAccount)\",\"sub\":\"\(serviceAccount)\",\"aud\":\"https://fleetengine.googleapis.com/\","
            + "\"iat\":1790000000,\"exp\":1790003600,\"authorization\":{\"vehicleid\":\"\(Workplace.vehicle)\"}}"
        let signature = try await fetchToken(from: simulator).split(separator: ".").last ?? ""
        return "\(base64URL(header)).\(base64URL(claims)).\(signature)"
    }

    private static func fetchToken(from simulator: FleetEngineSimulator) async throws -> String {
        let address = simulator.tokenURL(for: .onDemandTrips)
            .replacing("{vehicleId}", with: Workplace.vehicle)
        let transport = try CurlTransport(options: CurlTransportOptions(userAgent: "waypost/benchmark"))
        let answer = try await transport.send(HTTPRequest(.get, try HTTPURL(address)))
        guard case .object(let members) = try JSONValue(parsing: answer.body),
            let token = members["VEHICLE_TOKEN_KEY"]?.stringValue
        else { throw BenchmarkError("the simulator returned no token") }
        return token
    }

    private static func base64URL(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
