import FleetEngine
import HTTPMessages
import ReportedText
import Testing
import Operations

/// The meaning of an answer for a follower.
@Suite struct ReadOutcomes {
    enum Kind { case tokenRejected, retry, hold }

    @Test(arguments: [
        (200, #"{"name":"providers/p/trips/other"}"#, Kind.retry), (200, "<html>Welcome</html>", .retry),
        (200, #"{"name":"providers/p/trips/t 1","name":"providers/p/trips/t 1"}"#, .retry),
        (401, "", .tokenRejected), (403, #"{"error":{"status":"PERMISSION_DENIED"}}"#, .tokenRejected),
        (403, "<html></html>", .retry), (404, #"{"error":{"status":"NOT_FOUND"}}"#, .hold),
        (400, #"{"error":{"status":"INVALID_ARGUMENT"}}"#, .hold), (503, "", .retry), (302, "", .retry),
    ])
    func areJudgedLikeDeliveries(status: Int, body: String, kind: Kind) throws {
        let trip = FollowedResource.trip(try TripName(providerID: "p", tripID: "t 1"))
        let request = HTTPRequest(.get, try HTTPURL("https://fleetengine.googleapis.com/v1/x"))
        let outcome = ReadOutcome(
            of: HTTPResponse(status: status, body: Array(body.utf8)), to: request,
            for: trip)
        let found: Kind? =
            switch outcome {
            case .seen: nil
            case .tokenRejected: .tokenRejected
            case .retry: .retry
            case .hold: .hold
            }
        #expect(found == kind, "\(outcome)")
    }

    /// Uploads simply wait after these failures, but a person at a terminal gets a remedy.
    @Test(
        arguments: [
            (.connectionFailed, "check the vehicle's network and upload.endpoint"), (.cancelled, "no answer"),
            (.tlsFailed, "check that the port of upload.endpoint speaks https"),
        ] as [(HTTPTransportError.Code, String)])
    func haveARemedyIfThereIsNoAnswer(code: HTTPTransportError.Code, ending: String) {
        guard case .retry(let reason, nil) = ReadOutcome(of: HTTPTransportError(code, "no answer")) else {
            Issue.record("the request isn't retried")
            return
        }
        #expect(reason.description.hasSuffix(ending), "\(reason)")
    }
}
