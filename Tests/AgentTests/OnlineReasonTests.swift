import Conditions
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
        let line = try #require(OnlineCheck.problemLine(of: outcome))
        #expect(line.verdict == .fail && line.name == "Fleet Engine" && line.code == .everythingRejected)
        #expect(
            line.text
                == "400 INVALID_ARGUMENT: It is invalid; correct vehicle.providerId, vehicle.vehicleId, vehicle.service or "
                + "upload.endpoint")
    }

    @Test(
        arguments: [
            (401, .tokenRejected), (403, .tokenNotPermitted), (404, .vehicleUnknown), (503, .serviceBusy), (200, nil),
        ] as [(Int, ConditionCode?)])
    func hasTheCodeOfTheServicesCondition(status: Int, code: ConditionCode?) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v")
        let request = HTTPRequest(.get, try HTTPURL("https://fleetengine.googleapis.com/v1/x"))
        let error = #"{"error":{"code":\#(status),"message":"No.","status":"UNKNOWN"}}"#
        let body = status == 200 ? #"{"name":"\#(vehicle)"}"# : error
        let outcome = DeliveryOutcome(
            of: HTTPResponse(status: status, body: Array(body.utf8)), to: request, for: vehicle)
        #expect(OnlineCheck.problemLine(of: outcome)?.code == code)
    }
}
