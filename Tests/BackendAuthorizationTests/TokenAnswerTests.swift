import Testing
import VehicleAuthorization
import WaypostTestSupport

@testable import BackendAuthorization

@Suite struct TokenAnswers {
    static let token = TestTokens.driver(vehicleID: "van-7")

    private func read(
        _ text: String, _ format: TokenAnswerFormat = TokenAnswerFormat()
    ) throws(AuthorizationError) -> TokenAnswer {
        try TokenAnswer(
            Array(text.utf8), from: .init(source: "token endpoint X", localTime: 1_000_000_000), format: format)
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
    func givesTokenAndLife(text: String, format: TokenAnswerFormat, seconds: Int) throws {
        let answer = try read(text, format)
        #expect(answer.token.value == Self.token && answer.token.lifetime == .seconds(3600))
        #expect(answer.token.reuse == (seconds == 3600 ? nil : .seconds(seconds)))
        #expect(answer.token.doubts.isEmpty == (seconds == 3600) && answer.statedFits == (seconds == 3600))
    }

    @Test(
        arguments: [
            ("", "gave nothing"), (" \n", "gave nothing"),
            ("<!DOCTYPE html><p>Sign in</p>", "gave a page (HTML or XML)"),
            ("{", "gave 1 bytes that are not valid JSON (line 1, column 2)"), (#"{"a":"#, "not valid JSON"),
            (#"{"VEHICLE_TOKEN_KEY":"a","VEHICLE_TOKEN_KEY":"secret"}"#, "not valid JSON (line 1, column 26)"),
            ("[]", "gave an array; expected an object"), ("{}", "it has no keys. Look into the issuer's log"),
            (" null\n", "gave null; expected the token"),
            ("12345", "5 bytes that are neither a JSON object nor a token"),
            (
                "{'token': 'secret'}",
                "(line 1, column 2); expected the token, bare or in JSON under \"VEHICLE_TOKEN_KEY\"; JSON has double"
            ),
            (
                #"{"status":"secret"}"#,
                "Set tokenKey to where the token stands; if none is there, look into the issuer's log"
            ),
            (
                #"{"creationTimestamp":1,"expirationTimestamp":2,"jwt":"x"}"#,
                #""expirationTimestamp", "jwt". Set "tokenShape": "onDemandSample""#
            ),
            (
                #"{"creation_timestamp_ms":1,"expiration_timestamp_ms":2,"token":"x"}"#,
                #"Set "tokenShape": "scheduledSample""#
            ),
            (#"{"jwt":"x","b":1}"#, #"without "VEHICLE_TOKEN_KEY"; it has "b", "jwt". Set tokenKey"#),
            (
                #"{"VEHICLE_TOKEN_KEY":7}"#,
                #"gave an integer under "VEHICLE_TOKEN_KEY"; expected the token as a string"#
            ),
            (
                #"{"VEHICLE_TOKEN_KEY":null}"#,
                #"gave null under "VEHICLE_TOKEN_KEY"; expected the token as a string. Look into the issuer's log"#
            ), (#"{"VEHICLE_TOKEN_KEY":{}}"#, "gave an object under"),
            (#"{"VEHICLE_TOKEN_KEY":""}"#, "gave an empty token"),
            (#"{"VEHICLE_TOKEN_KEY":"secret"}"#, "is not a JSON Web Token: it has 1 part instead of three"),
            (
                #"{"VEHICLE_TOKEN_KEY":"\#(token.dropLast(342))"}"#,
                "without a signature; expected it behind the second dot"
            ),
            (#"{"VEHICLE_TOKEN_KEY":"\#(token.dropLast(2))"}"#, "whose signature has 255 bytes; expected 256 or more"),
            (#""secret""#, "gave a token as a JSON string that is not a JSON Web Token: it has 1 part"),
            (#"{"\#(token)":1}"#, #"it has "…". Set tokenKey"#),
            (#"{"VEHICLE_TOKEN_KEY":"se.cr.et!"}"#, "is not a JSON Web Token: its header is not a JSON object"),
            (
                "no token, secret",
                "gave 16 bytes that are neither a JSON object nor a token; expected the token, bare or in JSON under"
            ),
            (String(token.dropLast(20)).prefix(60) + ".", "is not"),
            (
                #"{"error":{"message":"secret"}}"#,
                #"it has "error". It seems to report an error: look into the issuer's"#
            ),
            (
                #"{"ok":false,"Message":"secret"}"#,
                "report an error: look into the issuer's log, or at the answer itself"
            ),
            (#"{"data":{"token":"\#(token)"}}"#, #"it has "data". Set tokenKey to "data.token""#),
            (#"{"result":{"jwt":"\#(token)","expires":3600}}"#, #"Set tokenKey to "result.jwt""#),
            (#"{"access_token":"\#(token)","expires_in":3599}"#, #"Set tokenKey to "access_token""#),
            (#"{"VEHICLE_TOKEN_KEY":{"token":"\#(token)"}}"#, #"Set tokenKey to "VEHICLE_TOKEN_KEY.token""#),
            (#"{"tokens":["\#(token)"]}"#, #"it has "tokens". Set tokenKey"#),
            (
                #"{"access_token":"ya29.secret","expires_in":3599}"#,
                #"It has an OAuth access token under "access_token", which Fleet Engine does not take; let the issuer"#
            ),
            (
                #"{"data":{"key":"AIzaSysecret\#(String(repeating: "x", count: 27))"}}"#,
                #"It has an API key under "data.key", which Fleet Engine does not take"#
            ),
            (#"{"client_id":"secret","refresh_token":"1//secret"}"#, "That is a login (OAuth), not a token: let the"),
            (
                #"{"type":"service_account","private_key":"secret","client_email":"a@b"}"#,
                "That is the key of a service account: leave it with the issuer"
            ),
        ] as [(String, String)])
    func isRefusedInWords(text: String, words: String) {
        let error = #expect(throws: AuthorizationError.self) { try read(text) }
        #expect(error?.code == .unusableAnswer)
        #expect(error?.description.hasPrefix("token endpoint X gave ") == true)
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("secret") == false)
        #expect(error?.description.contains(Self.token.prefix(12)) == false)
    }

    /// As a backend's text in Latin-1 has it.
    @Test func isToldToBeInUTF8() {
        let text = Array(#"{"driver":"J"#.utf8) + [0xFC] + Array(#"rgen"}"#.utf8)
        let error = #expect(throws: AuthorizationError.self) {
            try TokenAnswer(
                text, from: .init(source: "token endpoint X", localTime: 1_000_000_000), format: TokenAnswerFormat())
        }
        #expect(
            error?.description.hasSuffix("; it is not in UTF-8, as JSON has to be; let the issuer write that") == true)
    }

    static let accessToken = "ya29.a0AfB_byCsecret"
    static let apiKey = "AIzaSysecret" + String(repeating: "x", count: 27)
    static let half = token.count / 2

    /// What an operator may take for a token, or an issuer may make of one, is called by its name.
    @Test(
        arguments: [
            (accessToken, "an OAuth access token as bare text, which Fleet Engine does not take; let the issuer sign"),
            (apiKey, "an API key as bare text, which Fleet Engine does not take; let the issuer sign a token for"),
            ("-----BEGIN PRIVATE KEY-----\nsecret", "a key or certificate in PEM as bare text; let the issuer sign"),
            (
                "\(token.prefix(half))\r\n\(token.suffix(token.count - half))",
                "a token as bare text with white space in its middle; let the issuer write it in one line"
            ),
            ("token=\(token)", "a token as bare text with other text around it; let the issuer give the token alone"),
            ("Authorization: Bearer \(token)", "with other text around it"),
            ("'\(token)'", "with other text around it"),
            ("\(token)==", "a token as bare text in plain base64 (with +, / or =); let the issuer write base64url"),
            ("\(token)\n\(token)", "with other text around it"),
            (Base64.encoded("\(token)\n".utf8), "the base64 of a token as bare text; let it be decoded (base64 -d)"),
            ("eyJh.a.b.c.secret", "an encrypted token (five parts) as bare text; let the issuer give a signed one"),
        ] as [(String, String)])
    func callsByItsNameWhatIsNoToken(text: String, words: String) {
        let bare = #expect(throws: AuthorizationError.self) { try read(text) }
        #expect(bare?.description.contains("gave \(words)") == true || bare?.description.contains(words) == true)
        let quoted = text.split(separator: "\r\n").joined(separator: "\\r\\n").split(separator: "\n")
            .joined(separator: "\\n")
        let keyed = #expect(throws: AuthorizationError.self) { try read(#"{"VEHICLE_TOKEN_KEY":"\#(quoted)"}"#) }
        for error in [bare, keyed] {
            #expect(error?.description.contains("secret") == false, "\(error?.description ?? "")")
            #expect(error?.description.contains(Self.token.prefix(12)) == false)
        }
        let end = words.split(separator: "as bare text").last ?? ""
        #expect(keyed?.description.contains(end) == true, "\(keyed?.description ?? "")")
    }

    /// A key that holds the wrong person's token is not the one to name.
    @Test(
        arguments: [
            ("vehicleid", AuthorizationContext(vehicleID: "v"), "Set tokenKey to \"OTHER\""),
            (
                "tripid", AuthorizationContext(vehicleID: "v"),
                "That is a consumer's token; correct authorization.url, from which the driver's has to come"
            ),
            ("tripid", AuthorizationContext(tripID: "t"), "Set tokenKey to \"OTHER\""),
            (
                "vehicleid", AuthorizationContext(tripID: "t"),
                "That is a driver's token; correct authorization.url, from which the trip's has to come"
            ),
        ])
    func isSomebodyElses(claim: String, context: AuthorizationContext, words: String) {
        let token = TestTokens.token(payload: #"{"exp":1000003600,"authorization":{"\#(claim)":"x"}}"#)
        let error = #expect(throws: AuthorizationError.self) {
            try TokenAnswer(
                Array(#"{"OTHER":"\#(token)"}"#.utf8),
                from: .init(source: "X", localTime: 1_000_000_000, subject: context.subject),
                format: TokenAnswerFormat())
        }
        #expect(error?.description.hasSuffix(words) == true, "\(error?.description ?? "")")
    }

    /// The remedy is that of whoever was asked.
    @Test(arguments: [
        (TokenAnswer.Means.endpoint, "Fetching", "let the issuer give the token alone"),
        (.command, "Fetching", "let the command print the token alone, and what else it says on standard error"),
        (.file, "Fetching", "let whoever writes the file write the token alone"),
        (.endpoint, "<html>", "check that the address is the token endpoint itself"),
        (.command, "<html>", "check whom the command asks"),
        (.file, "<html>", "let whoever writes the file keep a page out of it"),
    ])
    func isMendedWhereItComesFrom(means: TokenAnswer.Means, before: String, words: String) {
        let error = #expect(throws: AuthorizationError.self) {
            try TokenAnswer(
                Array("\(before)\n\(Self.token)".utf8),
                from: .init(source: "X", localTime: 1_000_000_000, means: means), format: TokenAnswerFormat())
        }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test func isNotJSONInsideOfAString() {
        let error = #expect(throws: AuthorizationError.self) {
            try read(#"{"VEHICLE_TOKEN_KEY":"{\"token\":\"\#(Self.token)\"}"}"#)
        }
        #expect(
            error?.description.hasSuffix(
                #"JSON inside of a string under "VEHICLE_TOKEN_KEY"; let the issuer encode its answer once"#) == true)
    }

    /// What stands beside the token is a doubt at most.
    @Test(
        arguments: [
            ("\"soon\"", "\"soon\" is no expiry"), ("true", "true is no expiry"), ("{}", "(an object) is no expiry"),
            ("[1]", "(an array) is no expiry"), ("\"2001-09-09 02:46\"", "\"2001-09-09 02:46\" is no expiry"),
            ("\"\(token)\"", "\"…\" is no expiry"),
        ])
    func isNotRefusedForItsExpiry(value: String, words: String) throws {
        let answer = try read(#"{"VEHICLE_TOKEN_KEY":"\#(Self.token)","TOKEN_EXPIRATION":\#(value)}"#)
        #expect(answer.token.lifetime == .seconds(3600))
        #expect(
            answer.token.doubts.map { $0.hasPrefix("token endpoint X: its \"TOKEN_EXPIRATION\" \(words)") } == [true])
    }

    @Test(
        arguments: [
            ([0x1F, 0x8B, 8, 0], AnswerKind.gzip), ([0xFF, 0xFE, 0x7B, 0], .utf16), ([0xFE, 0xFF, 0, 0x7B], .utf16),
            ([0x7B, 0], .utf16), ([0, 0x7B], .utf16), ([], .nothing), ([0xEF, 0xBB, 0xBF, 0x0A], .nothing),
            ([0x20, 0x3C], .page), ([0xEF, 0xBB, 0xBF, 0x20, 0x7B, 0x20], .json([0x7B, 0x20])),
            ([0x0A, 0x78, 0x20], .text("x")),
        ] as [([UInt8], AnswerKind)])
    func isKnownByItsFirstBytes(bytes: [UInt8], kind: AnswerKind) { #expect(AnswerKind(bytes) == kind) }
}
