import Conditions
import FleetEngine
import ReportedText
import Testing
import TimeAndRandomness
import VehicleAuthorization
import Operations
import WaypostTestSupport

@testable import BackendAuthorization

@Suite struct TokenVerdicts {
    static let claims =
        #""iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/","iat":1000000000,"exp":1000003600"#
    static let driverAuthorization = #""authorization":{"vehicleid":"v"}"#

    /// The service doesn't judge a token by an unsynchronised host clock, but a user who inspects the token is
    /// informed.
    @Test(
        arguments: [
            (0, nil), (-600, nil), (3000, nil),
            (10_800, "ago by this host's clock; the issuer must make a new token; if a clock"),
            (-601, "10 min ahead of this host's clock, but"),
            (
                -7200,
                "2 h ahead of this host's clock, but Fleet Engine accepts at most 10 min; set the clock that is wrong"
            ),
        ] as [(Int64, String?)])
    func reportATokenFromTheFuture(host: Int64, note: String?) throws {
        let configuration = try Configurations.read(Configurations.smallest)
        let answer = try TokenAnswer(
            Array(TestTokens.token(payload: "{\(Self.claims),\(Self.driverAuthorization)}").utf8),
            from: .init(
                source: TokenOrigin(.file, "X"), issuerTime: 1_000_000_000, localTime: Double(1_000_000_000 + host)),
            format: TokenAnswerFormat())
        let report = TokenReport(
            answer, configuration, hostTime: UTCTime(millisecondsSince1970: (1_000_000_000 + host) * 1000))
        #expect(report.verdict == TokenVerdict(answer, for: AuthorizationContext(vehicleID: "v"), by: ClaimRules()))
        #expect(report.verdict.fits && report.verdict.remarks.isEmpty && report.verdict.code == nil)
        let last = report.lines.last.map { "\($0.name) \($0.text)" } ?? ""
        #expect(last.hasSuffix(", if it is this host's clock that is wrong") == (host > 3600 || host < -600), "\(last)")
        let notes = report.lines.filter { $0.name == "note" }.map(\.text)
        #expect(notes.count == (note == nil ? 0 : 1), "\(notes)")
        #expect(note.map { notes.first?.contains($0) == true && report.summary.contains($0) } ?? true, "\(notes)")
    }

    /// The token is fine, but the endpoint's certificate expires soon.
    @Test(
        arguments: [
            (nil, nil), (30, nil), (7, nil),
            (
                3,
                "the token endpoint's certificate expires on 2001-09-12T01:46:40Z, in 3 days; renew it before then"
            ),
        ] as [(Int?, String?)])
    func reportACertificateThatExpiresSoon(days: Int?, note: String?) throws {
        let configuration = try Configurations.read(Configurations.smallest)
        let now = UTCTime(millisecondsSince1970: 1_000_000_000_000)
        let answer = try TokenAnswer(
            Array(TestTokens.token(payload: "{\(Self.claims),\(Self.driverAuthorization)}").utf8),
            from: .init(
                source: TokenOrigin(.file, "X"), issuerTime: 1_000_000_000,
                certificateEnd: days.map { now.advanced(by: .seconds($0 * 86_400)) }, localTime: 1_000_000_000),
            format: TokenAnswerFormat())
        let report = TokenReport(answer, configuration, hostTime: now)
        #expect(report.lines.filter { $0.name == "note" }.map(\.text) == [note].compactMap(\.self))
        #expect(report.lines.last?.name == "ok" && report.rejectionReason == nil)
        #expect(report.summary.hasSuffix(note.map { "; note: \($0)" } ?? " left"), "\(report.summary)")
    }

    /// The wrong claim, its value, and the last line of the report.
    @Test(
        arguments: [
            ("iat", "1000000000", "ok fits VEHICLE"),
            ("iat", "1000000000000", "ok fits VEHICLE, but Fleet Engine may reject it for its iat (see the note)"),
            ("exp", "null", "ok fits VEHICLE, but Fleet Engine may reject it for its exp (see the note)"),
            (
                "exp", "null,\"iat\":null",
                "ok fits VEHICLE, but Fleet Engine may reject it for its iat and exp (see the notes)"
            ),
            (
                "exp", "1000086400",
                "FAIL the token fits VEHICLE and the service sends it, but Fleet Engine rejects an exp more than an hour "
                    + "ahead; the issuer must set an earlier exp"
            ),
            (
                "exp", "1000003600000",
                "FAIL the token fits VEHICLE and the service sends it, but Fleet Engine rejects an exp in milliseconds, "
                    + "which is thousands of years ahead; the issuer must divide it by 1000"
            ),
            (
                "exp", "1000003600000,\"iat\":1000000000000",
                "FAIL the token fits VEHICLE and the service sends it, but Fleet Engine rejects an exp in milliseconds, "
                    + "which is thousands of years ahead; the issuer must divide it by 1000"
            ),
            ("authorization", #"{"vehicleid":"*"}"#, "ok fits VEHICLE"),
            (
                "authorization", "7",
                "ok fits VEHICLE, but Fleet Engine may reject it for its authorization (see the note)"
            ),
        ])
    func areNotGoodIfFleetEngineMayRejectTheToken(claim: String, value: String, line: String) throws {
        var claims = [
            "iss": #""a""#, "sub": #""a""#, "aud": #""https://fleetengine.googleapis.com/""#, "iat": "1000000000",
            "exp": "1000003600",
            "authorization": #"{"vehicleid":"v"}"#,
        ]
        claims[claim] = value
        if value.contains("iat") { claims["iat"] = nil }
        let payload = claims.map { "\"\($0)\":\($1)" }.joined(separator: ",")
        let configuration = try Configurations.read(Configurations.smallest)
        let answer = try TokenAnswer(
            Array(TestTokens.token(payload: "{\(payload)}").utf8),
            from: .init(source: TokenOrigin(.file, "X"), issuerTime: 1_000_000_000, localTime: 1_000_000_000),
            format: TokenAnswerFormat())
        let report = TokenReport(
            answer, configuration, hostTime: UTCTime(millisecondsSince1970: 1_000_000_000_000))
        let last = report.lines.last.map { "\($0.name) \($0.text)" }
        #expect(last == line.replacing("VEHICLE", with: configuration.vehicle.description))
        #expect((report.rejectionReason == nil) == line.hasPrefix("ok"))
    }

    /// The code is that of the condition that the service raises for the same token.
    @Test(
        arguments: [
            ("v", "/", nil), ("v", "", .tokenSupplyAtRisk), ("other", "", .tokenClaimsWrong),
        ] as [(String, String, ConditionCode?)])
    func haveTheCodeOfACondition(vehicle: String, slash: String, code: ConditionCode?) throws {
        let payload =
            #""iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com\#(slash)","iat":1000000000,"#
            + #""exp":1000003600,"authorization":{"vehicleid":"\#(vehicle)"}"#
        let answer = try TokenAnswer(
            Array(TestTokens.token(payload: "{\(payload)}").utf8),
            from: .init(source: TokenOrigin(.file, "X"), issuerTime: 1_000_000_000, localTime: 1_000_000_000),
            format: TokenAnswerFormat())
        let verdict = TokenVerdict(answer, for: AuthorizationContext(vehicleID: "v"), by: ClaimRules())
        #expect(verdict.code == code)
    }

    /// The first fault is the reason, and the others are notes, so that the backend need be fixed only once.
    @Test func listEveryFaultOfTheToken() throws {
        let configuration = try Configurations.read(Configurations.smallest)
        let payload =
            #""iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com","iat":1000000000,"exp":1000003600,"#
            + #""authorization":{"vehicleId":"v"}"#
        let answer = try TokenAnswer(
            Array(TestTokens.token(payload: "{\(payload)}", header: #"{"alg":"HS256","kid":"k"}"#).utf8),
            from: .init(source: TokenOrigin(.file, "X"), issuerTime: 1_000_000_000, localTime: 1_000_000_000),
            format: TokenAnswerFormat())
        let report = TokenReport(
            answer, configuration, hostTime: UTCTime(millisecondsSince1970: 1_000_000_000_000))
        let context = AuthorizationContext(vehicleID: "v")
        #expect(report.verdict.fault == .wrongClaims(.wrongAlgorithm("HS256"), context))
        #expect(
            report.verdict.otherFaults == [.wrongClaims(.misspelled("vehicleId", claim: "vehicleid"), context)])
        let slash = ClaimWarning.missingSlash(expected: "https://fleetengine.googleapis.com/")
        #expect(report.verdict.warnings == [.questionableToken(.claims(slash, context))])
        let notes = report.lines.filter { $0.name == "note" }.map(\.text)
        #expect(notes == report.verdict.remarks && report.lines.last?.text == report.verdict.problem)
        for note in notes { #expect(report.summary.contains("; note: \(note)"), "\(report.summary)") }
    }

    @Test(arguments: [
        (#"{"vehicleid":"v"}"#, TokenRole.driver(vehicleID: "v")),
        (#"{"deliveryvehicleid":"v","taskid":"t"}"#, .deliveryDriver(vehicleID: "v")),
        (#"{"tripid":"t"}"#, .consumer(tripID: "t")), (#"{"trackingid":"s"}"#, .deliveryConsumer(id: "s")),
        (#"{"taskids":["t"]}"#, .deliveryConsumer(id: "t")), (#"{"vehicleid":"*"}"#, .server),
        (#"{"taskids":["*"]}"#, .server), ("{}", .unstated), ("1", .unstated),
    ])
    func findTheRoleOfAToken(authorization: String, role: TokenRole) throws {
        #expect(TokenRole(try JSONWebToken(TestTokens.token(payload: #"{"authorization":\#(authorization)}"#))) == role)
    }
}
