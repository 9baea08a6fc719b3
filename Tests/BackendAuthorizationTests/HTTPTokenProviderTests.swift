import HTTPMessages
import ReportedText
import Testing
import VehicleAuthorization
import WaypostTestSupport

@testable import BackendAuthorization

@Suite struct HTTPTokenProviders {
    private let van7 = AuthorizationContext(vehicleID: "van 7")
    private let body = #"{"VEHICLE_TOKEN_KEY":"\#(TestTokens.driver(vehicleID: "van 7"))"}"#

    private func provider(
        _ settings: HTTPTokenSettings, environment: [String: String] = [:],
        now: Double = 0, _ answer: @escaping ScriptedTransport.Answer
    ) throws -> (HTTPTokenProvider, ScriptedTransport) {
        let transport = ScriptedTransport(answer)
        let provider = try HTTPTokenProvider(
            settings, providerID: "p", transport: transport, environment: environment, wallClock: { now })
        return (provider, transport)
    }

    @Test func asksAndReads() async throws {
        let (provider, transport) = try provider(
            HTTPTokenSettings(url: "https://backend.example.com/token/driver/{vehicleId}?project={providerId}")
        ) { _ in HTTPResponse(status: 200, body: Array(body.utf8)) }
        #expect(try await provider.token(for: van7).lifetime == .seconds(3600))
        let request = try #require(transport.requests.first)
        #expect(request.method == .get)
        #expect(request.url.description == "https://backend.example.com/token/driver/van%207?project=p")
        #expect(request.headers["Accept"] == "application/json")
        #expect(request.body.isEmpty)
    }

    @Test func sendsHeadersAndBodyWithSecrets() async throws {
        let folder = try TemporaryFolder()
        let settings = HTTPTokenSettings(
            url: "https://backend.example.com/token", method: .post,
            headers: [
                HeaderTemplate(
                    "Authorization", .file(try folder.write("file-secret\n".utf8, to: "key", mode: 0o600)),
                    scheme: .bearer),
                HeaderTemplate("X-Basic", .environment("PAIR"), scheme: .basic),
                HeaderTemplate("X-Plain", .literal("plain")),
            ], body: .literal(#"{"vehicle":"{vehicleId}"}"#))
        let (provider, transport) = try provider(settings, environment: ["PAIR": "user:pass"]) { _ in
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
    func takesTheBodyFromAFile(type: String, template: String, sent: String) async throws {
        let folder = try TemporaryFolder()
        let settings = HTTPTokenSettings(
            url: "https://backend.example.com/token", method: .post,
            headers: [HeaderTemplate("Content-Type", .literal(type))],
            body: .file(try folder.write((template + "\n").utf8, to: "body", mode: 0o600)))
        let (provider, transport) = try provider(settings) { _ in HTTPResponse(status: 200, body: Array(body.utf8)) }
        _ = try await provider.token(for: van7)
        #expect(transport.requests.map { String(decoding: $0.body, as: UTF8.self) } == [sent])
    }

    @Test func leavesItsConnectionsWhenTheNetworkIsBack() async throws {
        let (provider, transport) = try provider(HTTPTokenSettings(url: "https://backend.example.com/t")) { _ in
            HTTPResponse(status: 200)
        }
        await provider.networkReturned()
        #expect(transport.networkChanges == 1)
    }

    @Test func neverShowsWhatItsBodyHolds() async throws {
        let secret = "grant=x&hush=hush"
        let settings = HTTPTokenSettings(
            url: "https://backend.example.com/t", method: .post, body: .environment("BODY"))
        let (provider, _) = try provider(settings, environment: ["BODY": secret]) { _ in
            HTTPResponse(status: 200, body: Array(#"{"no \#(secret)":1}"#.utf8))
        }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.description.contains(#"it has "no …""#) == true, "\(error?.description ?? "")")
    }

    @Test func namesItsSectionOfTheConfiguration() async throws {
        let provider = try HTTPTokenProvider(
            HTTPTokenSettings(url: "https://backend.example.com/{tripId}"), section: "consumerAuthorization",
            providerID: "p", transport: ScriptedTransport { _ in HTTPResponse(status: 404) }, environment: [:])
        for context in [van7, AuthorizationContext(tripID: "t")] {
            let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: context) }
            #expect(error?.description.contains("consumerAuthorization.url") == true)
        }
    }

    @Test func asksForATripWhereTheContextIsOne() async throws {
        let (provider, transport) = try provider(
            HTTPTokenSettings(url: "https://backend.example.com/token/consumer/{tripId}")
        ) { _ in HTTPResponse(status: 200, body: Array(body.utf8)) }
        _ = try await provider.token(for: AuthorizationContext(tripID: "t/1"))
        #expect(transport.requests.first?.url.target == "/token/consumer/t%2F1")
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.description == "authorization.url asks for {tripId}, but the token is for vehicle van 7")
    }

    @Test func refusesATokenWhoseLifeIsOver() async throws {
        // Issued at 01:46:40; handed out more than an hour later.
        let settings = HTTPTokenSettings(url: "https://backend.example.com/t")
        let (provider, _) = try provider(settings, now: 1_000_003_601) { _ in
            HTTPResponse(
                status: 200, headers: HTTPHeaders(["Date": "Sun, 09 Sep 2001 02:46:41 GMT"]), body: Array(body.utf8))
        }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(
            error?.description
                == "token endpoint https://backend.example.com/t gave a token that was over already, judged by "
                + "the endpoint's own clock (its Date header); let the issuer make a new one, and check its clock and cache"
        )
        #expect(try await provider.ask(for: van7).token.lifetime == .seconds(-1))
    }

    /// Status, headers, the kind of failure, words, the wait asked for.
    @Test(
        arguments: [
            (
                301, ["Location": "https://login.example.com/?next=secret"], AuthorizationError.Code.unusableAnswer,
                "a redirect to https://login.example.com, which is not followed", nil
            ),
            (
                301, ["Location": "https://backend.example.com:8443/good/?key=secret#secret"], .unusableAnswer,
                "a redirect to https://backend.example.com:8443/good/, which is not followed", nil
            ),
            (
                302, ["Location": "http://secret@portal.lan/secret?key=secret"], .unusableAnswer,
                "a redirect to http://portal.lan, which is not followed", nil
            ),
            (
                302, ["Location": "sign-in?next=secret"], .unusableAnswer,
                "a redirect to sign-in, which is not followed",
                nil
            ),
            (302, ["Location": "//secret/secret"], .unusableAnswer, "a redirect, which", nil),
            (302, [:], .unusableAnswer, "a redirect, which", nil),
            (
                302, ["Location": "/login?next=secret"], .unusableAnswer, "a redirect to /login, which is not followed",
                nil
            ),
            (422, [:], .refused, "check authorization.headers and body", nil),
            (401, [:], .refused, "it rejects our credentials; check authorization.url", nil),
            (
                403, [:], .refused,
                "it does not let us have this vehicle's token: check vehicle.vehicleId, that the vehicle is enrolled "
                    + "there, and authorization.url", nil
            ),
            (404, [:], .refused, "does not know the address", nil),
            (405, [:], .refused, "it expects another method; check authorization.method", nil),
            (405, ["Allow": "POST"], .refused, "another method; it allows POST; check authorization.method", nil),
            (405, ["Allow": "secret"], .refused, "it expects another method; check authorization.method", nil),
            (408, [:], .unavailable, "cannot answer now", nil),
            (
                429, ["Retry-After": "30"], .unavailable,
                "it cannot answer now, and wants a pause (Retry-After); see the backend's log", 30
            ),
            (500, [:], .unavailable, "it cannot answer now; see the backend's log", nil),
            (502, ["Retry-After": "soon"], .unavailable, "no answer from it; check that the backend runs", nil),
            (407, [:], .refused, "a proxy in the way wants credentials", nil),
            (415, [:], .refused, "it expects another kind of request; check authorization.headers and body", nil),
            (511, [:], .unavailable, "the network wants a login first (a captive portal)", nil),
            (503, ["Retry-After": "3600"], .unavailable, "wants a pause (Retry-After)", 3600),
            (400, [:], .refused, "check authorization.url, headers, body and client certificate", nil),
            (
                503, ["Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
                .unavailable, "503", 60
            ),
        ] as [(Int, KeyValuePairs<String, String>, AuthorizationError.Code, String, Int?)])
    func tellsWhatAStatusMeans(
        status: Int, headers: KeyValuePairs<String, String>, code: AuthorizationError.Code, words: String, wait: Int?
    ) async throws {
        let (provider, _) = try provider(
            HTTPTokenSettings(url: "https://backend.example.com/t?key=secret&vehicle={vehicleId}")
        ) { _ in HTTPResponse(status: status, headers: HTTPHeaders(headers), body: Array("secret".utf8)) }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.code == code)
        #expect(error?.retryAfter == wait.map { .seconds($0) })
        let text = error?.description ?? ""
        #expect(text.hasPrefix("token endpoint https://backend.example.com/t?key=…&vehicle=… answered \(status): "))
        #expect(text.contains(words), "\(text)")
        #expect(!text.contains("secret"))
    }

    /// A path can be a key, as in a webhook's address.
    @Test func namesAnAddressFromACredentialByTheCredential() async throws {
        var settings = HTTPTokenSettings(url: "https://backend.example.com/hooks/Xk29dLmPq8s?vehicle={vehicleId}")
        settings.urlSource = "the credential token-url"
        let name = "token endpoint at the URL in the credential token-url"
        let secrets = ["backend.example.com", "Xk29dLmPq8s"]
        let location = "https://backend.example.com/hooks/Xk29dLmPq8s/"
        for (status, body) in [
            (404, ""), (302, ""), (400, #"{"error": "no route for /hooks/Xk29dLmPq8s"}"#), (200, ""),
        ] {
            let (provider, _) = try provider(settings) { _ in
                HTTPResponse(status: status, headers: HTTPHeaders(["Location": location]), body: Array(body.utf8))
            }
            let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
            let text = error?.description ?? ""
            #expect(text.hasPrefix(name) && !secrets.contains(where: text.contains), "\(text)")
        }
        let (silent, _) = try provider(settings) { (_) throws(HTTPTransportError) in
            throw HTTPTransportError(
                .nameNotResolved, "https://backend.example.com: Could not resolve host: backend.example.com")
        }
        let error = await #expect(throws: AuthorizationError.self) { try await silent.token(for: van7) }
        #expect(
            error?.description
                == "\(name): Could not resolve host: …; it stands in authorization.url")
    }

    /// Who asks first spends it, and that may have been a check.
    @Test func tellsThatARefreshTokenIsSpent() async throws {
        let body = #"{"error": "invalid_grant", "error_description": "refresh token was used before"}"#
        let (provider, _) = try provider(
            HTTPTokenSettings(
                url: "https://backend.example.com/t", method: .post, body: .literal("refresh-token-7f3a"))
        ) { _ in HTTPResponse(status: 400, body: Array(body.utf8)) }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(
            error?.detail
                == "token endpoint https://backend.example.com/t answered 400: its grant was used or has expired: the "
                + "first of service, waypost check and waypost token to send a single-use refresh token spends it; give the van a "
                + "grant that lasts; it says \"refresh token was used before\"")
    }

    @Test(
        arguments: [
            ("http://127.0.0.1:8443/t", "<title>400 The plain HTTP request was sent to HTTPS port</title>", true),
            ("http://127.0.0.1:8443/t", "Client sent an HTTP request to an HTTPS server.", true),
            ("http://127.0.0.1:8443/t", "You're speaking plain HTTP to an SSL-enabled server port.", true),
            ("http://127.0.0.1:8443/t", "This combination of host and port requires TLS.", true),
            ("http://127.0.0.1:8443/t", "no vehicle", false),
            ("http://127.0.0.1:8443/t", #"{"type": "https://x/errors", "detail": "no vehicle"}"#, false),
            ("https://backend.example.com/t", "The plain HTTP request was sent to HTTPS port", false),
        ])
    func tellsThatThePortExpectsHTTPS(url: String, body: String, isTold: Bool) async throws {
        let (provider, _) = try provider(HTTPTokenSettings(url: url)) { _ in
            HTTPResponse(status: 400, body: Array(body.utf8))
        }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(
            error?.description.hasSuffix("its port expects https; write https in authorization.url") == isTold,
            "\(error?.description ?? "")")
    }

    /// TLS 1.3 tells it when the handshake is over, as a lost connection.
    @Test(arguments: [HTTPTransportError.Code.connectionLost, .tlsFailed], [false, true])
    func tellsThatACertificateIsDemanded(code: HTTPTransportError.Code, isSent: Bool) async throws {
        let provider = try HTTPTokenProvider(
            HTTPTokenSettings(url: "https://backend.example.com/t"), providerID: "p",
            transport: ScriptedTransport { _ throws(HTTPTransportError) in
                throw HTTPTransportError(code, "OpenSSL SSL_read: tlsv13 alert certificate required, errno 0")
            }, sendsCertificate: isSent, environment: [:])
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        let words =
            "it demands a client certificate; \(isSent ? "check" : "set") authorization.clientCertificateFile and "
            + "clientKeyFile"
        #expect(error?.description.hasSuffix(words) == true, "\(error?.description ?? "")")
    }

    /// In nginx's words, and by an alert of TLS.
    @Test(
        arguments: [
            (true, "400 The SSL certificate error", rejected), (true, "tlsv13 alert certificate expired", rejected),
            (true, "tlsv1 alert unknown ca", rejected),
            (
                false, "400 No required SSL certificate was sent",
                "it demands a client certificate; set authorization.clientCertificateFile and clientKeyFile"
            ),
        ])
    func tellsWhatIsWrongWithTheCertificate(isSent: Bool, said: String, words: String) async throws {
        let provider = try HTTPTokenProvider(
            HTTPTokenSettings(url: "https://backend.example.com/t"), providerID: "p",
            transport: ScriptedTransport { _ throws(HTTPTransportError) in
                if said.contains("alert") { throw HTTPTransportError(.connectionLost, "OpenSSL SSL_read: \(said)") }
                return HTTPResponse(status: 400, body: Array("<html><title>\(said)</title>".utf8))
            }, sendsCertificate: isSent, environment: [:])
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.description.hasSuffix(words) == true, "\(error?.description ?? "")")
    }

    private static let rejected =
        "it rejects our client certificate: look whether that has ended (waypost check says), and whether the "
        + "backend knows its authority; check authorization.clientCertificateFile and clientKeyFile"

    @Test(
        arguments: [
            (
                .outsideItsTime,
                "let the backend renew its certificate, or, if the time is wrong, set this machine's clock"
            ),
            (
                .ofAnotherName,
                "correct the host in authorization.url, or let the backend have a certificate for that name"
            ),
            (
                .ofUnknownAuthority,
                "if its authority is your own, authorization.caFile must hold that one's certificate"
            ),
            (nil, "check authorization.url and caFile, and the backend's certificate"),
        ] as [(HTTPTransportError.CertificateFault?, String)])
    func tellsWhatIsWrongWithTheServersCertificate(
        fault: HTTPTransportError.CertificateFault?, words: String
    ) async throws {
        let provider = try HTTPTokenProvider(
            HTTPTokenSettings(url: "https://backend.example.com/t"), providerID: "p",
            transport: ScriptedTransport { _ throws(HTTPTransportError) in
                throw HTTPTransportError(.certificateNotTrusted, "SSL certificate problem", certificateFault: fault)
            }, environment: [:])
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(
            error?.description.hasSuffix("SSL certificate problem; \(words)") == true, "\(error?.description ?? "")")
    }

    @Test(arguments: [HTTPTransportError.Code.connectionLost, .tlsFailed])
    func tellsThatTheBackendsTLSIsTooOld(code: HTTPTransportError.Code) async throws {
        let provider = try HTTPTokenProvider(
            HTTPTokenSettings(url: "https://backend.example.com/t"), providerID: "p",
            transport: ScriptedTransport { _ throws(HTTPTransportError) in
                throw HTTPTransportError(
                    code, "OpenSSL/3.0.17: error:0A00042E:SSL routines::tlsv1 alert protocol version")
            }, environment: [:])
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(
            error?.description.hasSuffix("; its versions of TLS are older than 1.2; let the backend have a newer one")
                == true)
    }

    /// Whoever has begun to answer expects neither https nor a certificate.
    @Test(arguments: ["http://127.0.0.1:8443/t", "https://backend.example.com/t"])
    func blamesTheBackendForAnAnswerThatBreaksOff(url: String) async throws {
        let provider = try HTTPTokenProvider(
            HTTPTokenSettings(url: url), providerID: "p",
            transport: ScriptedTransport { _ throws(HTTPTransportError) in
                throw HTTPTransportError(.connectionLost, "transfer closed with 476 bytes remaining to read")
            }, environment: [:])
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.description.hasSuffix(" remaining to read; see the backend's log") == true)
    }

    private static let demand =
        "; if it demands a client certificate, set authorization.clientCertificateFile and clientKeyFile"

    /// The connection may be gone before that is told.
    @Test(
        arguments: [
            (.connectionLost, false, "; see the backend's log" + demand),
            (.connectionLost, true, "; see the backend's log; if " + rejected),
            (.tlsFailed, false, "; check that authorization.url names a port for https" + demand),
            (
                .tlsFailed, true,
                " names a port for https, and authorization.clientCertificateFile and clientKeyFile"
            ),
        ] as [(HTTPTransportError.Code, Bool, String)])
    func namesTheCertificateThatMayBeMissing(
        code: HTTPTransportError.Code, isSent: Bool, words: String
    ) async throws {
        let provider = try HTTPTokenProvider(
            HTTPTokenSettings(url: "https://backend.example.com/t"), providerID: "p",
            transport: ScriptedTransport { _ throws(HTTPTransportError) in
                throw HTTPTransportError(code, "Connection reset by peer")
            }, sendsCertificate: isSent, environment: [:])
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.description.hasSuffix(words) == true, "\(error?.description ?? "")")
    }

    /// A backend answers with JSON; whoever answers with a page may be another.
    @Test(arguments: [
        (400, false), (401, true), (403, true), (404, true), (500, false), (502, false), (503, true), (504, false),
    ])
    func tellsThatAPageCameInstead(status: Int, isTold: Bool) async throws {
        let (provider, _) = try provider(HTTPTokenSettings(url: "https://backend.example.com/t")) { _ in
            HTTPResponse(status: status, body: Array("<!DOCTYPE html><p>secret".utf8))
        }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        let note = "; its answer is a page (HTML or XML), so another server, a proxy or a login page may be answering"
        #expect(error?.description.hasSuffix(note) == isTold, "\(error?.description ?? "")")
    }

    /// Without secrets, and without what may differ at each try.
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
        ])
    func tellsTheBackendsOwnReason(body: String, says: String?) async throws {
        for status in [400, 401, 403, 404, 422, 503] {
            let (provider, _) = try provider(
                HTTPTokenSettings(
                    url: "https://backend.example.com/t", headers: [HeaderTemplate("Key", .literal("hush-hush"))])
            ) { _ in HTTPResponse(status: status, body: Array(body.utf8)) }
            let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
            let text = error?.description ?? ""
            #expect(text.contains("; it says \"") == (says != nil), "\(text)")
            if let says { #expect(text.hasSuffix("; it says \"\(says)\""), "\(text)") }
        }
    }

    /// What says who asks is named where it was rejected.
    @Test(
        arguments: [
            (401, [], true, "it rejects our credentials; check authorization.clientCertificateFile"),
            (401, ["Key"], false, "it rejects our credentials; check authorization.headers"),
            (401, ["Key"], true, "check authorization.headers and authorization.clientCertificateFile"),
            (403, [], true, "is enrolled there, and authorization.clientCertificateFile"),
        ] as [(Int, [String], Bool, String)])
    func namesTheCredentialsItSent(
        status: Int, headers: [String], sendsCertificate: Bool, words: String
    ) async throws {
        let provider = try HTTPTokenProvider(
            HTTPTokenSettings(
                url: "https://backend.example.com/t", headers: headers.map { HeaderTemplate($0, .literal("secret")) }),
            providerID: "p", transport: ScriptedTransport { _ in HTTPResponse(status: status) },
            sendsCertificate: sendsCertificate, environment: [:])
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.description.hasSuffix(words) == true, "\(error?.description ?? "")")
    }

    /// A key may stand in the query or in the body; what only names the vehicle is none.
    @Test(
        arguments: [
            ("", nil, "no headers are configured; add authorization.headers or a client certificate"),
            (
                "?v={vehicleId}", .literal(#"{"vehicle": "{vehicleId}"}"#),
                "no headers are configured; add authorization."
            ),
            ("?v={vehicleId}&key=secret", nil, "it rejects our credentials; check authorization.url"),
            (
                "", .literal(#"{"vehicle": "{vehicleId}", "key": "secret"}"#),
                "our credentials; check authorization.body"
            ),
            ("", .literal("vehicle={vehicleId}&key=secret"), "it rejects our credentials; check authorization.body"),
            ("", .environment("KEY"), "it rejects our credentials; check authorization.body"),
            ("?key=7", .environment("KEY"), "check authorization.url and authorization.body"),
        ] as [(String, Secret?, String)])
    func namesWhereTheKeyStands(query: String, body: Secret?, words: String) async throws {
        let provider = try HTTPTokenProvider(
            HTTPTokenSettings(url: "https://backend.example.com/t\(query)", method: .post, body: body),
            providerID: "p", transport: ScriptedTransport { _ in HTTPResponse(status: 401) },
            environment: ["KEY": "secret"])
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test(arguments: [
        (AuthorizationContext(tripID: "t"), "this trip's token: check whose trip it is, and authorization.headers"),
        (AuthorizationContext(trackingID: "s"), "this shipment's token: check whose it is, and authorization.headers"),
    ])
    func namesWhatItMayNotFollow(context: AuthorizationContext, words: String) async throws {
        let (provider, _) = try provider(HTTPTokenSettings(url: "https://backend.example.com/t")) { _ in
            HTTPResponse(status: 403)
        }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: context) }
        #expect(error?.description.hasSuffix("it does not let us have \(words)") == true)
    }

    @Test(
        arguments: [
            (HTTPTransportError.Code.cancelled, AuthorizationError.Code.cancelled), (.nameNotResolved, .unavailable),
            (.connectionFailed, .unavailable), (.timedOut, .unavailable), (.connectionLost, .unavailable),
            (.certificateNotTrusted, .unavailable), (.tlsFailed, .unavailable), (.responseTooLarge, .unusableAnswer),
            (.malformedResponse, .unusableAnswer), (.unknownContentEncoding, .unusableAnswer),
            (.transportFailed, .misconfigured),
        ])
    func tellsWhyNoAnswerCame(failure: HTTPTransportError.Code, code: AuthorizationError.Code) async throws {
        let (provider, _) = try provider(HTTPTokenSettings(url: "https://backend.example.com/t")) {
            _ throws(HTTPTransportError) in throw HTTPTransportError(failure, "https://backend.example.com: broken")
        }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.code == code)
    }

    @Test(
        arguments: [
            ("backend", "is not an absolute URL"), ("ftp://x/", "has the scheme"),
            ("http://backend.example.com/", "unencrypted"),
            ("https://x/{van}", "placeholder {van}"), ("https://x/a b", "percent-encoded"),
            ("https://x/<vehicleId>", "contains <, as pages write what is to be filled in"),
            ("https://user:secret@x/", "credentials"),
        ])
    func needsAnAddress(url: String, words: String) {
        let error = #expect(throws: AuthorizationError.self) {
            try provider(HTTPTokenSettings(url: url)) { _ in HTTPResponse(status: 200) }
        }
        #expect(error?.code == .misconfigured)
        #expect(error?.description.hasPrefix("authorization.url ") == true)
        #expect(error?.description.contains(words) == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func countsTheTokensAgeByTheEndpointsClock() async throws {
        // Issued at 1,000,000,000, which is 01:46:40; handed out a quarter of an hour later.
        let (provider, _) = try provider(HTTPTokenSettings(url: "https://backend.example.com/t")) { _ in
            HTTPResponse(
                status: 200, headers: HTTPHeaders(["Date": "Sun, 09 Sep 2001 02:01:40 GMT"]), body: Array(body.utf8))
        }
        #expect(try await provider.token(for: van7).lifetime == .seconds(2700))
    }

    @Test func doubtsAnExpiryAndTakesTheToken() async throws {
        let answer = #"{"TOKEN_EXPIRATION":60000,\#(body.dropFirst())"#
        let (provider, _) = try provider(HTTPTokenSettings(url: "https://backend.example.com/t")) { _ in
            HTTPResponse(status: 200, body: Array(answer.utf8))
        }
        let token = try await provider.token(for: van7)
        #expect(token.lifetime == .seconds(3600))
        #expect(
            token.doubts.map { $0.contains("https://backend.example.com/t: its \"TOKEN_EXPIRATION\" 60000") } == [true])
    }
}
