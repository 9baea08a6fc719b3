import Conditions
import ReportedText
import Testing
import VehicleAuthorization

@Suite struct TokenWordings {
    private static let endpoint = TokenOrigin(
        .endpoint, "https://b.example/t", tokenKey: "jwt", subject: .vehicle(id: "van-7", taskID: nil),
        credentials: ["authorization.headers"])
    private static let plainEndpoint = TokenOrigin(.endpoint, "https://b.example/t", tokenKey: "jwt")
    private static let mutualEndpoint = TokenOrigin(
        .endpoint, "https://b.example/t", credentials: ["authorization.clientCertificateFile"])
    private static let command = TokenOrigin(.command, "/bin/token", tokenKey: "jwt")
    private static let file = TokenOrigin(.file, "/run/token", tokenKey: "jwt")
    private static let van7 = AuthorizationContext(vehicleID: "van-7")

    private static func rejection(
        status: Int, _ detail: EndpointRejection.Detail? = nil, isPage: Bool = false, origin: TokenOrigin = endpoint
    ) -> TokenFault {
        .rejected(origin, EndpointRejection(status: status, detail: detail, isPage: isPage))
    }

    @Test(
        arguments: [
            (.incompleteContext(AuthorizationContext(vehicleID: "")), "no vehicle id is set", "set vehicle.vehicleId"),
            (
                .unanswered(endpoint, .connectionFailed, "no connection: refused"),
                "token endpoint https://b.example/t: no connection: refused",
                "check authorization.url, and that the backend runs"
            ),
            (
                .unanswered(endpoint, .timedOut, "no complete answer within 15 s"),
                "token endpoint https://b.example/t: no complete answer within 15 s",
                "check the network and the backend's load, or raise authorization.timeoutSeconds"
            ),
            (
                .unanswered(endpoint, .connectionLost(isEncrypted: true), "reset"),
                "token endpoint https://b.example/t: reset",
                "see the backend's log"
            ),
            (
                .unanswered(mutualEndpoint, .certificateRejected, "alert"), "token endpoint https://b.example/t: alert",
                "check that authorization.clientCertificateFile has not expired (waypost check) and that the backend trusts "
                    + "its authority"
            ),
            (
                .unanswered(endpoint, .untrustedCertificate(.unknownAuthority), "unknown authority"),
                "token endpoint https://b.example/t: unknown authority",
                "if the certificate authority is your own, add its certificate to authorization.caFile"
            ),
            (
                rejection(status: 302, .redirect(to: "https://x.example")),
                "token endpoint https://b.example/t answered 302: a redirect to https://x.example, which is not followed",
                "set authorization.url to the final address, or, if that is a login page, check authorization.headers"
            ),
            (
                rejection(status: 400, .spentGrant),
                "token endpoint https://b.example/t answered 400: the grant has already been used or has expired",
                "give the vehicle a reusable grant: the service, waypost check and waypost token each consume a "
                    + "single-use refresh token"
            ),
            (
                rejection(status: 401, origin: plainEndpoint),
                "token endpoint https://b.example/t answered 401: no headers are configured",
                "add authorization.headers or a client certificate"
            ),
            (
                rejection(status: 401, isPage: true),
                "token endpoint https://b.example/t answered 401, with a page (HTML or XML): it rejects our credentials",
                "check authorization.headers; another server, a proxy or a login page may be answering"
            ),
            (
                rejection(status: 403),
                "token endpoint https://b.example/t answered 403: it refuses to issue a token for this vehicle",
                "check vehicle.vehicleId, authorization.headers, and the vehicle's enrolment in the backend"
            ),
            (
                rejection(status: 405, .allowedMethods(["POST"])),
                "token endpoint https://b.example/t answered 405: it expects another method; it allows POST",
                "check authorization.method"
            ),
            (
                .rejected(endpoint, EndpointRejection(status: 503, message: "closed")),
                "token endpoint https://b.example/t answered 503: it could not handle the request; it says \"closed\"",
                "check the backend's log"
            ),
            (
                .unusableAnswer(endpoint, .page),
                "token endpoint https://b.example/t gave a page (HTML or XML), not a token",
                "correct authorization.url: it must be the token endpoint itself, with no login page or captive portal in between"
            ),
            (
                .unusableAnswer(endpoint, .missingKey(keys: ["a", "b"], others: 2, .tokenUnderOtherKey("a.jwt"))),
                "token endpoint https://b.example/t gave JSON without \"jwt\"; it contains \"a\", \"b\" and 2 more",
                "set authorization.tokenKey to \"a.jwt\""
            ),
            (
                .unusableAnswer(endpoint, .invalidJSON(.other, line: 1, column: 9, bytes: 8, mediaType: "text/html")),
                "token endpoint https://b.example/t gave 8 bytes of text/html that are not valid JSON (line 1, column 9); "
                    + "expected the token, bare or in JSON under \"jwt\"",
                "check whether the answer is cut off, or its file is rewritten in place"
            ),
            (
                .unusableAnswer(command, .lookalike(.insideOtherText, .bareText)),
                "token command /bin/token gave a token with other text around it",
                "print only the token to standard output, and everything else to standard error"
            ),
            (
                .unusableAnswer(endpoint, .missingKey(keys: ["k"], others: 0, .lookalike(.apiKey, under: "k"))),
                "token endpoint https://b.example/t gave JSON without \"jwt\"; it contains \"k\"",
                "\"k\" contains an API key, which Fleet Engine doesn't accept: the issuer must sign a token for Fleet "
                    + "Engine with the key of a service account"
            ),
            (
                .unusableAnswer(file, .nothing(isNull: false)),
                "token file /run/token gave nothing; expected the token, bare or in JSON under \"jwt\"",
                "write a token to a temporary file, and rename that file into place"
            ),
            (
                .expired(file, .expiredWhenReturned(.synchronizedHost)),
                "token file /run/token gave a token that had already expired by this host's clock, which is synchronised",
                "the issuer must make a new token: check its clock and cache"
            ),
            (
                .wrongClaims(.otherSubject(["w "]), van7), "the token for vehicle van-7 is for vehicle \"w \"",
                "correct vehicle.vehicleId, or let the issuer sign for van-7"
            ),
            (
                .wrongClaims(.otherAudience(["a", "b", "c", "d"], expected: "e"), van7),
                "the token for vehicle van-7 is for a, b, c, …", "the issuer must set aud to e"
            ),
            (
                .wrongClaims(.otherService(claim: .deliveryvehicleid), van7),
                "the token for vehicle van-7 is for delivery vehicles, but vehicle.service is onDemandTrips",
                "correct vehicle.service, or change the issuer to set vehicleid"
            ),
            (
                .commandFailed(command, .exited(3, CommandFault.Output(lines: ["no login", "see the manual"]))),
                "token command /bin/token failed with status 3: no login (also: see the manual)",
                "run the command by hand as the service's user"
            ),
            (
                .commandFailed(command, .timedOut(.seconds(15), CommandFault.Output(hasOutput: true))),
                "token command /bin/token took longer than 15 s and was killed, with nothing on standard error (its standard "
                    + "output may be a token, and is not shown)",
                "run the command by hand as the service's user, or raise authorization.timeoutSeconds"
            ),
            (
                .programUnusable(key: "authorization.command", .carriageReturn("/bin/token")),
                "authorization.command: /bin/token has Windows line endings",
                #"run sed -i 's/\r$//' /bin/token"#
            ),
            (
                .sourceUnusable(SourceFault("header Key", .variable("KEY"), .notSet)),
                "header Key comes from the environment variable KEY, which is not set",
                "set it for the service (Environment= or EnvironmentFile= in the unit)"
            ),
            (
                .sourceUnusable(SourceFault("the token", .file("/run/token"), .readableByEveryUser(isMounted: false))),
                "the token comes from the file /run/token, which contains a secret and can be read by every user",
                "run chmod o= /run/token"
            ),
            (
                .sourceUnusable(SourceFault("the token", .file("/run/token"), .readableByEveryUser(isMounted: true))),
                "the token comes from the file /run/token, which contains a secret and can be read by every user",
                "mount it with mode 0440 (Docker: mode, Kubernetes: defaultMode)"
            ),
            (
                .invalidSetting(key: "authorization.url", .noValue(placeholder: "tripId", van7)),
                "authorization.url needs {tripId}, but the token is for vehicle van-7",
                "use a placeholder that fits"
            ),
            (
                .providerFailed(.notCalledBack(.seconds(30))), "the token provider did not call back within 30 s",
                "make the provider call its completion handler on every path"
            ),
            (.reported(.unavailable, "the app says no"), "the app says no", ""),
        ] as [(TokenFault, String, String)])
    func nameCauseAndRemedy(fault: TokenFault, cause: String, remedy: String) {
        #expect(fault.wording.cause.description == cause)
        #expect(fault.wording.remedy.description == remedy)
        #expect("\(AuthorizationError(fault))" == (remedy.isEmpty ? cause : "\(cause); \(remedy)"))
    }

    @Test func nameARemedyForEachStatus() {
        for code in 300..<600 where !(200..<300).contains(code) {
            #expect(!Self.rejection(status: code).wording.remedy.isEmpty, "\(code)")
        }
    }

    @Test(
        arguments: [
            (
                .questionableToken(.claims(.noKeyID, van7)),
                "the token for vehicle van-7 has no key id; the issuer must set kid to the service account's private "
                    + "key id"
            ),
            (
                .questionableToken(
                    .expiry(
                        .differentExpiries(
                            StatedExpiry(key: "ttl", text: "60", meaning: .span(60)), seconds: 60, tokenSeconds: 3600),
                        file)
                ),
                "token file /run/token: the value of \"ttl\" (60) says that the token expires in 60 s, but its exp says that it expires in 3600 s; the "
                    + "earlier expiry applies; the issuer must report the same expiry in both"
            ),
            (
                .shortLivedTokens(van7, lifetime: .seconds(200), minimumLife: .seconds(300)),
                "tokens for vehicle van-7 have only 200 s left when they arrive; the issuer must return new tokens "
                    + "with clearly more than 300 s left (an hour is usual)"
            ),
            (
                .processesLeftRunning(command: "/bin/token", count: 0, unkillable: 7),
                "token command /bin/token left process 7 running; the command is not started again until that process "
                    + "has ended; change the command so that it stops the processes that it starts; then kill process 7"
            ),
        ] as [(AuthorizationWarning, String)])
    func describeWarnings(warning: AuthorizationWarning, sentence: String) { #expect("\(warning)" == sentence) }
}
