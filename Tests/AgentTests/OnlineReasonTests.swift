import FleetEngine
import FleetEngineDelivery
import HTTPMessages
import ReportedText
import Reporting
import Testing
import Waypost

/// What `waypost check --online` says to do where Fleet Engine does not know the vehicle, or does not answer.
@Suite struct OnlineReason {
    @Test(
        arguments: [
            (.nameNotResolved, "it stands in upload.endpoint"),
            (.connectionFailed, "check the network and upload.endpoint"),
            (.timedOut, "check the network and upload.endpoint"),
            (.connectionLost, "check the network, upload.endpoint and what stands between"),
            (.responseTooLarge, "correct upload.endpoint"), (.tlsFailed, "upload.endpoint names a port for https"),
            (.certificateNotTrusted, "set upload.caFile if its authority is your own"),
            (.malformedResponse, "if not, correct upload.endpoint"),
        ] as [(HTTPTransportError.Code, String)])
    func saysWhatToDoWithoutAnAnswer(code: HTTPTransportError.Code, remedy: String) {
        let words = OnlineCheck.reason(DeliveryOutcome(of: HTTPTransportError(code, "words"), from: ""))
        #expect(words.hasPrefix("words; ") && words.hasSuffix(remedy), "\(words)")
    }

    @Test func namesWhatWasAskedFor() throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v")
        let request = HTTPRequest(.get, try HTTPURL("https://fleetengine.googleapis.com/v1/x"))
        let body = #"{"error":{"code":400,"message":"It is invalid.","status":"INVALID_ARGUMENT"}}"#
        let outcome = DeliveryOutcome(
            of: HTTPResponse(status: 400, body: Array(body.utf8)), to: request, for: vehicle)
        #expect(
            OnlineCheck.reason(outcome)
                == "400 INVALID_ARGUMENT: It is invalid; nothing but the vehicle was asked for: correct "
                + "vehicle.providerId, vehicle.vehicleId, vehicle.service or upload.endpoint")
    }
}
