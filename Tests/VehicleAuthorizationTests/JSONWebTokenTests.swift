import ReportedText
import StrictJSON
import Testing
import VehicleAuthorization
import WaypostTestSupport

@Suite struct JSONWebTokens {
    static let audience = "https://fleetengine.googleapis.com/"

    @Test(
        arguments: [
            ("", JSONWebToken.Problem.wrongPartCount(1)), ("a.b", .wrongPartCount(2)), ("a.b.c.d", .wrongPartCount(4)),
            ("a.b.c", .notBase64URL(part: "header")), ("e30.?.c2ln", .notBase64URL(part: "payload")),
            ("e30.e30.c2l$", .notBase64URL(part: "signature")), ("e30.W10.c2ln", .notJSONObject(part: "payload")),
            ("bm8.e30.c2ln", .notJSONObject(part: "header")),
            ("e30.eyJleHAiOjE3.c2ln", .notJSONObject(part: "payload")),
            ("e30=.e30.c2ln", .notBase64URL(part: "header")), ("..", .notJSONObject(part: "header")),
        ])
    func areRejected(text: String, problem: JSONWebToken.Problem) {
        #expect(throws: problem) { try JSONWebToken(text) }
    }

    @Test func showTheirClaims() throws {
        let token = try JSONWebToken(
            TestTokens.token(
                payload: """
                    {"iat":1000.5,"exp":"4600","aud":["a","b"],"authorization":{"deliveryvehicleid":"van-7",\
                    "taskid":"t1","taskids":["t2"],"tripid":"trip","trackingid":"track"}}
                    """, header: #"{"kid":"k"}"#))
        #expect(token.issuedAt == 1000.5)
        #expect(token.expiry == 4600)
        #expect(token.audience == ["a", "b"])
        #expect(token.header == ["kid": .string("k")])
        #expect(token.authorization?.vehicleID == nil)
        #expect(token.authorization?.deliveryVehicleID == "van-7")
        #expect(token.authorization?.taskIDs == ["t1", "t2"])
        #expect(token.authorization?.tripID == "trip")
        #expect(token.authorization?.trackingID == "track")
    }

    @Test(
        arguments: [
            (#""aud":"https://fleetengine.googleapis.com/","authorization":{"vehicleid":"van-7"}"#, nil),
            (#""aud":"https://fleetengine.googleapis.com","authorization":{"vehicleid":"*"}"#, nil),
            (#""aud":["x","https://fleetengine.googleapis.com/"],"authorization":{"deliveryvehicleid":"van-7"}"#, nil),
            (#""aud":"https://fleetengine.googleapis.com/""#, nil),
            (#""authorization":{"vehicleid":"van-7"}"#, .noAudience(expected: audience)),
            (
                #""aud":"https://example.com/","authorization":{"vehicleid":"van-7"}"#,
                .otherAudience(["https://example.com/"], expected: audience)
            ),
            (
                #""aud":"https://fleetengine.googleapis.com/","authorization":{"vehicleid":"van-8"}"#,
                .otherSubject(["van-8"])
            ),
            (
                #""aud":"https://fleetengine.googleapis.com/","authorization":{"tripid":"t"}"#,
                .noSubject(claim: "vehicleid or deliveryvehicleid")
            ),
            (
                #""aud":"https://fleetengine.googleapis.com/","authorization":{"deliveryvehicleid":"van-7","taskid":"t2"}"#,
                .otherTask(["t2"])
            ),
            (
                #""aud":"https://fleetengine.googleapis.com/","authorization":{"deliveryvehicleid":"van-7","taskids":["*"]}"#,
                nil
            ),
        ] as [(String, ClaimFault?)])
    func mustBeForTheVehicleAndFleetEngine(claims: String, problem: ClaimFault?) throws {
        let context = AuthorizationContext(vehicleID: "van-7", taskID: "t1")
        let found = ClaimRules().problem(of: try JSONWebToken(TestTokens.token(payload: "{\(claims)}")), for: context)
        #expect(found == problem)
    }

    @Test(
        arguments: [
            (AuthorizationContext(tripID: "t1"), #""tripid":"t1""#, nil),
            (.init(tripID: "t1"), #""tripid":"*","vehicleid":"*""#, nil),
            (.init(tripID: "t1"), #""tripid":"t2""#, .otherSubject(["t2"])),
            (.init(tripID: "t1"), #""vehicleid":"t1""#, .noSubject(claim: "tripid")),
            (.init(trackingID: "s1"), #""trackingid":"s1""#, nil),
            (.init(trackingID: "s1"), #""trackingid":"s2""#, .otherSubject(["s2"])),
            (.init(trackingID: "s1"), #""tripid":"s1""#, .noSubject(claim: "trackingid")),
            (.init(vehicleID: "t1"), #""tripid":"t1""#, .noSubject(claim: "vehicleid or deliveryvehicleid")),
            (
                .init(vehicleID: "t1"), #""vehicleid":["t1"]"#,
                .notAString(claim: "vehicleid", kind: "a list")
            ),
            (
                .init(vehicleID: "t1"), #""deliveryvehicleid":7"#,
                .notAString(claim: "deliveryvehicleid", kind: "an integer")
            ),
            (.init(tripID: "t1"), #""tripid":["t1"]"#, .notAString(claim: "tripid", kind: "a list")),
            (.init(trackingID: "s1"), #""trackingid":null"#, .noSubject(claim: "trackingid")),
        ] as [(AuthorizationContext, String, ClaimFault?)])
    func mustBeForTheTripOrShipment(context: AuthorizationContext, claims: String, problem: ClaimFault?) throws {
        let token = try JSONWebToken(
            TestTokens.token(
                payload: #"{"aud":"https://fleetengine.googleapis.com/","authorization":{\#(claims)}}"#))
        let found = ClaimRules().problem(of: token, for: context)
        #expect(found == problem)
    }

    /// A claim's text may be of any length, contain control characters, or be a secret.
    @Test(arguments: [
        (AuthorizationContext(vehicleID: "van-7"), #""aud":CLAIM"#),
        (.init(vehicleID: "van-7"), #""aud":[CLAIM,CLAIM,CLAIM,CLAIM,CLAIM,CLAIM,CLAIM,CLAIM]"#),
        (
            .init(vehicleID: "van-7"),
            #""aud":"https://fleetengine.googleapis.com/","authorization":{"vehicleid":CLAIM}"#
        ),
        (
            .init(vehicleID: "van-7", taskID: "t"),
            #""aud":"https://fleetengine.googleapis.com/","authorization":{"vehicleid":"van-7","taskids":[CLAIM,CLAIM]}"#
        ),
        (.init(tripID: "t"), #""aud":"https://fleetengine.googleapis.com/","authorization":{"tripid":CLAIM}"#),
    ])
    func areDescribedInShortPrintableText(context: AuthorizationContext, claims: String) throws {
        let secret = TestTokens.driver(vehicleID: "van-7")
        for claim in [secret, String(repeating: "van ", count: 1000), #"a\nb\u001B[31m\u202Ec"#] {
            let payload = "{" + claims.replacing("CLAIM", with: "\"\(claim)\"") + "}"
            let problem = try #require(
                ClaimRules().problem(of: try JSONWebToken(TestTokens.token(payload: payload)), for: context))
            let facts = "\(problem)"
            #expect(facts.utf8.count < 800, "\(facts)")
            #expect(facts.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E }, "\(facts)")
            #expect(!facts.contains(secret.prefix(12)), "\(facts)")
        }
    }

    /// `nbf` is compared with the token's own `iat`, with ten minutes of tolerance for clocks. An implausible `iat`
    /// decides nothing.
    @Test(
        arguments: [
            (#""iat":1000,"nbf":1000"#, nil), (#""iat":1000,"nbf":900"#, nil), (#""iat":1000,"nbf":1600"#, nil),
            (#""iat":1000,"nbf":"1601""#, .notYetValid(seconds: 601)), (#""nbf":1e12"#, nil),
            (#""iat":1000,"nbf":1e300"#, .notYetValid(seconds: .max)), (#""iat":1000,"nbf":"soon""#, nil),
            (#""iat":1000,"nbf":"inf""#, nil), (#""iat":"-inf","nbf":1000"#, nil), (#""iat":"nan","nbf":1000"#, nil),
            (#""iat":-1e300,"nbf":1e300"#, nil), (#""iat":1e300,"nbf":-1e300"#, nil),
            (#""iat":0,"nbf":1767571200,"exp":1767574800"#, nil),
        ] as [(String, ClaimFault?)])
    func mustBecomeValidSoon(claims: String, problem: ClaimFault?) throws {
        let token = try JSONWebToken(
            TestTokens.token(payload: #"{"iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/",\#(claims)}"#))
        let found = ClaimRules().problem(of: token, for: AuthorizationContext(vehicleID: "van-7"))
        #expect(found == problem)
    }

    @Test(arguments: ["not a web token", TestTokens.driver(vehicleID: "van-7")])
    func passTheRulesIfOpaqueOrValid(value: String) throws {
        let token = try ClaimRules().checked(
            AuthorizationToken(value: value, lifetime: nil), for: AuthorizationContext(vehicleID: "van-7"))
        #expect(token.warnings == [])
    }

    /// The header, the claims in addition to the audience, the service's claim, the fault, and the warnings.
    @Test(
        arguments: [
            (#""alg":"none","kid":"k""#, #""authorization":{"vehicleid":"v"}"#, nil, .wrongAlgorithm("none"), []),
            (#""kid":"k""#, #""authorization":{"vehicleid":"v"}"#, nil, .wrongAlgorithm(nil), []),
            (#""alg":"RS256""#, #""authorization":{"vehicleid":"v"}"#, nil, nil, [.noKeyID]),
            (#""alg":"RS256","kid":"k""#, "\"x\":1", .vehicleid, nil, [.noAuthorization(claim: "vehicleid")]),
            (
                #""alg":"RS256","kid":"k""#, #""authorization":{"tripid":"*"}"#, nil,
                .noSubject(claim: "vehicleid or deliveryvehicleid"), [.serverToken]
            ),
            (#""alg":"RS256","kid":"k""#, #""authorization":{"vehicleid":"*"}"#, .vehicleid, nil, [.serverToken]),
            (
                #""alg":"RS256","kid":"k""#, #""authorization":{"vehicleid":"v"}"#, .deliveryvehicleid,
                .otherService(claim: .vehicleid), []
            ),
            (
                #""alg":"RS256","kid":"k""#, #""authorization":{"deliveryvehicleid":"v"}"#, .vehicleid,
                .otherService(claim: .deliveryvehicleid), []
            ),
            (
                #""alg":"RS256","kid":"k""#, #""authorization":{"tripid":"v"}"#, .vehicleid,
                .noSubject(claim: "vehicleid"), []
            ),
        ] as [(String, String, ClaimRules.VehicleClaim?, ClaimFault?, [ClaimWarning])])
    func mustBeSignedForItsService(
        header: String, claims: String, claim: ClaimRules.VehicleClaim?, problem: ClaimFault?, warnings: [ClaimWarning]
    ) throws {
        let audience = #""iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/","iat":1000,"exp":4600"#
        let token = try JSONWebToken(TestTokens.token(payload: "{\(audience),\(claims)}", header: "{\(header)}"))
        let rules = ClaimRules(vehicleClaim: claim)
        let context = AuthorizationContext(vehicleID: "v")
        #expect(rules.problem(of: token, for: context) == problem)
        #expect(rules.warnings(about: token, for: context) == warnings)
    }

    /// Times that are missing, in quotes or invalid cause warnings, but the token is sent.
    @Test(
        arguments: [
            ("1000", []), ("\"1000\"", [.quoted(claim: "iat")]), ("null", [.missing(claim: "iat")]),
            ("1e300", [.notATime(claim: "iat", 1e300)]), ("\"inf\"", [.notATime(claim: "iat", .infinity)]),
            ("1767571200000", [.milliseconds(claim: "iat", 1_767_571_200_000)]),
            ("1e13", [.notATime(claim: "iat", 1e13)]),
            ("-1767571200000", [.notATime(claim: "iat", -1_767_571_200_000)]),
            ("\"soon\"", [.notANumber(claim: "iat")]),
        ] as [(String, [ClaimWarning])])
    func shouldStateTimes(iat: String, warnings: [ClaimWarning]) throws {
        let claims =
            #""iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/","authorization":{"vehicleid":"v"},"exp":4600"#
        let token = try JSONWebToken(TestTokens.token(payload: "{\(claims),\"iat\":\(iat)}"))
        let context = AuthorizationContext(vehicleID: "v")
        #expect(ClaimRules().problem(of: token, for: context) == nil)
        #expect(ClaimRules().warnings(about: token, for: context) == warnings)
    }

    @Test func areNotShownWhenRejectedForAnotherVehicle() {
        let value = TestTokens.driver(vehicleID: "van-8")
        let error = #expect(throws: AuthorizationError.self) {
            try ClaimRules().checked(
                AuthorizationToken(value: value, lifetime: nil), for: AuthorizationContext(vehicleID: "van-7"))
        }
        let context = AuthorizationContext(vehicleID: "van-7")
        #expect(error?.fault == .wrongClaims(.otherSubject(["van-8"]), context))
    }

    @Test func neverPrintTheirValue() {
        let token = AuthorizationToken(value: "secret", lifetime: nil)
        #expect(!"\(token)\(String(reflecting: token))".contains("secret"))
    }
}
