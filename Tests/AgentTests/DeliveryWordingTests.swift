import FleetEngine
import FleetEngineDelivery
import HTTPMessages
import ReportedText
import Reporting
import Testing
import Waypost
import WaypostTestSupport

/// The one place that words what became of a delivery: what happened, and who has to do what.
@Suite struct DeliveryWording {
    private static func request(token: String = "t") throws -> HTTPRequest {
        HTTPRequest(
            .put, try HTTPURL("https://fleetengine.googleapis.com/v1/x"),
            headers: HTTPHeaders(["Authorization": "Bearer \(token)", "Content-Type": "application/json"]))
    }

    /// What is no answer of Fleet Engine's names who may be in the way.
    @Test(arguments: [
        (204, "", true), (302, "<html></html>", true), (401, "<html>log in to the proxy</html>", true),
        (413, "too large", true), (511, "<html>please log in</html>", true), (200, "{}", true),
        (403, #"{"error":{"code":403,"message":"words"}}"#, false), (502, "<html></html>", false),
        (429, "<html>slow down</html>", false),
    ])
    func namesAPortalWhereItMayBe(status: Int, body: String, isPortal: Bool) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let outcome = DeliveryOutcome(
            of: HTTPResponse(status: status, body: Array(body.utf8)), to: try Self.request(), for: vehicle)
        #expect(outcome.reason.description.hasPrefix("\(status)"))
        #expect(outcome.reason.description.contains("captive portal") == isPortal)
    }

    @Test func saysWhyAnExchangeWasAborted() {
        let lost = LostExchange(
            .cancelled, "cancelled", origin: "https://f.example", route: "over IPv6; IPv4 is next")
        let words = "https://f.example: the network changed, and no answer came on the old connection"
        #expect(DeliveryFault.aborted(.networkChanged, lost).reason == "\(words) (over IPv6; IPv4 is next)")
        #expect(
            DeliveryFault.aborted(.newerPosition, lost).reason.description.hasPrefix(
                "https://f.example: no answer while a newer position waited; it goes first"))
    }

    @Test func saysWhatToDoWhereEverythingIsRejected() {
        let fault = DeliveryFault.everythingRejected(.sample("400"))
        #expect(
            fault.reason.description.hasPrefix(
                "400; it rejects one update after another, so that something else is wrong: check vehicle.service"))
    }

    /// Whoever reads the reason has never heard of the status.
    @Test(arguments: [
        (401, "check its clock"), (403, "name this vehicle in the token"), (403, "correct vehicle.providerId"),
        (404, "let the backend create the vehicle"), (404, "or upload.endpoint"),
        (429, "lower upload.backlogUpdatesPerSecond"), (501, "correct vehicle.service"), (503, "it passes by itself"),
        (410, "check upload.endpoint"),
    ])
    func saysWhatToDo(status: Int, remedy: String) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let body = #"{"error":{"code":\#(status),"message":"It ends so.","status":"STATUS"}}"#
        let outcome = DeliveryOutcome(
            of: HTTPResponse(status: status, body: Array(body.utf8)), to: try Self.request(), for: vehicle)
        let words = outcome.reason.description
        #expect(words.hasPrefix("\(status) STATUS: It ends so; "), "\(words)")
        #expect(words.contains(remedy), "\(words)")
    }

    @Test(arguments: [
        #"{"error":{"code":403,"message":"Fleet Engine API has not been used in project 7 before or it is disabled."}}"#,
        #"{"error":{"code":403,"message":"no","details":[{"reason":"SERVICE_DISABLED"}]}}"#,
    ])
    func namesTheAPIThatIsNotEnabled(body: String) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let outcome = DeliveryOutcome(
            of: HTTPResponse(status: 403, body: Array(body.utf8)), to: try Self.request(), for: vehicle)
        let words = outcome.reason.description
        #expect(words.contains("; let the Fleet Engine API be enabled for p (gcloud services enable"), "\(words)")
        #expect(!words.contains("let the backend name"), "\(words)")
    }

    @Test func namesTheBillingThatIsNotEnabled() throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let body = #"""
            {"error":{"code":403,"message":"This API method requires billing to be enabled.","status":"PERMISSION_DENIED",
             "details":[{"reason":"BILLING_DISABLED"}]}}
            """#
        let outcome = DeliveryOutcome(
            of: HTTPResponse(status: 403, body: Array(body.utf8)), to: try Self.request(), for: vehicle)
        let words = outcome.reason.description
        #expect(words.contains("; let billing be enabled for p in the Google Cloud console, or correct"), "\(words)")
        #expect(!words.contains("let the backend name"), "\(words)")
    }

    /// Another server than Fleet Engine may be named, and no portal be there.
    @Test(arguments: [(404, "<html>not here</html>"), (200, "{}")])
    func namesTheEndpointWhereAnotherAnswers(status: Int, body: String) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let outcome = DeliveryOutcome(
            of: HTTPResponse(status: status, body: Array(body.utf8)), to: try Self.request(), for: vehicle)
        #expect(outcome.reason.description.hasSuffix("if there is none, correct upload.endpoint"))
    }

    /// Nothing but Fleet Engine's own words is its verdict.
    @Test(arguments: [(501, "<html>no</html>"), (501, ""), (503, "<html>busy</html>"), (502, "busy"), (408, "")])
    func namesAProxyWhereFleetEngineMaySayNothing(status: Int, body: String) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let outcome = DeliveryOutcome(
            of: HTTPResponse(status: status, body: Array(body.utf8)), to: try Self.request(), for: vehicle)
        let words = outcome.reason.description
        #expect(words.hasSuffix("a proxy answers in Fleet Engine's place, or upload.endpoint names another server"))
        #expect(!words.contains("API"), "\(words)")
    }

    /// The token's times are a matter of clocks, whatever the key is.
    @Test(
        arguments: [
            ("the token's iat lies 7200 s ahead", true), ("the token expired 60 s ago", true),
            ("Check your iat and exp values in the JWT claim.", true), ("no such key", false),
            ("expected a token", false),
        ])
    func namesTheClockFirst(message: String, isTime: Bool) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let body = #"{"error":{"code":401,"message":"\#(message)","status":"UNAUTHENTICATED"}}"#
        let outcome = DeliveryOutcome(
            of: HTTPResponse(status: 401, body: Array(body.utf8)), to: try Self.request(), for: vehicle)
        let words = outcome.reason.description
        #expect(words.contains("; check the clock of the backend") == isTime, "\(words)")
        #expect(words.contains("let the backend sign") == !isTime && words.contains("service account of p"), "\(words)")
    }

    @Test func namesThePortOfAnEndpointWithoutHTTPS() {
        #expect(
            DeliveryOutcome(of: HTTPTransportError(.tlsFailed, "no secure connection"), from: "").reason
                == "no secure connection; if it stays so, check that upload.endpoint names a port for https")
    }

    @Test func namesTheClockWhereACertificateIsOutsideItsTime() {
        let error = HTTPTransportError(.certificateNotTrusted, "words", certificateFault: .outsideItsTime)
        let reason = DeliveryOutcome(of: error, from: "").reason.description
        #expect(
            reason.contains("; set this machine's clock if it is wrong; if it is right, upload.endpoint, or a captive"))
        #expect(!reason.contains("upload.caFile"))
    }

    /// Whoever signs in there has signed in nowhere.
    @Test func namesTheAuthoritiesWhereACertificateIsOfNoneThatIsKnown() {
        let error = HTTPTransportError(.certificateNotTrusted, "words", certificateFault: .ofUnknownAuthority)
        let reason = DeliveryOutcome(of: error, from: "").reason.description
        #expect(
            reason == "words; if its authority is your own, or that of a proxy that inspects TLS, add its authority's "
                + "certificate to upload.caFile, or use another network")
        #expect(!reason.contains("portal") && !reason.contains("sign in"))
    }

    @Test func namesTheAuthoritiesOfAnEndpoint() {
        #expect(
            DeliveryOutcome(of: HTTPTransportError(.certificateNotTrusted, "self-signed"), from: "").reason.description
                .hasSuffix("; set upload.caFile if its authority is your own"))
    }

    /// A server may give back what it was sent, in any part of its answer.
    @Test(arguments: [400, 401, 403, 404, 429, 500, 501, 503])
    func repeatsNoWordOfTheRequest(status: Int) throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "van-7")
        for token in [TestTokens.driver(vehicleID: "van-7"), "opaque-7f3k9q-plain"] {
            let half = token.prefix(token.utf8.count / 2)
            let body = #"""
                {"error":{"code":\#(status),"status":"REFUSED \#(token)","message":"Authorization: Bearer \#(token) is for \#
                providers/p/vehicles/van-8, \#(half)","details":[{"fieldViolations":[{"field":"\#(token)",
                "description":"\#(token.replacing("-", with: "\\u002d"))"}]}]}}
                """#.replacing("\n", with: "")
            let outcome = DeliveryOutcome(
                of: HTTPResponse(status: status, body: Array(body.utf8)), to: try Self.request(token: token),
                for: vehicle)
            let words = outcome.reason.description
            #expect(words.hasPrefix("\(status) REFUSED …"), "\(words)")
            #expect(!words.contains(half) && !words.contains("7f3k") && !words.contains("eyJ"), "\(words)")
        }
    }
}
