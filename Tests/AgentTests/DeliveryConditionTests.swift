import Conditions
import FleetEngine
import FleetEngineDelivery
import HTTPMessages
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

/// The condition that an answer, or the lack of one, causes.
@Suite struct DeliveryConditions {
    private static func makeRequest(token: String = "t") throws -> HTTPRequest {
        HTTPRequest(
            .put, try HTTPURL("https://fleetengine.googleapis.com/v1/x"),
            headers: HTTPHeaders([
                "Authorization": "Bearer \(token)", "Content-Type": "application/json", "X-Goog-FieldMask": "name",
            ]))
    }

    private static func condition(forStatus status: Int, body: String, token: String = "t") throws -> Condition {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v 1")
        let response = HTTPResponse(status: status, body: Array(body.utf8))
        return try #require(Condition(DeliveryOutcome(of: response, to: try makeRequest(token: token), for: vehicle)))
    }

    /// Returns an error in Fleet Engine's own format.
    private static func errorBody(status: Int, message: String = "The reason.", details: String = "[]") -> String {
        #"{"error":{"code":\#(status),"message":"\#(message)","status":"STATUS","details":\#(details)}}"#
    }

    @Test(
        arguments: [
            (400, errorBody(status: 400), .updateRejected), (401, errorBody(status: 401), .tokenRejected),
            (401, "", .tokenRejected),
            (403, errorBody(status: 403), .tokenNotPermitted), (404, errorBody(status: 404), .vehicleUnknown),
            (410, errorBody(status: 410), .serviceRefuses),
            (429, errorBody(status: 429), .throttled), (429, "<html>", .throttled),
            (501, errorBody(status: 501), .apiDisabled),
            (503, errorBody(status: 503), .serviceBusy), (413, errorBody(status: 413), .updateRejected),
            (413, "too large", .requestTooLarge),
            // Answers that aren't from Fleet Engine.
            (502, "<html></html>", .gatewayError), (501, "", .gatewayError), (408, "", .gatewayError),
            (204, "", .intercepted), (302, "<html></html>", .intercepted), (401, "<html>proxy</html>", .intercepted),
            (511, "<html>log in</html>", .intercepted), (200, "{}", .intercepted), (404, "<html></html>", .intercepted),
            // The details say more than the status.
            (403, errorBody(status: 403, details: #"[{"reason":"SERVICE_DISABLED"}]"#), .apiDisabled),
            (
                403,
                errorBody(
                    status: 403, message: "Fleet Engine API has not been used in project 7 before or it is disabled."),
                .apiDisabled
            ),
            (403, errorBody(status: 403, details: #"[{"reason":"BILLING_DISABLED"}]"#), .billingDisabled),
            (401, errorBody(status: 401, message: "the token expired 60 s ago"), .tokenRejected),
            (401, errorBody(status: 401, message: "Check your iat and exp values in the JWT claim."), .tokenRejected),
            (401, errorBody(status: 401, message: "expected a token"), .tokenRejected),
        ] as [(Int, String, ConditionCode)])
    func followFromAnAnswer(status: Int, body: String, code: ConditionCode) throws {
        let condition = try Self.condition(forStatus: status, body: body)
        #expect(condition.code == code)
        guard case .answer(status, _) = condition.facts else {
            Issue.record("\(condition.facts)")
            return
        }
        #expect(condition.cause.description.hasPrefix("\(status)"))
    }

    @Test(
        arguments: [
            (.nameNotResolved, nil, .networkUnavailable), (.connectionFailed, nil, .networkUnavailable),
            (.timedOut, nil, .networkUnavailable), (.connectionLost, nil, .networkUnavailable),
            (.responseTooLarge, nil, .intercepted), (.tlsFailed, nil, .tlsFailed),
            (.malformedResponse, nil, .intercepted), (.unknownContentEncoding, nil, .intercepted),
            (.certificateNotTrusted, nil, .certificateUntrusted),
            (.certificateNotTrusted, .otherHostName, .certificateUntrusted),
            (.certificateNotTrusted, .unknownAuthority, .certificateUntrusted),
            (.certificateNotTrusted, .notValidNow, .certificateOutsideItsTime),
        ] as [(HTTPTransportError.Code, CertificateFault?, ConditionCode)])
    func followFromAMissingAnswer(
        code: HTTPTransportError.Code, fault: CertificateFault?, expected: ConditionCode
    ) {
        let error = HTTPTransportError(code, "words", certificateFault: fault)
        let condition = Condition(DeliveryOutcome(of: error, from: ""))
        #expect(condition?.code == expected && condition?.cause == "words")
    }

    @Test(
        arguments: [
            (.certificateRequested, "Fleet Engine requests no client certificate"),
            (.noCommonVersion, "it must support TLS 1.2"), (nil, "check that the port of upload.endpoint speaks https"),
        ] as [(TLSFault?, String)])
    func nameTheReasonWhyTLSFailed(fault: TLSFault?, ending: String) {
        let error = HTTPTransportError(.tlsFailed, "words", tlsFault: fault)
        let condition = Condition(DeliveryOutcome(of: error, from: ""))
        #expect(condition?.code == .tlsFailed && condition?.facts == .lost(.tlsFailed(fault)))
        #expect(condition?.remedy.description.hasSuffix(ending) == true)
    }

    /// A proxy that answers in Fleet Engine's place needs the operator; one that can't be reached may be out of
    /// coverage.
    @Test(
        arguments: [
            (.rejected, .intercepted, "check its rules, upload.proxy.user and upload.proxy.password"),
            (.answered(status: 407), .intercepted, "check upload.proxy.user and upload.proxy.password"),
            (.answered(status: 403), .intercepted, "allow the server in the proxy's rules"),
            (.answered(status: 302), .intercepted, "sign in to the portal, or use another network"),
            (.answered(status: 502), .networkUnavailable, "check the proxy's network, and its log"),
            (.notAProxy, .intercepted, "correct upload.proxy.url"),
            (
                .timedOut, .networkUnavailable,
                "check upload.proxy.url, and that the proxy is running and can reach f:443"
            ),
            (.notConnected, .networkUnavailable, "check upload.proxy.url, and that the proxy is running"),
            (
                .untrustedCertificate, .certificateUntrusted,
                "if its certificate authority is your own, set caFile next to upload.proxy; otherwise, correct upload.proxy.url"
            ),
            (.tlsFailed, .tlsFailed, "if it has no TLS, write http:// in upload.proxy.url"),
        ] as [(ProxyFault.Cause, ConditionCode, ReportedText)])
    func followFromAProxyFault(cause: ProxyFault.Cause, code: ConditionCode, remedy: ReportedText) {
        let fault = ProxyFault(cause, origin: "socks5h://p", key: "upload.proxy", hasLogin: true, server: "f:443")
        let condition = Condition(
            DeliveryOutcome(of: HTTPTransportError(.connectionFailed, "no proxy", proxyFault: fault), from: ""))
        #expect(condition?.code == code && condition?.explanation == "no proxy; \(remedy)")
    }

    @Test func nameASilentProxyWhenAnExchangeIsAborted() {
        let proxy = ProxyFault(
            .timedOut, origin: "http://p:3128", key: "upload.proxy", hasLogin: false, server: "f:443")
        let lost = LostExchange(.cancelled, "cancelled", proxyFault: proxy, origin: "https://f.example")
        let condition = Condition(.aborted(.newerPosition, lost))
        #expect(
            condition.explanation.description
                == "https://f.example: no answer through the proxy http://p:3128, while a newer position was waiting; a new "
                + "connection will send that position first; check upload.proxy.url, and that the proxy is running and can reach f:443"
        )
    }

    @Test func haveARemedyForAFailedRenewal() {
        let failure = Condition(.tokenRequestRejected, Wording("it answered 403", "enrol the vehicle"))
        let condition = Condition(renewalFailedBy: failure, remaining: .seconds(240))
        #expect(condition.code == .tokenRenewalFailing)
        #expect(
            condition.explanation
                == "it answered 403; the current token remains in use for at most another 4 min; enrol the vehicle"
        )
    }

    @Test func sayWhyAnExchangeWasAborted() {
        let lost = LostExchange(
            .cancelled, "cancelled", origin: "https://f.example", route: "over IPv6; IPv4 is next")
        let condition = Condition(.aborted(.networkChanged, lost))
        #expect(condition.code == .networkUnavailable && condition.facts == .aborted(.networkChanged))
        #expect(condition.cause.description.hasPrefix("https://f.example: the network changed"))
        #expect(condition.cause.description.hasSuffix(" (over IPv6; IPv4 is next)"))
    }

    /// An unknown authority on the right host is probably the operator's own.
    @Test(
        arguments: [
            (
                .certificateNotTrusted, .unknownAuthority,
                "if the certificate authority is your own, set upload.caFile; "
            ),
            (.certificateNotTrusted, .otherHostName, "correct the host in upload.endpoint, or log in to the network"),
            (.transportFailed, nil, "run waypost check, and correct upload.caFile"),
            (.unknownContentEncoding, nil, "turn off compression in the proxy, or correct upload.endpoint"),
        ] as [(HTTPTransportError.Code, CertificateFault?, String)])
    func haveARemedyForACertificate(code: HTTPTransportError.Code, fault: CertificateFault?, remedy: String) {
        let error = HTTPTransportError(code, "words", certificateFault: fault)
        #expect(Condition(DeliveryOutcome(of: error, from: ""))?.remedy.description.hasPrefix(remedy) == true)
    }

    /// Captive portals answer with HTML; another service answers with something else.
    @Test(arguments: [("<html>", "log in to the network"), (#"{"error": "not found"}"#, "correct upload.endpoint")])
    func haveARemedyForAForeignAnswer(body: String, remedy: String) throws {
        let condition = try Self.condition(forStatus: 404, body: body)
        #expect(condition.code == .intercepted && condition.remedy.description.hasPrefix(remedy))
    }

    /// A server on this machine needs no coverage.
    @Test(arguments: [("http://127.0.0.1:8089", "start the program"), ("https://f.example", "wait for coverage")])
    func haveARemedyForARefusedConnection(origin: String, remedy: String) {
        let error = HTTPTransportError(.connectionFailed, "refused")
        let condition = Condition(DeliveryOutcome(of: error, from: origin))
        #expect(condition?.code == .networkUnavailable && condition?.remedy.description.hasPrefix(remedy) == true)
    }

    @Test func reportThatEverythingIsRejected() {
        #expect(Condition(.everythingRejected(.sample("400"))).code == .everythingRejected)
    }

    @Test func includeTextThatIsNotSecret() throws {
        #expect(
            try Self.condition(forStatus: 400, body: Self.errorBody(status: 400, message: "The name is wrong.")).cause
                == "400 STATUS: The name is wrong")
    }

    /// A server may repeat parts of the request anywhere in its answer.
    @Test(arguments: [400, 401, 403, 404, 429, 500, 501, 503])
    func omitTheTextOfTheRequest(status: Int) throws {
        for token in [TestTokens.driver(vehicleID: "van-7"), "opaque-7f3k9q-plain"] {
            let half = token.prefix(token.utf8.count / 2)
            let body = #"""
                {"error":{"code":\#(status),"status":"REFUSED \#(token)","message":"Authorization: Bearer \#(token) is for \#
                providers/p/vehicles/van-8, \#(half)","details":[{"fieldViolations":[{"field":"\#(token)",
                "description":"\#(token.replacing("-", with: "\\u002d"))"}]}]}}
                """#.replacing("\n", with: "")
            let words = try Self.condition(forStatus: status, body: body, token: token).line.description
            #expect(words.contains("\(status) REFUSED …"), "\(words)")
            #expect(!words.contains(half) && !words.contains("7f3k") && !words.contains("eyJ"), "\(words)")
        }
    }
}
