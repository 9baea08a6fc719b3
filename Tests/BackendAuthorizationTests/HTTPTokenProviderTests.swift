import HTTPMessages
import ReportedText
import Testing
import VehicleAuthorization
import WaypostTestSupport

@testable import BackendAuthorization

@Suite struct HTTPTokenProviders {
    private let van7 = AuthorizationContext(vehicleID: "van 7")
    private let body = #"{"VEHICLE_TOKEN_KEY":"\#(TestTokens.driver(vehicleID: "van 7"))"}"#

    private func makeProvider(
        _ settings: HTTPTokenSettings, environment: [String: String] = [:],
        now: Double = 0, _ answer: @escaping ScriptedTransport.Answer
    ) throws -> (HTTPTokenProvider, ScriptedTransport) {
        let transport = ScriptedTransport(answer)
        let provider = try HTTPTokenProvider(
            settings, providerID: "p", transport: transport, environment: environment, wallClock: { now })
        return (provider, transport)
    }

    private func origin(
        at address: String = "https://backend.example.com/t", credentials: [String] = []
    ) -> TokenOrigin {
        TokenOrigin(
            .endpoint, address, tokenKey: "VEHICLE_TOKEN_KEY", subject: van7.subject,
            credentials: credentials.map { "authorization.\($0)" })
    }

    @Test func requestATokenAndReadTheAnswer() async throws {
        let (provider, transport) = try makeProvider(
            HTTPTokenSettings(url: "https://backend.example.com/token/driver/{vehicleId}?project={providerId}")
        ) { _ in HTTPResponse(status: 200, body: Array(body.utf8)) }
        #expect(try await provider.token(for: van7).lifetime == .seconds(3600))
        let request = try #require(transport.requests.first)
        #expect(request.method == .get)
        #expect(request.url.description == "https://backend.example.com/token/driver/van%207?project=p")
        #expect(request.headers["Accept"] == "application/json")
        #expect(request.body.isEmpty)
    }

    /// A backend can notice that two services use one credential. Other commands send no such header.
    @Test(arguments: ["1f", nil]) func sendTheIDOfTheServicesRun(runID: String?) async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: Array(body.utf8)) }
        let provider = try HTTPTokenProvider(
            HTTPTokenSettings(url: "https://backend.example.com/t"), providerID: "p", transport: transport,
            runID: runID, wallClock: { 0 })
        _ = try await provider.token(for: van7)
        #expect(try #require(transport.requests.first).headers["Waypost-Run-ID"] == runID)
    }

    @Test func sendHeadersAndBodyWithSecrets() async throws {
        let directory = try TemporaryDirectory()
        let settings = HTTPTokenSettings(
            url: "https://backend.example.com/token", method: .post,
            headers: [
                HeaderTemplate(
                    "Authorization", .file(try directory.write("file-secret\n".utf8, to: "key", mode: 0o600)),
                    scheme: .bearer),
                HeaderTemplate("X-Basic", .environment("PAIR"), scheme: .basic),
                HeaderTemplate("X-Plain", .literal("plain")),
            ], body: .literal(#"{"vehicle":"{vehicleId}"}"#))
        let (provider, transport) = try makeProvider(settings, environment: ["PAIR": "user:pass"]) { _ in
            HTTPResponse(status: 200, body: Array(body.utf8))
        }
        _ = try await provider.token(for: van7)
        let request = try #require(transport.requests.first)
        #expect(request.headers["Authorization"] == "Bearer file-secret")
        #expect(request.headers["X-Basic"] == "Basic dXNlcjpwYXNz")
        #expect(request.headers["X-Plain"] == "plain")
        #expect(request.headers["Content-Type"] == "application/json")
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"vehicle":"van 7"}"#)
    }

    @Test(
        arguments: [
            ("application/x-www-form-urlencoded", "id={vehicleId}&grant=x", "id=van%207&grant=x"),
            ("application/json", #"{"id":"{vehicleId}"}"#, #"{"id":"van 7"}"#),
        ])
    func readTheBodyFromAFile(type: String, template: String, sentBody: String) async throws {
        let directory = try TemporaryDirectory()
        let settings = HTTPTokenSettings(
            url: "https://backend.example.com/token", method: .post,
            headers: [HeaderTemplate("Content-Type", .literal(type))],
            body: .file(try directory.write((template + "\n").utf8, to: "body", mode: 0o600)))
        let (provider, transport) = try makeProvider(settings) { _ in
            HTTPResponse(status: 200, body: Array(body.utf8))
        }
        _ = try await provider.token(for: van7)
        #expect(transport.requests.map { String(decoding: $0.body, as: UTF8.self) } == [sentBody])
    }

    @Test func leaveTheirConnectionsWhenTheNetworkReturns() async throws {
        let (provider, transport) = try makeProvider(HTTPTokenSettings(url: "https://backend.example.com/t")) { _ in
            HTTPResponse(status: 200)
        }
        await provider.networkReturned()
        #expect(transport.networkChanges == 1)
    }

    @Test func neverShowTheirBody() async throws {
        let secret = "grant=x&hush=hush"
        let settings = HTTPTokenSettings(
            url: "https://backend.example.com/t", method: .post, body: .environment("BODY"))
        let (provider, _) = try makeProvider(settings, environment: ["BODY": secret]) { _ in
            HTTPResponse(status: 200, body: Array(#"{"no \#(secret)":1}"#.utf8))
        }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error.map { "\($0.fault)".contains("hush") } == false)
    }

    @Test func nameTheirSectionOfTheConfiguration() async throws {
        let provider = try HTTPTokenProvider(
            HTTPTokenSettings(url: "https://backend.example.com/{tripId}"), section: "consumerAuthorization",
            providerID: "p", transport: ScriptedTransport { _ in HTTPResponse(status: 404) }, environment: [:])
        let trip = AuthorizationContext(tripID: "t")
        let origin = TokenOrigin(
            .endpoint, "https://backend.example.com/t", section: "consumerAuthorization",
            tokenKey: "VEHICLE_TOKEN_KEY", subject: trip.subject)
        await #expect(throws: AuthorizationError(.rejected(origin, EndpointRejection(status: 404)))) {
            try await provider.token(for: trip)
        }
    }

    @Test func requestATripTokenForATrip() async throws {
        let (provider, transport) = try makeProvider(
            HTTPTokenSettings(url: "https://backend.example.com/token/consumer/{tripId}")
        ) { _ in HTTPResponse(status: 200, body: Array(body.utf8)) }
        _ = try await provider.token(for: AuthorizationContext(tripID: "t/1"))
        #expect(transport.requests.first?.url.target == "/token/consumer/t%2F1")
        let fault = TokenFault.invalidSetting(key: "authorization.url", .noValue(placeholder: "tripId", van7))
        await #expect(throws: AuthorizationError(fault)) { try await provider.token(for: van7) }
    }

    @Test func rejectAnExpiredToken() async throws {
        // The token was issued at 01:46:40, and is returned more than an hour later.
        let settings = HTTPTokenSettings(url: "https://backend.example.com/t")
        let (provider, _) = try makeProvider(settings, now: 1_000_003_601) { _ in
            HTTPResponse(
                status: 200, headers: HTTPHeaders(["Date": "Sun, 09 Sep 2001 02:46:41 GMT"]), body: Array(body.utf8))
        }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.fault == .expired(origin(), .expiredWhenReturned(.issuer)))
        #expect(try await provider.fetchAnswer(for: van7).token.lifetime == .seconds(-1))
    }

    /// The status and the headers of an answer, and the code, the detail and the requested wait of the error.
    @Test(
        arguments: [
            (
                301, ["Location": "https://login.example.com/?next=secret"], .unusableAnswer,
                .redirect(to: "https://login.example.com"), nil
            ),
            (
                301, ["Location": "https://backend.example.com:8443/good/?key=secret#secret"], .unusableAnswer,
                .redirect(to: "https://backend.example.com:8443/good/"), nil
            ),
            (
                302, ["Location": "http://secret@portal.lan/secret?key=secret"], .unusableAnswer,
                .redirect(to: "http://portal.lan"), nil
            ),
            (302, ["Location": "sign-in?next=secret"], .unusableAnswer, .redirect(to: "sign-in"), nil),
            (302, ["Location": "/login?next=secret"], .unusableAnswer, .redirect(to: "/login"), nil),
            (302, ["Location": "//secret/secret"], .unusableAnswer, .redirect(to: nil), nil),
            (302, [:], .unusableAnswer, .redirect(to: nil), nil), (400, [:], .refused, nil, nil),
            (401, [:], .refused, nil, nil), (405, [:], .refused, .allowedMethods([]), nil),
            (405, ["Allow": "POST"], .refused, .allowedMethods(["POST"]), nil),
            (405, ["Allow": "secret"], .refused, .allowedMethods([]), nil), (407, [:], .refused, nil, nil),
            (408, [:], .unavailable, nil, nil), (429, ["Retry-After": "30"], .unavailable, nil, 30),
            (500, [:], .unavailable, nil, nil), (502, ["Retry-After": "soon"], .unavailable, nil, nil),
            (511, [:], .unavailable, nil, nil), (503, ["Retry-After": "3600"], .unavailable, nil, 3600),
            (
                503, ["Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
                .unavailable, nil, 60
            ),
        ] as [(Int, KeyValuePairs<String, String>, AuthorizationError.Code, EndpointRejection.Detail?, Int?)])
    func reportARejectedRequest(
        status: Int, headers: KeyValuePairs<String, String>, code: AuthorizationError.Code,
        detail: EndpointRejection.Detail?, wait: Int?
    ) async throws {
        let (provider, _) = try makeProvider(
            HTTPTokenSettings(url: "https://backend.example.com/t?key=secret&vehicle={vehicleId}")
        ) { _ in HTTPResponse(status: status, headers: HTTPHeaders(headers), body: Array("secret".utf8)) }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.code == code && error?.retryAfter == wait.map { .seconds($0) })
        let origin = origin(at: "https://backend.example.com/t?key=…&vehicle=…", credentials: ["url"])
        #expect(error?.fault == .rejected(origin, EndpointRejection(status: status, detail: detail)))
    }

    /// A path can be a secret, for example in a webhook's address.
    @Test func hideAnAddressFromACredential() async throws {
        var settings = HTTPTokenSettings(url: "https://backend.example.com/hooks/Xk29dLmPq8s?vehicle={vehicleId}")
        settings.urlSource = "the credential token-url"
        let secrets = ["backend.example.com", "Xk29dLmPq8s"]
        let location = "https://backend.example.com/hooks/Xk29dLmPq8s/"
        for (status, body) in [
            (404, ""), (302, ""), (400, #"{"error": "no route for /hooks/Xk29dLmPq8s"}"#), (200, ""),
        ] {
            let (provider, _) = try makeProvider(settings) { _ in
                HTTPResponse(status: status, headers: HTTPHeaders(["Location": location]), body: Array(body.utf8))
            }
            let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
            let facts = error.map { "\($0.fault)" } ?? ""
            #expect(facts.contains("credential token-url") && !secrets.contains(where: facts.contains), "\(facts)")
        }
        let (silent, _) = try makeProvider(settings) { (_) throws(HTTPTransportError) in
            throw HTTPTransportError(
                .nameNotResolved, "https://backend.example.com: Could not resolve host: backend.example.com")
        }
        let origin = origin(at: "at the URL in the credential token-url")
        let fault = TokenFault.unanswered(origin, .nameNotResolved, "Could not resolve host: …")
        await #expect(throws: AuthorizationError(fault)) { try await silent.token(for: van7) }
    }

    /// The details that the body of an answer with status 400 reveals.
    @Test(
        arguments: [
            (
                "http://127.0.0.1:8443/t", "<title>400 The plain HTTP request was sent to HTTPS port</title>",
                .httpsExpected
            ),
            ("http://127.0.0.1:8443/t", "Client sent an HTTP request to an HTTPS server.", .httpsExpected),
            ("http://127.0.0.1:8443/t", "You're speaking plain HTTP to an SSL-enabled server port.", .httpsExpected),
            ("http://127.0.0.1:8443/t", "This combination of host and port requires TLS.", .httpsExpected),
            ("http://127.0.0.1:8443/t", "no vehicle", nil),
            ("https://backend.example.com/t", "The plain HTTP request was sent to HTTPS port", nil),
            ("https://backend.example.com/t", "<title>400 No required SSL certificate was sent", .certificateRequired),
            ("https://backend.example.com/t", #"{"error": "invalid_grant"}"#, .spentGrant),
        ] as [(String, String, EndpointRejection.Detail?)])
    func reportTheDetailOfAnAnswerWithStatus400(url: String, body: String, detail: EndpointRejection.Detail?)
        async throws
    {
        let (provider, _) = try makeProvider(HTTPTokenSettings(url: url)) { _ in
            HTTPResponse(status: 400, body: Array(body.utf8))
        }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        guard case .rejected(_, let rejection) = error?.fault else { throw try #require(error) }
        #expect(rejection.detail == detail)
    }

    @Test(
        arguments: [
            (.nameNotResolved, .nameNotResolved), (.connectionFailed, .connectionFailed), (.timedOut, .timedOut),
            (.responseTooLarge, .answerTooLarge), (.malformedResponse, .malformedAnswer),
            (.unknownContentEncoding, .undecodableAnswer), (.transportFailed, .clientFailed),
            (.connectionLost, .connectionLost(isEncrypted: true)), (.tlsFailed, .tlsFailed),
        ] as [(HTTPTransportError.Code, ExchangeFault)])
    func reportWhyAnExchangeFailed(code: HTTPTransportError.Code, fault: ExchangeFault) async throws {
        try await expect(fault, for: HTTPTransportError(code, "no answer"))
    }

    @Test(
        arguments: [
            (.certificateRequested, false, .certificateRequired), (.certificateRequested, true, .certificateRejected),
            (.noCommonVersion, false, .oldTLS), (.noCommonVersion, true, .oldTLS),
        ] as [(TLSFault, Bool, ExchangeFault)])
    func reportWhyTLSFailed(tlsFault: TLSFault, sendsCertificate: Bool, fault: ExchangeFault) async throws {
        try await expect(
            fault, for: HTTPTransportError(.tlsFailed, "no answer", tlsFault: tlsFault),
            sendsCertificate: sendsCertificate)
    }

    @Test func reportATruncatedAnswer() async throws {
        let error = HTTPTransportError(.connectionLost, "no answer", traffic: HTTPTraffic(bytesReceived: 90))
        try await expect(.answerTruncated, for: error)
    }

    private func expect(
        _ fault: ExchangeFault, for failure: HTTPTransportError, sendsCertificate: Bool = false
    ) async throws {
        let provider = try HTTPTokenProvider(
            HTTPTokenSettings(url: "https://backend.example.com/t"), providerID: "p",
            transport: ScriptedTransport { _ throws(HTTPTransportError) in throw failure },
            sendsCertificate: sendsCertificate, environment: [:])
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        let origin = origin(credentials: sendsCertificate ? ["clientCertificateFile"] : [])
        #expect(error?.fault == .unanswered(origin, fault, "no answer"))
    }

    @Test(arguments: [.notValidNow, nil] as [CertificateFault?])
    func reportAnUntrustedCertificate(fault: CertificateFault?) async throws {
        let (provider, _) = try makeProvider(HTTPTokenSettings(url: "https://backend.example.com/t")) {
            _ throws(HTTPTransportError) in
            throw HTTPTransportError(.certificateNotTrusted, "SSL certificate problem", certificateFault: fault)
        }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.fault == .unanswered(origin(), .untrustedCertificate(fault), "SSL certificate problem"))
        #expect(error?.fault.kind == .endpointTLS)
    }

    /// A backend answers with JSON; another server may answer with a page.
    @Test(arguments: [
        (400, false), (401, true), (403, true), (404, true), (500, false), (502, false), (503, true), (504, false),
    ])
    func recogniseThePageOfAnotherServer(status: Int, isPage: Bool) async throws {
        let (provider, _) = try makeProvider(HTTPTokenSettings(url: "https://backend.example.com/t")) { _ in
            HTTPResponse(status: status, body: Array("<!DOCTYPE html><p>secret".utf8))
        }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.fault == .rejected(origin(), EndpointRejection(status: status, isPage: isPage)))
    }

    /// A backend's message is shown without secrets, and only if it is the same at each attempt.
    @Test(
        arguments: [
            (#"{"error": "no such vehicle"}"#, "no such vehicle"),
            (#"{"error": "van 7 is not enrolled"}"#, "van 7 is not enrolled"),
            (#"{"error": {"code": 400, "message": "vehicle is missing", "status": "INVALID"}}"#, "vehicle is missing"),
            (
                #"{"error": "invalid_request", "error_description": "the key hush-hush is no key"}"#,
                "the key … is no key"
            ),
            (#"{"type": "about:blank", "title": "Bad Request", "detail": "no vehicle"}"#, "no vehicle"),
            (#"{"message": "request 7f31 failed"}"#, nil), (#"{"error": 7, "id": "abc"}"#, nil),
            (#"{"error": ""}"#, nil), (#"{"error": "hush-hush van 7"}"#, nil), (#"["error"]"#, nil),
            (#"{"error": "cut o"#, nil), ("no vehicle", nil),
        ] as [(String, ReportedText?)])
    func keepTheMessageOfTheBackend(body: String, message: ReportedText?) async throws {
        for status in [400, 401, 403, 404, 422, 503] {
            let (provider, _) = try makeProvider(
                HTTPTokenSettings(
                    url: "https://backend.example.com/t", headers: [HeaderTemplate("Key", .literal("hush-hush"))])
            ) { _ in HTTPResponse(status: status, body: Array(body.utf8)) }
            let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
            guard case .rejected(_, let rejection) = error?.fault else { throw try #require(error) }
            #expect(rejection.message == message)
        }
    }

    /// The keys of credentials. A credential may be in the query or the body; a value that only names the vehicle isn't
    /// one.
    @Test(
        arguments: [
            ("", nil, [], false, []), ("", nil, [], true, ["clientCertificateFile"]),
            ("", nil, ["Key"], true, ["headers", "clientCertificateFile"]),
            ("?v={vehicleId}", .literal(#"{"vehicle": "{vehicleId}"}"#), [], false, []),
            ("?v={vehicleId}&key=secret", nil, [], false, ["url"]),
            ("", .literal(#"{"vehicle": "{vehicleId}", "key": "secret"}"#), [], false, ["body"]),
            ("", .literal("vehicle={vehicleId}&key=secret"), [], false, ["body"]),
            ("?key=7", .environment("KEY"), [], false, ["url", "body"]),
        ] as [(String, Secret?, [String], Bool, [String])])
    func nameTheCredentialsThatTheySent(
        query: String, body: Secret?, headers: [String], sendsCertificate: Bool, credentials: [String]
    ) async throws {
        let provider = try HTTPTokenProvider(
            HTTPTokenSettings(
                url: "https://backend.example.com/t\(query)", method: .post,
                headers: headers.map { HeaderTemplate($0, .literal("secret")) }, body: body),
            providerID: "p", transport: ScriptedTransport { _ in HTTPResponse(status: 401) },
            sendsCertificate: sendsCertificate, environment: ["KEY": "secret"])
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        guard case .rejected(let origin, _) = error?.fault else { throw try #require(error) }
        #expect(origin.credentials == credentials.map { "authorization.\($0)" })
    }

    @Test(
        arguments: [
            (HTTPTransportError.Code.cancelled, AuthorizationError.Code.cancelled), (.nameNotResolved, .unavailable),
            (.connectionFailed, .unavailable), (.timedOut, .unavailable), (.connectionLost, .unavailable),
            (.certificateNotTrusted, .unavailable), (.tlsFailed, .unavailable), (.responseTooLarge, .unusableAnswer),
            (.malformedResponse, .unusableAnswer), (.unknownContentEncoding, .unusableAnswer),
            (.transportFailed, .misconfigured),
        ])
    func reportWhyThereIsNoAnswer(failure: HTTPTransportError.Code, code: AuthorizationError.Code) async throws {
        let (provider, _) = try makeProvider(HTTPTokenSettings(url: "https://backend.example.com/t")) {
            _ throws(HTTPTransportError) in throw HTTPTransportError(failure, "https://backend.example.com: broken")
        }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.code == code)
    }

    @Test(
        arguments: [
            ("backend", "is not an absolute URL"), ("ftp://x/", "has the unsupported scheme"),
            ("http://backend.example.com/", "unencrypted"),
            ("https://x/{van}", "unknownPlaceholder(\"van\")"), ("https://x/a b", "percent-encoded"),
            ("https://x/<vehicleId>", "contains <, which usually marks a placeholder"),
            ("https://user:secret@x/", "credentials"),
        ])
    func requireAValidURL(url: String, message: String) {
        let error = #expect(throws: AuthorizationError.self) {
            try makeProvider(HTTPTokenSettings(url: url)) { _ in HTTPResponse(status: 200) }
        }
        #expect(error?.code == .misconfigured)
        guard case .invalidSetting("authorization.url", let fault) = error?.fault else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect("\(fault)".contains(message) && !"\(fault)".contains("secret"), "\(fault)")
    }

    @Test func countTheTokensAgeByTheEndpointsClock() async throws {
        // The token was issued at Unix time 1,000,000,000 (01:46:40 UTC), and is returned a quarter of an hour later.
        let (provider, _) = try makeProvider(HTTPTokenSettings(url: "https://backend.example.com/t")) { _ in
            HTTPResponse(
                status: 200, headers: HTTPHeaders(["Date": "Sun, 09 Sep 2001 02:01:40 GMT"]), body: Array(body.utf8))
        }
        #expect(try await provider.token(for: van7).lifetime == .seconds(2700))
    }

    @Test func warnAboutAnExpiryButUseTheToken() async throws {
        let answer = #"{"TOKEN_EXPIRATION":60000,\#(body.dropFirst())"#
        let (provider, _) = try makeProvider(HTTPTokenSettings(url: "https://backend.example.com/t")) { _ in
            HTTPResponse(status: 200, body: Array(answer.utf8))
        }
        let token = try await provider.token(for: van7)
        #expect(token.lifetime == .seconds(3600))
        let stated = StatedExpiry(key: "TOKEN_EXPIRATION", text: "60000", meaning: .number(60_000))
        #expect(token.warnings == [.expiry(.differentExpiries(stated, seconds: 60_000, tokenSeconds: 3600), origin())])
    }
}
