import ReportedText
import Testing
import VehicleAuthorization
import WaypostTestSupport

@testable import BackendAuthorization

@Suite struct TokenAnswers {
    static let token = TestTokens.driver(vehicleID: "van-7")

    private func read(
        _ text: String, format: TokenAnswerFormat = TokenAnswerFormat()
    ) throws(AuthorizationError) -> TokenAnswer {
        try TokenAnswer(
            Array(text.utf8), from: .init(source: TokenOrigin(.endpoint, "X"), localTime: 1_000_000_000), format: format
        )
    }

    /// Returns the reason why `bytes` are rejected; `nil` if they aren't.
    private func fault(in bytes: [UInt8], for context: AuthorizationContext? = nil) -> AnswerFault? {
        let origin = TokenOrigin(.endpoint, "X", subject: context?.subject)
        let error = #expect(throws: AuthorizationError.self) {
            try TokenAnswer(
                bytes, from: .init(source: origin, localTime: 1_000_000_000), format: TokenAnswerFormat())
        }
        guard case .unusableAnswer(origin, let fault) = error?.fault else { return nil }
        let shown = "\(fault)"
        #expect(!shown.contains("secret") && !shown.contains(Self.token.prefix(12)), "\(shown)")
        return fault
    }

    @Test(
        arguments: [
            (#"{"VEHICLE_TOKEN_KEY":"\#(token)","TOKEN_EXPIRATION":1800}"#, TokenAnswerFormat(), 1800),
            (#"{"VEHICLE_TOKEN_KEY":"\#(token)","TOKEN_EXPIRATION":"1800s"}"#, TokenAnswerFormat(), 1800),
            (
                #"{"VEHICLE_TOKEN_KEY":"\#(token)","TOKEN_EXPIRATION":"2001-09-09T02:16:40Z"}"#, TokenAnswerFormat(),
                1800
            ),
            (#"{"VEHICLE_TOKEN_KEY":"\#(token)\n","TOKEN_EXPIRATION":3600}"#, TokenAnswerFormat(), 3600),
            (#"{"VEHICLE_TOKEN_KEY":"Bearer \#(token)"}"#, TokenAnswerFormat(), 3600),
            (#""\#(token)""#, TokenAnswerFormat(), 3600), ("bearer \(token)\n", TokenAnswerFormat(), 3600),
            (#"{"VEHICLE_TOKEN_KEY":"\#(token)"}"#, TokenAnswerFormat(), 3600),
            (#"{"VEHICLE_TOKEN_KEY":"\#(token)","TOKEN_EXPIRATION":null}"#, TokenAnswerFormat(), 3600),
            (#"{"VEHICLE_TOKEN_KEY":"\#(token)","TOKEN_EXPIRATION":"1800"}"#, TokenAnswerFormat(), 1800),
            ("\u{FEFF}\n {\"VEHICLE_TOKEN_KEY\":\"\(token)\"}", TokenAnswerFormat(), 3600),
            (
                #"{"jwt":"\#(token)","creationTimestamp":1000000000000,"expirationTimestamp":1000001800000}"#,
                TokenAnswerFormat.onDemandSample, 1800
            ),
            (
                #"{"token":"\#(token)","creation_timestamp_ms":0,"expiration_timestamp_ms":1000001800000}"#,
                TokenAnswerFormat.scheduledSample, 1800
            ),
            (
                #"{"data":{"token":{"jwt":"\#(token)"},"ttl":900}}"#,
                TokenAnswerFormat(tokenKey: "data.token.jwt", expirationKey: "data.ttl"), 900
            ),
            (#"{"data.token":"\#(token)"}"#, TokenAnswerFormat(tokenKey: "data.token"), 3600),
            ("\(token)\n", TokenAnswerFormat(), 3600),
        ])
    func containTokenAndLifetime(text: String, format: TokenAnswerFormat, seconds: Int) throws {
        let answer = try read(text, format: format)
        #expect(answer.token.value == Self.token && answer.token.lifetime == .seconds(3600))
        #expect(answer.token.reuse == (seconds == 3600 ? nil : .seconds(seconds)))
        #expect(
            answer.token.warnings.isEmpty == (seconds == 3600) && answer.isStatedExpiryConsistent == (seconds == 3600))
    }

    /// A fault keeps only the names of an answer's keys and the kinds of its values, because the values may be secrets.
    @Test(
        arguments: [
            ("", .nothing(isNull: false)), (" \n", .nothing(isNull: false)), (" null\n", .nothing(isNull: true)),
            ("<!DOCTYPE html><p>Sign in</p>", .page),
            ("{", .invalidJSON(.other, line: 1, column: 2, bytes: 1, mediaType: nil)),
            (
                #"{"VEHICLE_TOKEN_KEY":"a","VEHICLE_TOKEN_KEY":"secret"}"#,
                .invalidJSON(.other, line: 1, column: 26, bytes: 54, mediaType: nil)
            ),
            ("{'token': 'secret'}", .invalidJSON(.singleQuotes, line: 1, column: 2, bytes: 19, mediaType: nil)),
            ("[]", .notAnObject(kind: "an array")), ("{}", .missingKey(keys: [], others: 0, .nothing)),
            ("12345", .otherText(bytes: 5, mediaType: nil, hasLines: false)),
            ("no token,\nsecret", .otherText(bytes: 16, mediaType: nil, hasLines: true)),
            (#"{"status":"secret"}"#, .missingKey(keys: ["status"], others: 0, .other)),
            (
                #"{"creationTimestamp":1,"expirationTimestamp":2,"jwt":"x"}"#,
                .missingKey(
                    keys: ["creationTimestamp", "expirationTimestamp", "jwt"], others: 0, .tokenShape("onDemandSample"))
            ),
            (
                #"{"creation_timestamp_ms":1,"expiration_timestamp_ms":2,"token":"x"}"#,
                .missingKey(
                    keys: ["creation_timestamp_ms", "expiration_timestamp_ms", "token"], others: 0,
                    .tokenShape("scheduledSample"))
            ),
            (
                #"{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}"#,
                .missingKey(keys: ["a", "b", "c", "d", "e", "f", "g", "h"], others: 1, .other)
            ),
            (#"{"VEHICLE_TOKEN_KEY":7}"#, .notAString(kind: "an integer", .other)),
            (#"{"VEHICLE_TOKEN_KEY":null}"#, .notAString(kind: "null", .nothing)),
            (#"{"VEHICLE_TOKEN_KEY":""}"#, .emptyToken),
            (#"{"VEHICLE_TOKEN_KEY":"secret"}"#, .notAToken(.wrongPartCount(1), .underKey)),
            (#"{"VEHICLE_TOKEN_KEY":"se.cr.et!"}"#, .notAToken(.notJSONObject(part: "header"), .underKey)),
            (#""secret""#, .notAToken(.wrongPartCount(1), .jsonString)),
            (#"{"VEHICLE_TOKEN_KEY":"\#(token.dropLast(342))"}"#, .unsigned(.underKey)),
            (#"{"VEHICLE_TOKEN_KEY":"\#(token.dropLast(2))"}"#, .shortSignature(bytes: 255, .underKey)),
            (#"{"\#(token)":1}"#, .missingKey(keys: ["…"], others: 0, .other)),
            (#"{"error":{"message":"secret"}}"#, .missingKey(keys: ["error"], others: 0, .reportedError)),
            (
                #"{"data":{"token":"\#(token)"}}"#,
                .missingKey(keys: ["data"], others: 0, .tokenUnderOtherKey("data.token"))
            ),
            (
                #"{"VEHICLE_TOKEN_KEY":{"token":"\#(token)"}}"#,
                .notAString(kind: "an object", .tokenUnderOtherKey("VEHICLE_TOKEN_KEY.token"))
            ),
            (#"{"tokens":["\#(token)"]}"#, .missingKey(keys: ["tokens"], others: 0, .other)),
            (
                #"{"access_token":"ya29.secret","expires_in":3599}"#,
                .missingKey(
                    keys: ["access_token", "expires_in"], others: 0, .lookalike(.accessToken, under: "access_token"))
            ),
            (
                #"{"data":{"key":"\#(apiKey)"}}"#,
                .missingKey(keys: ["data"], others: 0, .lookalike(.apiKey, under: "data.key"))
            ),
            (
                #"{"client_id":"secret","refresh_token":"1//secret"}"#,
                .missingKey(keys: ["client_id", "refresh_token"], others: 0, .login)
            ),
            (
                #"{"type":"service_account","private_key":"secret","client_email":"a@b"}"#,
                .missingKey(keys: ["client_email", "private_key", "type"], others: 0, .serviceAccountKey)
            ),
            (#"{"VEHICLE_TOKEN_KEY":"{\"token\":\"\#(token)\"}"}"#, .lookalike(.jsonInString, .underKey)),
        ] as [(String, AnswerFault)])
    func areRejected(text: String, fault: AnswerFault) { #expect(self.fault(in: Array(text.utf8)) == fault) }

    /// The text of the backend is in Latin-1.
    @Test func mustBeUTF8() {
        let text = Array(#"{"driver":"J"#.utf8) + [0xFC] + Array(#"rgen"}"#.utf8)
        guard case .invalidJSON(.encoding, _, _, _, _) = fault(in: text) else {
            Issue.record("not rejected")
            return
        }
    }

    static let apiKey = "AIzaSysecret" + String(repeating: "x", count: 27)
    static let halfLength = token.count / 2

    /// Texts that operators mistake for a token, or that issuers return instead of one.
    @Test(
        arguments: [
            ("ya29.a0AfB_byCsecret", .accessToken), (apiKey, .apiKey), ("-----BEGIN PRIVATE KEY-----\nsecret", .pem),
            ("\(token.prefix(halfLength))\r\n\(token.suffix(token.count - halfLength))", .brokenByWhiteSpace),
            ("token=\(token)", .insideOtherText),
            ("Authorization: Bearer \(token)", .insideOtherText), ("'\(token)'", .insideOtherText),
            ("\(token)\n\(token)", .insideOtherText), ("\(token)==", .plainBase64),
            (Base64.encoded("\(token)\n".utf8), .encodedTwice), ("eyJh.a.b.c.secret", .encrypted),
        ] as [(String, AnswerFault.Lookalike)])
    func areRecognisedByTheirForm(text: String, kind: AnswerFault.Lookalike) {
        #expect(fault(in: Array(text.utf8)) == .lookalike(kind, .bareText))
        let quoted = text.replacing("\r\n", with: "\\r\\n").replacing("\n", with: "\\n")
        #expect(fault(in: Array(#"{"VEHICLE_TOKEN_KEY":"\#(quoted)"}"#.utf8)) == .lookalike(kind, .underKey))
    }

    /// A key that holds another subject's token isn't suggested.
    @Test(
        arguments: [
            ("vehicleid", AuthorizationContext(vehicleID: "v"), .tokenUnderOtherKey("OTHER")),
            ("tripid", AuthorizationContext(vehicleID: "v"), .consumerToken),
            ("tripid", AuthorizationContext(tripID: "t"), .tokenUnderOtherKey("OTHER")),
            ("vehicleid", AuthorizationContext(tripID: "t"), .driverToken),
        ] as [(String, AuthorizationContext, AnswerFault.Members)])
    func nameTheExpectedKeys(claim: String, context: AuthorizationContext, members: AnswerFault.Members) {
        let token = TestTokens.token(payload: #"{"exp":1000003600,"authorization":{"\#(claim)":"x"}}"#)
        let fault = fault(in: Array(#"{"OTHER":"\#(token)"}"#.utf8), for: context)
        #expect(fault == .missingKey(keys: ["OTHER"], others: 0, members))
    }

    /// An expiry that is stated next to the token causes at most a warning.
    @Test(
        arguments: [
            ("\"soon\"", "\"soon\""), ("true", "true"), ("{}", "(an object)"), ("[1]", "(an array)"),
            ("\"2001-09-09 02:46\"", "\"2001-09-09 02:46\""), ("\"\(token)\"", "\"…\""),
        ])
    func areAcceptedDespiteAnUnreadableExpiry(value: String, text: String) throws {
        let answer = try read(#"{"VEHICLE_TOKEN_KEY":"\#(Self.token)","TOKEN_EXPIRATION":\#(value)}"#)
        #expect(answer.token.lifetime == .seconds(3600))
        let stated = StatedExpiry(key: "TOKEN_EXPIRATION", text: text, meaning: .unreadable)
        #expect(
            answer.token.warnings == [.expiry(.unreadable(stated, hasTokenExpiry: true), TokenOrigin(.endpoint, "X"))])
    }

    @Test(
        arguments: [
            ([0x1F, 0x8B, 8, 0], AnswerKind.gzip), ([0xFF, 0xFE, 0x7B, 0], .utf16), ([0xFE, 0xFF, 0, 0x7B], .utf16),
            ([0x7B, 0], .utf16), ([0, 0x7B], .utf16), ([], .nothing), ([0xEF, 0xBB, 0xBF, 0x0A], .nothing),
            ([0x20, 0x3C], .page), ([0xEF, 0xBB, 0xBF, 0x20, 0x7B, 0x20], .json([0x7B, 0x20])),
            ([0x0A, 0x78, 0x20], .text("x")),
        ] as [([UInt8], AnswerKind)])
    func areRecognisedByTheirFirstBytes(bytes: [UInt8], kind: AnswerKind) { #expect(AnswerKind(bytes) == kind) }
}
