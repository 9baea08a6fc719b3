import FleetEngine
import Testing
import VehicleAuthorization
import Waypost
import WaypostTestSupport

/// What is said of a token that was fetched.
@Suite struct TokenVerdicts {
    static let claims =
        #""iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/","iat":1000000000,"exp":1000003600"#
    static let driver = #""authorization":{"vehicleid":"v"}"#

    /// Header, payload, service, life left in seconds, the issuer's clock, the end of the problem or remark; `nil` for
    /// none.
    @Test(
        arguments: [
            (#""alg":"RS256","kid":"k""#, "\(claims),\(driver)", .onDemandTrips, 3600, nil, true, nil),
            (#""alg":"none","kid":"k""#, "\(claims),\(driver)", .onDemandTrips, 3600, nil, false, "signed with none"),
            (#""kid":"k""#, "\(claims),\(driver)", .onDemandTrips, 3600, nil, false, "signed with nothing"),
            (#""alg":"RS256""#, "\(claims),\(driver)", .onDemandTrips, 3600, nil, true, "names no key"),
            (
                #""alg":"RS256","kid":"k""#, "\(claims),\(driver)", .scheduledTasks, 3600, nil, false,
                "set deliveryvehicleid"
            ),
            (
                #""alg":"RS256","kid":"k""#, #"\#(claims),"authorization":{"deliveryvehicleid":"v"}"#, .scheduledTasks,
                3600, nil, true, nil
            ),
            (#""alg":"RS256","kid":"k""#, claims, .onDemandTrips, 3600, nil, true, "has no authorization claim"),
            (
                #""alg":"RS256","kid":"k""#, #"\#(claims),"authorization":{"vehicleid":"*","tripid":"*"}"#,
                .onDemandTrips, 3600, nil, true, "is a server token"
            ),
            (
                #""alg":"RS256","kid":"k""#, #""aud":"https://fleetengine.googleapis.com/",\#(driver)"#, .onDemandTrips,
                nil, nil, false, "has no iat"
            ),
            (#""alg":"RS256","kid":"k""#, "\(claims),\(driver)", .onDemandTrips, 0, nil, false, "expired 0 s ago"),
            (#""alg":"RS256","kid":"k""#, "\(claims),\(driver)", .onDemandTrips, -7200, nil, false, "expired 2 h ago"),
            (#""alg":"RS256","kid":"k""#, "\(claims),\(driver)", .onDemandTrips, 3661, nil, false, "an hour at most"),
            (#""alg":"RS256","kid":"k""#, "\(claims),\(driver)", .onDemandTrips, 240, nil, true, "lives 4 min only"),
            (#""alg":"RS256","kid":"k""#, "\(claims),\(driver)", .onDemandTrips, nil, nil, true, nil),
            (
                #""alg":"RS256","kid":"k""#, "\(claims),\(driver)", .onDemandTrips, 3600, 999_999_000, false,
                "was issued 17 min in the future"
            ),
            (#""alg":"RS256","kid":"k""#, "\(claims),\(driver)", .onDemandTrips, 3600, 999_999_500, true, nil),
        ] as [(String, String, FleetService, Int?, Double?, Bool, String?)])
    func namesWhatIsWrong(
        header: String, payload: String, service: FleetService, life: Int?, issuerTime: Double?, fits: Bool,
        words: String?
    ) throws {
        let token = try JSONWebToken(TestTokens.token(payload: "{\(payload)}", header: "{\(header)}"))
        let verdict = TokenVerdict(
            token, for: try VehicleName(service: service, providerID: "p", vehicleID: "v"),
            lifetime: life.map { .seconds($0) }, issuerTime: issuerTime, hostTime: 1_000_000_000)
        #expect(verdict.fits == fits, "\(verdict)")
        let said = verdict.problems + verdict.remarks
        if let words {
            #expect(said.contains { $0.contains(words) }, "\(said)")
        } else {
            #expect(said.isEmpty, "\(said)")
        }
    }

    /// Claims that are no times are told, wherever they stand and whatever is reckoned with them.
    @Test(
        arguments: ["1e300", "-1e300", "\"inf\"", "\"-inf\"", "\"nan\"", "1767571200000"], ["iat", "exp", "nbf"])
    func surviveClaimsThatAreNoTimes(time: String, claim: String) throws {
        let others = ["iat": "1000000000", "exp": "1000003600", "nbf": "1000000000"].filter { $0.key != claim }
        let claims = (others.map { "\"\($0)\":\($1)," } + ["\"\(claim)\":\(time),"]).joined()
        let token = try JSONWebToken(
            TestTokens.token(payload: #"{\#(claims)"aud":"https://fleetengine.googleapis.com/",\#(Self.driver)}"#))
        for lifetime in [nil, Duration.seconds(3600)] {
            let verdict = TokenVerdict(
                token, for: try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v"),
                lifetime: lifetime, issuerTime: 1_000_000_000, hostTime: 1_000_000_000)
            let isTold = verdict.problems.contains { $0.hasPrefix("has the \(claim) ") && $0.contains("is no time") }
            #expect(isTold == (claim != "nbf"), "\(verdict)")
        }
    }

    @Test(arguments: [(1_000_003_599.0, true), (1_000_010_801, false)])
    func trustsTheHostWhereNothingElseTells(hostTime: Double, fits: Bool) throws {
        let payload = "{\(Self.claims),\(Self.driver)}"
        let verdict = TokenVerdict(
            try JSONWebToken(TestTokens.token(payload: payload)),
            for: try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v"), lifetime: nil,
            issuerTime: nil, hostTime: hostTime)
        #expect(verdict.fits == fits)
        #expect(fits || verdict.problems.first?.hasPrefix("expired 2 h ago by this host's clock; ") == true)
    }

    @Test(arguments: [
        (#"{"vehicleid":"v"}"#, TokenRole.driver(vehicleID: "v")),
        (#"{"deliveryvehicleid":"v","taskid":"t"}"#, .deliveryDriver(vehicleID: "v")),
        (#"{"tripid":"t"}"#, .consumer(tripID: "t")), (#"{"trackingid":"s"}"#, .deliveryConsumer(id: "s")),
        (#"{"taskids":["t"]}"#, .deliveryConsumer(id: "t")), (#"{"vehicleid":"*"}"#, .server),
        (#"{"taskids":["*"]}"#, .server), ("{}", .unstated), ("1", .unstated),
    ])
    func knowsTheRole(authorization: String, role: TokenRole) throws {
        #expect(TokenRole(try JSONWebToken(TestTokens.token(payload: #"{"authorization":\#(authorization)}"#))) == role)
    }

    @Test(
        arguments: [
            (0, "0 s"), (119, "119 s"), (120, "2 min"), (-3599, "60 min"), (3600, "60 min"), (3569, "59 min"),
            (7200, "2 h"), (172_800, "2 days"),
            (1_767_225_600, "56 years"), (.min, "292277024626 years"),
        ] as [(Int, String)])
    func speaksOfTimes(seconds: Int, text: String) { #expect(Duration.seconds(seconds).spoken == text) }
}
