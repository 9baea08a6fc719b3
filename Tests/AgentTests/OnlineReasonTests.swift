import FleetEngine
import FleetEngineDelivery
import HTTPMessages
import ReportedText
import Reporting
import Testing
import Operations

/// The remedy of `waypost check --online` if Fleet Engine doesn't know the vehicle or doesn't answer.
@Suite struct OnlineReason {
    @Test func namesTheKeysThatTheRequestUsed() throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v")
        let request = HTTPRequest(.get, try HTTPURL("https://fleetengine.googleapis.com/v1/x"))
        let body = #"{"error":{"code":400,"message":"It is invalid.","status":"INVALID_ARGUMENT"}}"#
        let outcome = DeliveryOutcome(
            of: HTTPResponse(status: 400, body: Array(body.utf8)), to: request, for: vehicle)
        #expect(
            OnlineCheck.problemText(of: outcome)
                == "400 INVALID_ARGUMENT: It is invalid; correct vehicle.providerId, vehicle.vehicleId, vehicle.service or "
                + "upload.endpoint")
    }
}
