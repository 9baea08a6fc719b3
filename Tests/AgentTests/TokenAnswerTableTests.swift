import BackendAuthorization
import Conditions
import HTTPMessages
import LinuxPlatform
import ReportedText
import Reporting
import Testing
import TimeAndRandomness
import VehicleAuthorization
import Operations
import WaypostTestSupport

/// Every form of a backend's answer, with the expected handling. The tests prove that the service and `waypost token`
/// both handle each form as expected.
@Suite struct TokenAnswerTable {
    enum ExpectedResult: Sendable {
        case used
        /// The token is used, and a warning is reported.
        case warned(Warning)
        case rejected(Reason)
    }

    /// A warning of the service, without the part that every row would repeat.
    enum Warning: Sendable, Hashable {
        case claim(ClaimWarning)
        case stated(Int, expSeconds: Int)
        case unreadable, dateBeforeIssue, dateAfterExpiry, unjudged
        case otherFormat(ExpirationFormat)
        case shortLived(Int)
        case longLived, other

        init(_ warning: AuthorizationWarning) {
            switch warning {
            case .shortLivedTokens(_, let lifetime, _): self = .shortLived(Int(lifetime.components.seconds))
            case .longLivedTokens: self = .longLived
            case .questionableToken(let token):
                switch token.fact {
                case .claims(let claim, _): self = .claim(claim)
                case .expiry(.differentExpiries(_, let seconds, let expSeconds), _):
                    self = .stated(seconds, expSeconds: expSeconds)
                case .expiry(.unreadable, _): self = .unreadable
                case .expiry(.otherFormat(_, let format, _), _): self = .otherFormat(format)
                case .expiry(.dateBeforeIssue, _): self = .dateBeforeIssue
                case .expiry(.dateAfterExpiry, _): self = .dateAfterExpiry
                case .expiry(.noUsableClock, _): self = .unjudged
                case .expiry(.outdatedFile, _): self = .other
                }
            case .unknownLifetime, .rejectedTokenReissued, .oldTokenReissued, .brokenContract, .processesLeftRunning,
                .processesHidden:
                self = .other
            }
        }
    }

    /// A fault, without the part that every row would repeat.
    enum Reason: Sendable, Hashable {
        case answer(AnswerFault)
        case missingKey(AnswerFault.Members)
        case invalidJSON(AnswerFault.Mistake)
        case otherText, other
        case expired(ExpiryFault)
        case claims(ClaimFault)
        case status(Int, EndpointRejection.Detail?)

        init(_ fault: TokenFault) {
            switch fault {
            case .unusableAnswer(_, .missingKey(_, _, let members)): self = .missingKey(members)
            case .unusableAnswer(_, .invalidJSON(let mistake, _, _, _, _)): self = .invalidJSON(mistake)
            case .unusableAnswer(_, .otherText): self = .otherText
            case .unusableAnswer(_, let fault): self = .answer(fault)
            case .expired(_, let fault): self = .expired(fault)
            case .wrongClaims(let fault, _): self = .claims(fault)
            case .rejected(_, let rejection): self = .status(rejection.status, rejection.detail)
            default: self = .other
            }
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var status = 200
        var headers: [(String, String)] = []
        var body: [UInt8]
        var format = TokenAnswerFormat()
        /// The time on the host's clock, in seconds after the token was issued.
        var host = 5.0
        var isSynchronized = false
        /// The token's remaining lifetime in seconds, if relevant.
        var life: Int?
        let expectedResult: ExpectedResult

        init(
            _ name: String, _ body: String, _ expectedResult: ExpectedResult, life: Int? = nil,
            format: TokenAnswerFormat? = nil,
            date: Double? = nil, host: Double = 5, isSynchronized: Bool = false, status: Int = 200,
            headers: [(String, String)] = []
        ) {
            (self.name, self.body, self.expectedResult, self.life, self.host) = (
                name, Array(body.utf8), expectedResult, life, host
            )
            self.isSynchronized = isSynchronized
            (self.status, self.headers, self.format) = (status, headers, format ?? TokenAnswerFormat())
            if let date {
                let time = UTCTime(millisecondsSince1970: Int64((date + issued) * 1000))
                self.headers.append(("Date", TokenAnswerTable.httpDate(time)))
            }
        }

        init(_ name: String, bytes: [UInt8], _ expectedResult: ExpectedResult) {
            (self.name, body, self.expectedResult) = (name, bytes, expectedResult)
        }

        var testDescription: String { name }
    }

    /// The time of issue of all tokens: 2026-01-05T00:00:00Z.
    static let issued = 1_767_571_200.0
    static let good = claims()
    static let audience = "https://fleetengine.googleapis.com/"
    static let context = AuthorizationContext(vehicleID: "v")

    /// Returns the claims of a token for an hour, with claims added or replaced; `nil` removes one.
    static func claims(_ changes: [String: String?] = [:], header: String? = nil) -> String {
        var claims: [String: String] = [
            "iss": #""a@p""#, "sub": #""a@p""#, "aud": #""https://fleetengine.googleapis.com/""#,
            "iat": "\(Int(issued))", "exp": "\(Int(issued) + 3600)", "authorization": #"{"vehicleid":"v"}"#,
        ]
        for (name, value) in changes { claims[name] = value }
        let payload = claims.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        return TestTokens.token(payload: "{\(payload)}", header: header ?? #"{"alg":"RS256","kid":"1","typ":"JWT"}"#)
    }

    /// Returns the answer of Google's guide with `token` and an expiry, which is inserted unchanged.
    static func answer(_ token: String = good, expiry: String? = nil) -> String {
        #"{"VEHICLE_TOKEN_KEY":"\#(token)"\#(expiry.map { #","TOKEN_EXPIRATION":\#($0)"# } ?? "")}"#
    }

    static func format(_ key: String, _ expiry: String = "TOKEN_EXPIRATION", _ style: ExpirationFormat = .automatic)
        -> TokenAnswerFormat
    { TokenAnswerFormat(tokenKey: key, expirationKey: expiry, expirationFormat: style) }

    private static func httpDate(_ time: UTCTime) -> String {
        let (year, month, day) = time.civilDate
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func pad(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let second = time.millisecondOfDay / 1000
        return
            "Mon, \(pad(day)) \(names[month - 1]) \(year) \(pad(second / 3600)):\(pad(second / 60 % 60)):\(pad(second % 60)) GMT"
    }

    /// The values of the expiry's key.
    static let expiries: [Row] = [
        Row("seconds from now", answer(expiry: "3600"), .used, life: 3595),
        Row("seconds since 1970", answer(expiry: "1767574800"), .used),
        Row("milliseconds since 1970", answer(expiry: "1767574800000"), .used),
        Row("a fraction", answer(expiry: "1767574800.25"), .used),
        Row("an exponent", answer(expiry: "1.7675748e9"), .used),
        Row("a number in quotes", answer(expiry: #""1767574800""#), .used),
        Row("a number in quotes with blanks", answer(expiry: #"" 3600 ""#), .used),
        Row("RFC 3339", answer(expiry: #""2026-01-05T01:00:00Z""#), .used),
        Row("RFC 3339 with milliseconds", answer(expiry: #""2026-01-05T01:00:00.000Z""#), .used),
        Row("RFC 3339 with an offset", answer(expiry: #""2026-01-05T03:00:00+02:00""#), .used),
        Row("RFC 3339 with microseconds", answer(expiry: #""2026-01-05T01:00:00.123456+00:00""#), .used),
        Row("a protobuf duration", answer(expiry: #""3600s""#), .used),
        Row("a protobuf duration with a fraction", answer(expiry: #""3599.500s""#), .used),
        Row("null", answer(expiry: "null"), .used),
        Row("no key", answer(), .used, life: 3595),
        Row(
            "true", answer(expiry: "true"),
            .warned(.unreadable)),
        Row("false", answer(expiry: "false"), .warned(.unreadable)),
        Row("an empty string", answer(expiry: #""""#), .warned(.unreadable)),
        Row("a word", answer(expiry: #""never""#), .warned(.unreadable)),
        Row("an object", answer(expiry: #"{"seconds":3600}"#), .warned(.unreadable)),
        Row("an array", answer(expiry: "[3600]"), .warned(.unreadable)),
        Row("a date without an offset", answer(expiry: #""2026-01-05T01:00:00""#), .warned(.unreadable)),
        Row("a date with a blank", answer(expiry: #""2026-01-05 01:00:00""#), .warned(.unreadable)),
        Row("an HTTP date", answer(expiry: #""Mon, 05 Jan 2026 01:00:00 GMT""#), .warned(.unreadable)),
        Row("minutes", answer(expiry: #""60m""#), .warned(.unreadable)),
        Row("an ISO 8601 duration", answer(expiry: #""PT1H""#), .warned(.unreadable)),
        Row("zero", answer(expiry: "0"), .warned(.unreadable)),
        Row("a negative number", answer(expiry: "-1"), .warned(.unreadable)),
        Row("a huge number", answer(expiry: "1e300"), .warned(.unreadable)),
        Row("not a number", answer(expiry: #""nan""#), .warned(.unreadable)),
        Row(
            "an hour ago", answer(expiry: "1767567600"), .warned(.stated(-3605, expSeconds: 3595)),
            life: 3595),
        Row("milliseconds in the past", answer(expiry: "1767567600000"), .warned(.stated(-3605, expSeconds: 3595))),
        Row(
            "RFC 3339 in the past", answer(expiry: #""2026-01-04T23:00:00Z""#),
            .warned(.stated(-3605, expSeconds: 3595))),
        Row("the time of issue", answer(expiry: "1767571200"), .warned(.stated(-5, expSeconds: 3595)), life: 3595),
        Row("half of exp", answer(expiry: "1800"), .warned(.stated(1800, expSeconds: 3595)), life: 3595),
        Row("twice exp", answer(expiry: "7200"), .warned(.stated(7200, expSeconds: 3595)), life: 3595),
        Row("minutes as seconds", answer(expiry: "60"), .warned(.stated(60, expSeconds: 3595)), life: 3595),
        Row(
            "milliseconds from now", answer(expiry: "3600000"), .warned(.stated(3_600_000, expSeconds: 3595)),
            life: 3595),
        Row("microseconds since 1970", answer(expiry: "1767574800000000"), .warned(.unreadable)),
        Row(
            "wrong format: milliseconds", answer(expiry: "1767574800"),
            .warned(.otherFormat(.epochMilliseconds)),
            format: format("VEHICLE_TOKEN_KEY", "TOKEN_EXPIRATION", .epochMilliseconds)),
        Row(
            "wrong format: seconds", answer(expiry: "3600"), .warned(.otherFormat(.epochSeconds)),
            format: format("VEHICLE_TOKEN_KEY", "TOKEN_EXPIRATION", .epochSeconds)),
        Row(
            "wrong format: from now", answer(expiry: "1767574800"), .warned(.otherFormat(.secondsFromNow)),
            format: format("VEHICLE_TOKEN_KEY", "TOKEN_EXPIRATION", .secondsFromNow)),
        Row(
            "RFC 3339 with any format", answer(expiry: #""2026-01-05T01:00:00Z""#), .used,
            format: format("VEHICLE_TOKEN_KEY", "TOKEN_EXPIRATION", .secondsFromNow)),
        Row("nested", #"{"d":{"t":"\#(good)","ttl":3600}}"#, .used, format: format("d.t", "d.ttl")),
        Row("the token again", answer(expiry: "\"\(good)\""), .warned(.unreadable)),
    ]

    /// The positions and forms of the token.
    static let places: [Row] = [
        Row("bare", good, .used), Row("bare with a newline", good + "\n", .used),
        Row("bare with CRLF", good + "\r\n", .used), Row("bare after blanks", "\n  \(good)", .used),
        Row("a JSON string", "\"\(good)\"", .used), Row("a JSON string with a newline", "\"\(good)\\n\"\n", .used),
        Row("a JSON string with Bearer", "\"Bearer \(good)\"", .used), Row("bare with Bearer", "Bearer \(good)", .used),
        Row("bare with bearer", "bearer  \(good)\n", .used), Row("a newline in the value", answer(good + "\\n"), .used),
        Row("blanks in the value", answer("  \(good) "), .used),
        Row("Bearer in the value", answer("Bearer \(good)"), .used),
        Row("BEARER in the value", answer("BEARER \(good)"), .used),
        Row("a byte order mark", "\u{FEFF}\(answer())", .used),
        Row("pretty JSON", "{\n \"VEHICLE_TOKEN_KEY\" : \"\(good)\"\n}\n", .used),
        Row("more keys", #"{"a":[1,{"b":null}],"VEHICLE_TOKEN_KEY":"\#(good)","z":"ü"}"#, .used),
        Row("escaped dots", answer(good.replacing(".", with: "\\u002e")), .used),
        Row(
            "on-demand sample", #"{"jwt":"\#(good)","expirationTimestamp":1767574800000}"#, .used,
            format: .onDemandSample),
        Row(
            "scheduled sample", #"{"token":"\#(good)","expiration_timestamp_ms":1767574800000}"#, .used,
            format: .scheduledSample),
        Row(
            "OAuth", #"{"access_token":"\#(good)","token_type":"Bearer","expires_in":3600}"#, .used,
            format: format("access_token", "expires_in")),
        Row("a key with dots", #"{"a.b":"\#(good)"}"#, .used, format: format("a.b")),
        Row("201", answer(), .used, status: 201),
        Row("text/plain", good, .used, headers: [("Content-Type", "text/plain")]),
        Row("wrong media type", answer(), .used, headers: [("Content-Type", "text/html; charset=utf-8")]),
        Row("another key", #"{"jwt":"\#(good)","exp":1}"#, .rejected(.missingKey(.tokenUnderOtherKey("jwt")))),
        Row(
            "nested, not configured", #"{"data":{"VEHICLE_TOKEN_KEY":"\#(good)"}}"#,
            .rejected(.missingKey(.tokenUnderOtherKey("data.VEHICLE_TOKEN_KEY")))),
        Row(
            "the key in another case", #"{"vehicle_token_key":"\#(good)"}"#,
            .rejected(.missingKey(.tokenUnderOtherKey("vehicle_token_key")))),
        Row("no keys", "{}", .rejected(.missingKey(.nothing))),
        Row("a null token", #"{"VEHICLE_TOKEN_KEY":null}"#, .rejected(.answer(.notAString(kind: "null", .nothing)))),
        Row(
            "a number as the token", #"{"VEHICLE_TOKEN_KEY":7}"#,
            .rejected(.answer(.notAString(kind: "an integer", .other)))
        ),
        Row("an empty token", answer(""), .rejected(.answer(.emptyToken))),
        Row("blanks as the token", answer("  "), .rejected(.answer(.emptyToken))),
        Row("Bearer alone", answer("Bearer "), .rejected(.answer(.notAToken(.wrongPartCount(1), .underKey)))),
        Row("an array", "[\"\(good)\"]", .rejected(.answer(.notAnObject(kind: "an array")))),
        Row("a number", "7", .rejected(.otherText)),
        Row("nothing", "", .rejected(.answer(.nothing(isNull: false)))),
        Row("blanks", " \n\n", .rejected(.answer(.nothing(isNull: false)))),
        Row("an HTML page", "<!DOCTYPE html><p>Sign in", .rejected(.answer(.page))),
        Row("XML", "<?xml version=\"1.0\"?><token/>", .rejected(.answer(.page))),
        Row("a word", "denied", .rejected(.otherText)),
        Row("cut JSON", String(answer().dropLast(2)), .rejected(.invalidJSON(.other))),
        Row("two objects", answer() + answer(), .rejected(.invalidJSON(.other))),
        Row("the key twice", #"{"VEHICLE_TOKEN_KEY":"a","VEHICLE_TOKEN_KEY":"b"}"#, .rejected(.invalidJSON(.other))),
        Row("single quotes", "{'VEHICLE_TOKEN_KEY':'\(good)'}", .rejected(.invalidJSON(.singleQuotes))),
        Row(
            "an error object", #"{"error":"denied"}"#,
            .rejected(.missingKey(.reportedError))),
        Row(
            "two parts", answer("\(good.split(separator: ".").prefix(2).joined(separator: "."))"),
            .rejected(.answer(.notAToken(.wrongPartCount(2), .underKey)))),
        Row(
            "a cut signature", answer(String(good.dropLast(42))),
            .rejected(.answer(.shortSignature(bytes: 225, .underKey)))),
        Row(
            "no signature", answer(good.split(separator: ".").prefix(2).joined(separator: ".") + "."),
            .rejected(.answer(.unsigned(.underKey)))),
        Row(
            "not base64url", answer("a$.b.c"),
            .rejected(.answer(.notAToken(.notBase64URL(part: "header"), .underKey)))),
        Row("an API key", answer("AIzaSyD"), .rejected(.answer(.notAToken(.wrongPartCount(1), .underKey)))),
        Row(
            "a line break inside", answer(good.prefix(60) + "\\n" + good.dropFirst(60)),
            .rejected(.answer(.lookalike(.brokenByWhiteSpace, .underKey)))),
        Row("gzip", bytes: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3], .rejected(.answer(.gzip))),
        Row("UTF-16", bytes: answer().utf16.flatMap { [UInt8($0), 0] }, .rejected(.answer(.utf16))),
        Row(
            "bytes that aren't text", bytes: [0, 1, 2, 3], .rejected(.otherText)),
        Row("zeros", bytes: [0, 0, 0, 0], .rejected(.answer(.nothing(isNull: false)))),
    ]

    /// The token's claims, and the time of its arrival.
    static let tokens: [Row] = [
        Row(
            "exp in quotes", answer(claims(["exp": "\"1767574800\""])),
            .warned(.claim(.quoted(claim: "exp"))), life: 3595),
        Row(
            "iat in quotes", answer(claims(["iat": "\"1767571200\""])), .warned(.claim(.quoted(claim: "iat"))),
            life: 3595),
        Row("no exp", answer(claims(["exp": nil])), .warned(.claim(.missing(claim: "exp")))),
        Row(
            "no exp, but a duration", answer(claims(["exp": nil]), expiry: "3600"),
            .warned(.claim(.missing(claim: "exp"))), life: 3600),
        Row(
            "no exp, an expired statement next to the token", answer(claims(["exp": nil]), expiry: "1767567600"),
            .rejected(.expired(.expiredWhenReturned(.statement)))),
        Row("no iat", answer(claims(["iat": nil])), .warned(.claim(.missing(claim: "iat"))), life: 3595),
        Row("no iat, host clock in 1970", answer(claims(["iat": nil])), .warned(.unjudged), host: -1.7e9),
        Row("neither", answer(claims(["iat": nil, "exp": nil])), .warned(.claim(.missing(claim: "exp")))),
        Row(
            "exp in milliseconds", answer(claims(["exp": "1767574800000"])),
            .warned(.claim(.milliseconds(claim: "exp", 1_767_574_800_000)))),
        Row(
            "iat in milliseconds", answer(claims(["iat": "1767571200000"])),
            .warned(.claim(.milliseconds(claim: "iat", 1_767_571_200_000))), life: 3595),
        Row(
            "exp in microseconds", answer(claims(["exp": "1767574800000000"])),
            .warned(.claim(.notATime(claim: "exp", 1_767_574_800_000_000)))),
        Row("exp null", answer(claims(["exp": "null"])), .warned(.claim(.missing(claim: "exp")))),
        Row(
            "exp as a date", answer(claims(["exp": #""2026-01-05T01:00:00Z""#])),
            .warned(.claim(.notANumber(claim: "exp")))),
        Row("iat zero", answer(claims(["iat": "0"])), .used, life: 3595),
        Row("exp with a fraction", answer(claims(["exp": "1767574800.5"])), .used),
        Row(
            "exp before iat", answer(claims(["exp": "1767571100"])),
            .rejected(.expired(.endsBeforeIssue)), date: 0),
        Row("six minutes", answer(claims(["exp": "1767571560"])), .used, life: 355),
        Row(
            "four minutes", answer(claims(["exp": "1767571440"])),
            .warned(.shortLived(235)), life: 235),
        Row(
            "two hours", answer(claims(["exp": "1767578400"])),
            .warned(.longLived), life: 7195),
        Row("58 minutes old", answer(), .warned(.shortLived(120)), life: 120, host: 3480),
        Row("58 minutes old by Date", answer(), .warned(.shortLived(120)), life: 120, date: 3480, host: 3480),
        Row("a host clock an hour fast", answer(), .used, life: 3600, host: 3601),
        Row(
            "a synchronised host clock after expiry", answer(),
            .rejected(.expired(.expiredWhenReturned(.synchronizedHost))),
            host: 8000, isSynchronized: true),
        Row(
            "a synchronised host clock after expiry, and Date", answer(), .used, life: 3600, date: 0, host: 8000,
            isSynchronized: true),
        Row("a synchronised host clock before expiry", answer(), .used, life: 1800, host: 1800, isSynchronized: true),
        Row("a host clock an hour slow", answer(), .used, life: 3600, host: -3600),
        Row("a host clock in 1970", answer(), .used, life: 3600, host: -1.7e9),
        Row("a host clock in 2080", answer(), .used, life: 3600, host: 1.7e9),
        Row("a host clock half an hour fast, and Date", answer(), .used, life: 3600, date: 0, host: 1800),
        Row(
            "Date in 1970", answer(),
            .warned(.dateBeforeIssue),
            life: 3595, date: -issued),
        Row(
            "Date two hours ahead", answer(), .warned(.dateAfterExpiry), life: 3595,
            date: 7200),
        Row(
            "Date two hours ahead, host clock in 1970", answer(), .warned(.dateAfterExpiry), life: 3600, date: 7200,
            host: -1.7e9),
        Row(
            "Date two hours behind", answer(), .warned(.dateBeforeIssue), life: 3595,
            date: -7200),
        Row("Date a minute behind", answer(), .used, life: 3600, date: -60),
        Row("an unreadable Date", answer(), .used, headers: [("Date", "today")]),
        Row(
            "expired by both clocks", answer(),
            .rejected(.expired(.expiredWhenReturned(.issuer))),
            date: 7200, host: 7200),
        Row("in its last second", answer(), .rejected(.expired(.expiredDuringFetch(context))), date: 3599, host: 3599),
        Row(
            "no authorization claim", answer(claims(["authorization": nil])),
            .warned(.claim(.noAuthorization(claim: "vehicleid")))),
        Row(
            "authorization as text", answer(claims(["authorization": "\"v\""])),
            .warned(.claim(.authorizationNotAnObject(kind: "a string", claim: "vehicleid")))),
        Row(
            "authorization outside its claim", answer(claims(["authorization": nil, "vehicleid": "\"v\""])),
            .warned(.claim(.outsideAuthorization(claim: "vehicleid")))),
        Row(
            "a misspelled claim", answer(claims(["authorization": #"{"vehicleId":"v"}"#])),
            .rejected(.claims(.misspelled("vehicleId", claim: "vehicleid")))),
        Row(
            "the vehicle with its path", answer(claims(["authorization": #"{"vehicleid":"providers/p/vehicles/v"}"#])),
            .rejected(.claims(.fullResourceName))),
        Row(
            "the vehicle in another case", answer(claims(["authorization": #"{"vehicleid":"V"}"#])),
            .rejected(.claims(.otherLetterCase("V")))),
        Row(
            "an identity token",
            answer(
                claims(["authorization": nil, "aud": "\"x\"", "iss": "\"https://accounts.google.com\""])),
            .rejected(.claims(.identityToken(issuer: "accounts.google.com", expected: audience)))),
        Row(
            "a login's token",
            answer(
                claims([
                    "authorization": nil, "aud": "\"account\"", "iss": "\"https://sso.example.com/realms/fleet\"",
                ])),
            .rejected(.claims(.identityToken(issuer: "sso.example.com", expected: audience)))),
        Row(
            "for another vehicle", answer(claims(["authorization": #"{"vehicleid":"w"}"#])),
            .rejected(.claims(.otherSubject(["w"])))),
        Row(
            "for the vehicle with a space", answer(claims(["authorization": #"{"vehicleid":"v "}"#])),
            .rejected(.claims(.otherSubject(["v "])))),
        Row(
            "for a delivery vehicle, the other claim null",
            answer(claims(["authorization": #"{"vehicleid":null,"deliveryvehicleid":"v"}"#])),
            .rejected(.claims(.otherService(claim: .deliveryvehicleid)))),
        Row(
            "for a delivery vehicle", answer(claims(["authorization": #"{"deliveryvehicleid":"v"}"#])),
            .rejected(.claims(.otherService(claim: .deliveryvehicleid)))),
        Row(
            "a list of vehicles", answer(claims(["authorization": #"{"vehicleid":["v"]}"#])),
            .rejected(.claims(.notAString(claim: "vehicleid", kind: "a list")))),
        Row(
            "for a trip", answer(claims(["authorization": #"{"tripid":"t"}"#])),
            .rejected(.claims(.noSubject(claim: "vehicleid")))),
        Row("a server token", answer(claims(["authorization": #"{"vehicleid":"*"}"#])), .warned(.claim(.serverToken))),
        Row(
            "an empty claim", answer(claims(["authorization": "{}"])),
            .rejected(.claims(.noSubject(claim: "vehicleid")))
        ),
        Row("no issuer", answer(claims(["iss": nil])), .warned(.claim(.missingAccount(claim: "iss")))),
        Row("no subject", answer(claims(["sub": nil])), .warned(.claim(.missingAccount(claim: "sub")))),
        Row(
            "another subject", answer(claims(["sub": #""b@p""#])), .warned(.claim(.differentAccounts))),
        Row("no audience", answer(claims(["aud": nil])), .rejected(.claims(.noAudience(expected: audience)))),
        Row(
            "another audience", answer(claims(["aud": "\"https://example.com/\""])),
            .rejected(.claims(.otherAudience(["https://example.com/"], expected: audience)))),
        Row(
            "an audience without its slash", answer(claims(["aud": "\"https://fleetengine.googleapis.com\""])),
            .warned(.claim(.missingSlash(expected: audience)))),
        Row("several audiences", answer(claims(["aud": #"["x","https://fleetengine.googleapis.com/"]"#])), .used),
        Row(
            "not before tomorrow", answer(claims(["nbf": "1767657600"])),
            .rejected(.claims(.notYetValid(seconds: 86_400)))),
        Row("not before iat", answer(claims(["nbf": "1767571200"])), .used),
        Row(
            "an empty kid", answer(claims(header: #"{"alg":"RS256","kid":""}"#)),
            .warned(.claim(.noKeyID))),
        Row("no kid", answer(claims(header: #"{"alg":"RS256"}"#)), .warned(.claim(.noKeyID))),
        Row(
            "unsigned", answer(claims(header: #"{"alg":"none"}"#)),
            .rejected(.claims(.wrongAlgorithm("none")))),
        Row(
            "unsigned, without a signature",
            answer(claims(header: #"{"alg":"none"}"#).split(separator: ".").prefix(2).joined(separator: ".") + "."),
            .rejected(.claims(.wrongAlgorithm("none")))),
        Row(
            "HS256", answer(claims(header: #"{"alg":"HS256","kid":"1"}"#)),
            .rejected(.claims(.wrongAlgorithm("HS256")))),
        Row("no alg", answer(claims(header: #"{"kid":"1"}"#)), .rejected(.claims(.wrongAlgorithm(nil)))),
        Row("more claims", answer(claims(["scope": "\"x\"", "jti": "\"7\""])), .used),
    ]

    /// Answers without a usable token.
    static let statuses: [Row] = [
        Row("204", "", .rejected(.answer(.nothing(isNull: false))), status: 204),
        Row(
            "301", "", .rejected(.status(301, .redirect(to: "https://x.example.com"))),
            status: 301, headers: [("Location", "https://x.example.com/a")]),
        Row(
            "302 to itself", "",
            .rejected(.status(302, .redirectToItself)),
            status: 302, headers: [("Location", "/t")]),
        Row(
            "302 to itself as a whole", "", .rejected(.status(302, .redirectToItself)),
            status: 302, headers: [("Location", "https://backend.example.com/t")]),
        Row("302", "", .rejected(.status(302, .redirect(to: nil))), status: 302),
        Row("400", answer(), .rejected(.status(400, nil)), status: 400),
        Row("401", "", .rejected(.status(401, nil)), status: 401),
        Row("403", "", .rejected(.status(403, nil)), status: 403),
        Row("404", "", .rejected(.status(404, nil)), status: 404),
        Row("405", "", .rejected(.status(405, .allowedMethods([]))), status: 405),
        Row(
            "405 with Allow", "", .rejected(.status(405, .allowedMethods(["POST"]))), status: 405,
            headers: [("Allow", "POST")]),
        Row("410", "", .rejected(.status(410, nil)), status: 410),
        Row("422", "", .rejected(.status(422, nil)), status: 422),
        Row(
            "429", "", .rejected(.status(429, nil)), status: 429,
            headers: [("Retry-After", "30")]),
        Row("500 with a token", answer(), .rejected(.status(500, nil)), status: 500),
        Row("503", "", .rejected(.status(503, nil)), status: 503),
    ]

    static let rows = expiries + places + tokens + statuses

    @Test func hasEnoughRows() { #expect(Self.rows.count >= 150 && Set(Self.rows.map(\.name)).count > 140) }

    @Test(arguments: rows) func describesServiceAndCommand(row: Row) async throws {
        let configuration = try Configurations.read(Configurations.smallest)
        let context = Self.context
        let provider = try HTTPTokenProvider(
            HTTPTokenSettings(url: "https://backend.example.com/t", format: row.format), providerID: "p",
            transport: ScriptedTransport { _ in
                var headers = HTTPHeaders()
                for (name, value) in row.headers { headers.append(name: name, value: value) }
                return HTTPResponse(status: row.status, headers: headers, body: row.body)
            }, environment: [:], wallClock: { Self.issued + row.host },
            synchronizedClock: { row.isSynchronized ? Self.issued + row.host : nil })

        // The service, wired as in production.
        let lines = Locked([String]())
        let log = LogWriter(level: .debug, format: .text, isReadByJournal: false) { bytes in
            lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        }
        let monitor = AgentMonitor(clock: MonotonicClock(ManualClock()), log: log)
        let service: Result<AuthorizationToken, AuthorizationError>
        do throws(AuthorizationError) {
            service = .success(
                try await configuration.makeTokenCache(
                    for: provider, clock: ManualClock(), jitter: { 1 }, report: monitor.note
                )
                .token(
                    for: context))
        } catch { service = .failure(error) }
        let said = lines.withLock { $0 }

        // The command `waypost token`.
        let command: Result<TokenReport, AuthorizationError>
        do throws(AuthorizationError) {
            command = .success(
                TokenReport(
                    try await provider.fetchAnswer(for: context), configuration,
                    hostTime: UTCTime(millisecondsSince1970: Int64((Self.issued + row.host) * 1000))))
        } catch { command = .failure(error) }

        switch row.expectedResult {
        case .used: try expectUse(row, service, command, remarks: [], said: said)
        case .warned(let warning):
            let report = try command.get()
            #expect(report.verdict.warnings.map(Warning.init).contains(warning), "\(report.verdict)")
            try expectUse(row, service, command, remarks: report.verdict.remarks, said: said)
        case .rejected(let reason):
            guard case .failure(let error) = service else {
                Issue.record("the service uses the token: \(said)")
                return
            }
            #expect(Reason(error.fault) == reason, "\(error.fault)")
            switch command {
            case .failure(let other): #expect(other == error)
            case .success(let report): #expect(report.verdict.fault == error.fault)
            }
            #expect(!"\(error)".contains("eyJ") && !error.fault.wording.remedy.isEmpty, "\(error)")
        }
    }

    private func expectUse(
        _ row: Row, _ service: Result<AuthorizationToken, AuthorizationError>,
        _ command: Result<TokenReport, AuthorizationError>, remarks: [String], said: [String]
    ) throws {
        let (token, report) = (try service.get(), try command.get())
        #expect(token.value == report.rawToken)
        #expect(report.verdict.fits)
        #expect(said.count == remarks.count && zip(said, remarks).allSatisfy { $0.contains($1) }, "\(said)")
        #expect(report.verdict.remarks == remarks)
        if let life = row.life { #expect(token.lifetime == .seconds(life), "\(String(describing: token.lifetime))") }
        // The command states the lifetime that the service uses.
        let shown = report.lines.first { $0.name == "life" }?.text
        #expect(shown == (token.lifetime.map { "\($0.humanReadable) left" } ?? "not stated"))
        // The token's `exp` applies only if it is usable.
        let stated = report.lines.first { $0.name == "stated" }?.text ?? ""
        let isUsable = report.verdict.warnings.allSatisfy { warning in
            switch Warning(warning) {
            case .claim(.missing("exp")), .claim(.notANumber("exp")), .claim(.notATime("exp", _)),
                .claim(.milliseconds("exp", _)):
                false
            default: true
            }
        }
        if stated.hasPrefix("no ") { #expect(stated.hasSuffix("; exp applies") == isUsable, "\(stated)") }
    }
}
