import StrictJSON
import Testing
import VehicleAuthorization
import WaypostTestSupport

@Suite struct JSONWebTokens {
    @Test(
        arguments: [
            ("", JSONWebToken.Problem.notThreeParts(1)), ("a.b", .notThreeParts(2)), ("a.b.c.d", .notThreeParts(4)),
            ("a.b.c", .notBase64URL(part: "header")), ("e30.?.c2ln", .notBase64URL(part: "payload")),
            ("e30.e30.c2l$", .notBase64URL(part: "signature")), ("e30.W10.c2ln", .notJSONObject(part: "payload")),
            ("bm8.e30.c2ln", .notJSONObject(part: "header")),
            ("e30.eyJleHAiOjE3.c2ln", .notJSONObject(part: "payload")),
            ("e30=.e30.c2ln", .notBase64URL(part: "header")), ("..", .notJSONObject(part: "header")),
        ])
    func isRefused(text: String, problem: JSONWebToken.Problem) {
        #expect(throws: problem) { try JSONWebToken(text) }
    }

    @Test func showsItsClaims() throws {
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
            (#""authorization":{"vehicleid":"van-7"}"#, "names no audience"),
            (#""aud":"https://example.com/","authorization":{"vehicleid":"van-7"}"#, "is for https://example.com/"),
            (
                #""aud":"https://fleetengine.googleapis.com/","authorization":{"vehicleid":"van-8"}"#,
                "is for vehicle van-8"
            ),
            (#""aud":"https://fleetengine.googleapis.com/","authorization":{"tripid":"t"}"#, "names no vehicle"),
            (
                #""aud":"https://fleetengine.googleapis.com/","authorization":{"deliveryvehicleid":"van-7","taskid":"t2"}"#,
                "is for task t2"
            ),
            (
                #""aud":"https://fleetengine.googleapis.com/","authorization":{"deliveryvehicleid":"van-7","taskids":["*"]}"#,
                nil
            ),
        ] as [(String, String?)])
    func mustBeForTheVehicleAndFleetEngine(claims: String, problem: String?) throws {
        let context = AuthorizationContext(vehicleID: "van-7", taskID: "t1")
        let found = ClaimRules().problem(of: try JSONWebToken(TestTokens.token(payload: "{\(claims)}")), for: context)
        #expect(found?.prefix(problem?.count ?? 0) == problem.map { $0[...] })
    }

    @Test(
        arguments: [
            (AuthorizationContext(tripID: "t1"), #""tripid":"t1""#, nil),
            (.init(tripID: "t1"), #""tripid":"*","vehicleid":"*""#, nil),
            (.init(tripID: "t1"), #""tripid":"t2""#, "is for trip t2"),
            (.init(tripID: "t1"), #""vehicleid":"t1""#, "names no trip (it may be a driver's)"),
            (.init(trackingID: "s1"), #""trackingid":"s1""#, nil),
            (.init(trackingID: "s1"), #""trackingid":"s2""#, "is for shipment s2"),
            (.init(trackingID: "s1"), #""tripid":"s1""#, "names no shipment"),
            (.init(vehicleID: "t1"), #""tripid":"t1""#, "names no vehicle (it may be a consumer's)"),
            (
                .init(vehicleID: "t1"), #""vehicleid":["t1"]"#,
                "has a vehicleid that is a list; let the issuer write the id alone, as a string"
            ),
            (.init(vehicleID: "t1"), #""deliveryvehicleid":7"#, "has a deliveryvehicleid that is an integer; let the"),
            (.init(tripID: "t1"), #""tripid":["t1"]"#, "has a tripid that is a list; let the issuer write"),
            (.init(trackingID: "s1"), #""trackingid":null"#, "names no shipment"),
        ] as [(AuthorizationContext, String, String?)])
    func mustBeForTheTripOrShipment(context: AuthorizationContext, claims: String, problem: String?) throws {
        let token = try JSONWebToken(
            TestTokens.token(
                payload: #"{"aud":"https://fleetengine.googleapis.com/","authorization":{\#(claims)}}"#))
        let found = ClaimRules().problem(of: token, for: context)
        #expect(found?.prefix(problem?.count ?? 0) == problem.map { $0[...] })
    }

    /// A claim is its issuer's word, and may be as long as it likes, steer a terminal, or hold a secret.
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
    func areExplainedInFewPlainWords(context: AuthorizationContext, claims: String) throws {
        let secret = TestTokens.driver(vehicleID: "van-7")
        for claim in [secret, String(repeating: "van ", count: 1000), #"a\nb\u001B[31m\u202Ec"#] {
            let payload = "{" + claims.replacing("CLAIM", with: "\"\(claim)\"") + "}"
            let problem = try #require(
                ClaimRules().problem(of: try JSONWebToken(TestTokens.token(payload: payload)), for: context))
            #expect(problem.utf8.count < 600, "\(problem)")
            #expect(problem.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E }, "\(problem)")
            #expect(!problem.contains(secret.prefix(12)), "\(problem)")
        }
    }

    /// `nbf` against the token's own `iat`, with the ten minutes by which clocks may differ; an `iat` that
    /// is no time of issue tells nothing.
    @Test(
        arguments: [
            (#""iat":1000,"nbf":1000"#, nil), (#""iat":1000,"nbf":900"#, nil), (#""iat":1000,"nbf":1600"#, nil),
            (#""iat":1000,"nbf":"1601""#, "is not valid before 601 s after its issue"), (#""nbf":1e12"#, nil),
            (#""iat":1000,"nbf":1e300"#, "is not valid before"), (#""iat":1000,"nbf":"soon""#, nil),
            (#""iat":1000,"nbf":"inf""#, nil), (#""iat":"-inf","nbf":1000"#, nil), (#""iat":"nan","nbf":1000"#, nil),
            (#""iat":-1e300,"nbf":1e300"#, nil), (#""iat":1e300,"nbf":-1e300"#, nil),
            (#""iat":0,"nbf":1767571200,"exp":1767574800"#, nil),
        ] as [(String, String?)])
    func mustBeginSoon(claims: String, problem: String?) throws {
        let token = try JSONWebToken(
            TestTokens.token(payload: #"{"iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/",\#(claims)}"#))
        let found = ClaimRules().problem(of: token, for: AuthorizationContext(vehicleID: "van-7"))
        #expect(found?.prefix(problem?.count ?? 0) == problem.map { $0[...] })
    }

    @Test(arguments: ["not a web token", TestTokens.driver(vehicleID: "van-7")])
    func passesTheRules(value: String) throws {
        let token = try ClaimRules().checked(
            AuthorizationToken(value: value, lifetime: nil), for: AuthorizationContext(vehicleID: "van-7"))
        #expect(token.doubts == [])
    }

    /// Header, claims beside the audience, the service's claim; what speaks against it, or what is to be corrected.
    @Test(
        arguments: [
            (#""alg":"none","kid":"k""#, #""authorization":{"vehicleid":"v"}"#, nil, "is signed with none; let", nil),
            (#""kid":"k""#, #""authorization":{"vehicleid":"v"}"#, nil, "is signed with nothing; let the", nil),
            (
                #""alg":"RS256""#, #""authorization":{"vehicleid":"v"}"#, nil, nil,
                "names no key; let the issuer set kid"
            ),
            (#""alg":"RS256","kid":"k""#, "\"x\":1", .vehicleid, nil, "let the issuer put vehicleid into one"),
            (#""alg":"RS256","kid":"k""#, #""authorization":{"tripid":"*"}"#, nil, "names no vehicle", nil),
            (#""alg":"RS256","kid":"k""#, #""authorization":{"vehicleid":"*"}"#, .vehicleid, nil, "is a server token"),
            (
                #""alg":"RS256","kid":"k""#, #""authorization":{"vehicleid":"v"}"#, .deliveryvehicleid,
                "set deliveryvehicleid, or correct vehicle.service", nil
            ),
            (
                #""alg":"RS256","kid":"k""#, #""authorization":{"deliveryvehicleid":"v"}"#, .vehicleid,
                "set vehicleid, or correct vehicle.service", nil
            ),
            (
                #""alg":"RS256","kid":"k""#, #""authorization":{"tripid":"v"}"#, .vehicleid, "names no vehicle (it may",
                nil
            ),
        ] as [(String, String, ClaimRules.VehicleClaim?, String?, String?)])
    func mustBeSignedForItsService(
        header: String, claims: String, claim: ClaimRules.VehicleClaim?, problem: String?, doubt: String?
    ) throws {
        let audience = #""iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/","iat":1000,"exp":4600"#
        let token = try JSONWebToken(TestTokens.token(payload: "{\(audience),\(claims)}", header: "{\(header)}"))
        let (rules, context) = (ClaimRules(vehicleClaim: claim), AuthorizationContext(vehicleID: "v"))
        let found = rules.problem(of: token, for: context)
        #expect(found?.contains(problem ?? "") == (problem == nil ? nil : true), "\(found ?? "")")
        let doubts = rules.doubts(about: token, for: context).map(\.words)
        if let doubt {
            #expect(doubts.contains { $0.contains(doubt) }, "\(doubts)")
        } else if problem == nil {
            #expect(doubts == [])
        }
    }

    /// Times that are missing, in quotes, or none: told, and sent all the same.
    @Test(
        arguments: [
            ("1000", nil), ("\"1000\"", "has its iat in quotes; let the issuer write a number"),
            ("null", "has no iat; let the issuer set it, in seconds since 1970"),
            ("1e300", "has the iat 1e+300, which is no time"), ("\"inf\"", "has the iat inf, which is no time"),
            ("1767571200000", "has the iat 1767571200000 in milliseconds; let the issuer divide it by 1000"),
            ("1e13", "has the iat 10000000000000.0, which is no time"),
            ("-1767571200000", "has the iat -1767571200000.0, which"),
        ] as [(String, String?)])
    func shouldStateTimes(iat: String, doubt: String?) throws {
        let claims =
            #""iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/","authorization":{"vehicleid":"v"},"exp":4600"#
        let token = try JSONWebToken(TestTokens.token(payload: "{\(claims),\"iat\":\(iat)}"))
        let context = AuthorizationContext(vehicleID: "v")
        #expect(ClaimRules().problem(of: token, for: context) == nil)
        let doubts = ClaimRules().doubts(about: token, for: context).map(\.words)
        #expect(doubts.map { $0.hasPrefix(doubt ?? "-") } == (doubt == nil ? [] : [true]), "\(doubts)")
    }

    @Test func ofAnotherVehicleIsRefusedWithoutShowingIt() {
        let value = TestTokens.driver(vehicleID: "van-8")
        let error = #expect(throws: AuthorizationError.self) {
            try ClaimRules().checked(
                AuthorizationToken(value: value, lifetime: nil), for: AuthorizationContext(vehicleID: "van-7"))
        }
        #expect(error?.code == .unusableAnswer)
        #expect(error?.description.contains("van-8") == true)
        #expect(error?.description.contains(value.prefix(20)) == false)
    }

    @Test func neverPrintsItsValue() {
        let token = AuthorizationToken(value: "secret", lifetime: nil)
        #expect(!"\(token)\(String(reflecting: token))".contains("secret"))
    }
}
