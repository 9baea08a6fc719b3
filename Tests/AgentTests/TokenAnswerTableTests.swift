import BackendAuthorization
import HTTPMessages
import LinuxPlatform
import ReportedText
import Testing
import TimeAndChance
import VehicleAuthorization
import Waypost
import WaypostTestSupport

/// Every shape in which a backend answers, what a careful person would do with it, and that the service and
/// `waypost token` both do that.
@Suite struct TokenAnswerTable {
    enum Fate: Sendable {
        case used
        /// Used, and reported in these words.
        case doubted(String)
        case refused(String)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var status = 200
        var headers: [(String, String)] = []
        var body: [UInt8]
        var format = TokenAnswerFormat()
        /// The host's clock, in seconds since the token's issue.
        var host = 5.0
        /// Whether something keeps that clock right.
        var isKeptRight = false
        /// What is left of the token's life in seconds, where that matters.
        var life: Int?
        let fate: Fate

        init(
            _ name: String, _ body: String, _ fate: Fate, life: Int? = nil, format: TokenAnswerFormat? = nil,
            date: Double? = nil, host: Double = 5, isKeptRight: Bool = false, status: Int = 200,
            headers: [(String, String)] = []
        ) {
            (self.name, self.body, self.fate, self.life, self.host) = (name, Array(body.utf8), fate, life, host)
            self.isKeptRight = isKeptRight
            (self.status, self.headers, self.format) = (status, headers, format ?? TokenAnswerFormat())
            if let date {
                let time = UTCTime(millisecondsSince1970: Int64((date + issued) * 1000))
                self.headers.append(("Date", TokenAnswerTable.httpDate(time)))
            }
        }

        init(_ name: String, bytes: [UInt8], _ fate: Fate) { (self.name, body, self.fate) = (name, bytes, fate) }

        var testDescription: String { name }
    }

    /// 2026-01-05T00:00:00Z.
    static let issued = 1_767_571_200.0
    static let good = claims()

    /// A token of an hour with claims added or replaced; `nil` leaves one out.
    static func claims(_ changes: [String: String?] = [:], header: String? = nil) -> String {
        var claims: [String: String] = [
            "iss": #""a@p""#, "sub": #""a@p""#, "aud": #""https://fleetengine.googleapis.com/""#,
            "iat": "\(Int(issued))", "exp": "\(Int(issued) + 3600)", "authorization": #"{"vehicleid":"v"}"#,
        ]
        for (name, value) in changes { claims[name] = value }
        let payload = claims.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        return TestTokens.token(payload: "{\(payload)}", header: header ?? #"{"alg":"RS256","kid":"1","typ":"JWT"}"#)
    }

    /// The guide's answer with `token` and the expiry as it stands.
    static func answer(_ token: String = good, expiry: String? = nil) -> String {
        #"{"VEHICLE_TOKEN_KEY":"\#(token)"\#(expiry.map { #","TOKEN_EXPIRATION":\#($0)"# } ?? "")}"#
    }

    static func format(_ key: String, _ expiry: String = "TOKEN_EXPIRATION", _ style: ExpirationFormat = .automatic)
        -> TokenAnswerFormat
    { TokenAnswerFormat(tokenKey: key, expirationKey: expiry, expirationFormat: style) }

    private static func httpDate(_ time: UTCTime) -> String {
        let (year, month, day) = time.civilDate
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let second = time.millisecondOfDay / 1000
        return
            "Mon, \(two(day)) \(names[month - 1]) \(year) \(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
    }

    /// What stands under the expiry's key.
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
        Row("protobuf's span", answer(expiry: #""3600s""#), .used),
        Row("protobuf's span with a fraction", answer(expiry: #""3599.500s""#), .used),
        Row("null", answer(expiry: "null"), .used),
        Row("no key", answer(), .used, life: 3595),
        Row(
            "true", answer(expiry: "true"),
            .doubted(#""TOKEN_EXPIRATION" true is no expiry; the token's own exp counts"#)),
        Row("false", answer(expiry: "false"), .doubted("false is no expiry")),
        Row("an empty string", answer(expiry: #""""#), .doubted(#""TOKEN_EXPIRATION" "" is no expiry"#)),
        Row("a word", answer(expiry: #""never""#), .doubted(#""never" is no expiry"#)),
        Row("an object", answer(expiry: #"{"seconds":3600}"#), .doubted("(an object) is no expiry")),
        Row("an array", answer(expiry: "[3600]"), .doubted("(an array) is no expiry")),
        Row("a date without offset", answer(expiry: #""2026-01-05T01:00:00""#), .doubted("is no expiry")),
        Row("a date with a blank", answer(expiry: #""2026-01-05 01:00:00""#), .doubted("is no expiry")),
        Row("an HTTP date", answer(expiry: #""Mon, 05 Jan 2026 01:00:00 GMT""#), .doubted("is no expiry")),
        Row("minutes", answer(expiry: #""60m""#), .doubted(#""60m" is no expiry"#)),
        Row("ISO 8601 span", answer(expiry: #""PT1H""#), .doubted(#""PT1H" is no expiry"#)),
        Row("zero", answer(expiry: "0"), .doubted(#""TOKEN_EXPIRATION" 0 is no expiry"#)),
        Row("negative", answer(expiry: "-1"), .doubted("-1 is no expiry")),
        Row("huge", answer(expiry: "1e300"), .doubted("is no expiry")),
        Row("not a number", answer(expiry: #""nan""#), .doubted("is no expiry")),
        Row(
            "an hour past", answer(expiry: "1767567600"), .doubted("ended 3605 s ago, its own exp leaves 3595 s"),
            life: 3595),
        Row("milliseconds past", answer(expiry: "1767567600000"), .doubted("it is used, and renewed early")),
        Row("RFC 3339 past", answer(expiry: #""2026-01-04T23:00:00Z""#), .doubted("ended 3605 s ago")),
        Row("the time of issue", answer(expiry: "1767571200"), .doubted("ended 5 s ago"), life: 3595),
        Row("half of exp", answer(expiry: "1800"), .doubted("leaves 1800 s, the token's own exp 3595 s"), life: 3595),
        Row("twice exp", answer(expiry: "7200"), .doubted("exp counts. Let the issuer state the same end"), life: 3595),
        Row("minutes as seconds", answer(expiry: "60"), .doubted("leaves 60 s"), life: 3595),
        Row("milliseconds from now", answer(expiry: "3600000"), .doubted("leaves 3600000 s"), life: 3595),
        Row("microseconds since 1970", answer(expiry: "1767574800000000"), .doubted("is no expiry")),
        Row(
            "wrong format: milliseconds", answer(expiry: "1767574800"),
            .doubted(
                "no expiry in the format epochMilliseconds; the token's own exp counts. Set expirationFormat to automatic"
            ),
            format: format("VEHICLE_TOKEN_KEY", "TOKEN_EXPIRATION", .epochMilliseconds)),
        Row(
            "wrong format: seconds", answer(expiry: "3600"), .doubted("Set expirationFormat to automatic"),
            format: format("VEHICLE_TOKEN_KEY", "TOKEN_EXPIRATION", .epochSeconds)),
        Row(
            "wrong format: from now", answer(expiry: "1767574800"), .doubted("Set expirationFormat to automatic"),
            format: format("VEHICLE_TOKEN_KEY", "TOKEN_EXPIRATION", .secondsFromNow)),
        Row(
            "RFC 3339 whatever the format", answer(expiry: #""2026-01-05T01:00:00Z""#), .used,
            format: format("VEHICLE_TOKEN_KEY", "TOKEN_EXPIRATION", .secondsFromNow)),
        Row("nested", #"{"d":{"t":"\#(good)","ttl":3600}}"#, .used, format: format("d.t", "d.ttl")),
        Row("the token once more", answer(expiry: "\"\(good)\""), .doubted(#""…" is no expiry"#)),
    ]

    /// Where and how the token stands.
    static let places: [Row] = [
        Row("bare", good, .used), Row("bare with a newline", good + "\n", .used),
        Row("bare with CRLF", good + "\r\n", .used), Row("bare behind blanks", "\n  \(good)", .used),
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
        Row("another key", #"{"jwt":"\#(good)","exp":1}"#, .refused(#"it has "exp", "jwt". Set tokenKey"#)),
        Row(
            "nested, not configured", #"{"data":{"VEHICLE_TOKEN_KEY":"\#(good)"}}"#,
            .refused(#"it has "data". Set tokenKey to "data.VEHICLE_TOKEN_KEY""#)),
        Row("key in other case", #"{"vehicle_token_key":"\#(good)"}"#, .refused("Set tokenKey")),
        Row("no keys", "{}", .refused("it has no keys. Look into the issuer's log")),
        Row("a null token", #"{"VEHICLE_TOKEN_KEY":null}"#, .refused("gave null under")),
        Row("a number as token", #"{"VEHICLE_TOKEN_KEY":7}"#, .refused("gave an integer under")),
        Row("an empty token", answer(""), .refused("an empty token under")),
        Row("blanks as token", answer("  "), .refused("an empty token under")),
        Row("Bearer alone", answer("Bearer "), .refused("is not a JSON Web Token")),
        Row("an array", "[\"\(good)\"]", .refused("gave an array; expected an object")),
        Row("a number", "7", .refused("neither a JSON object nor a token")),
        Row("nothing", "", .refused("gave nothing")),
        Row("blanks", " \n\n", .refused("gave nothing")),
        Row("a page", "<!DOCTYPE html><p>Sign in", .refused("gave a page (HTML or XML)")),
        Row("XML", "<?xml version=\"1.0\"?><token/>", .refused("gave a page (HTML or XML)")),
        Row("a word", "denied", .refused("neither a JSON object nor a token")),
        Row("cut JSON", String(answer().dropLast(2)), .refused("was it cut off")),
        Row("two objects", answer() + answer(), .refused("not valid JSON")),
        Row("the key twice", #"{"VEHICLE_TOKEN_KEY":"a","VEHICLE_TOKEN_KEY":"b"}"#, .refused("not valid JSON")),
        Row("single quotes", "{'VEHICLE_TOKEN_KEY':'\(good)'}", .refused("JSON has double quotes, not single ones")),
        Row(
            "an error object", #"{"error":"denied"}"#,
            .refused(#"it has "error". It seems to report an error: look into the issuer's log, or"#)),
        Row(
            "two parts", answer("\(good.split(separator: ".").prefix(2).joined(separator: "."))"),
            .refused("has 2 parts instead of three")),
        Row("a cut signature", answer(String(good.dropLast(42))), .refused("was it cut off")),
        Row(
            "no signature", answer(good.split(separator: ".").prefix(2).joined(separator: ".") + "."),
            .refused("without a signature")),
        Row("not base64url", answer("a$.b.c"), .refused("is not base64url")),
        Row("an API key", answer("AIzaSyD"), .refused("has 1 part ")),
        Row(
            "a line break inside", answer(good.prefix(60) + "\\n" + good.dropFirst(60)),
            .refused("a token under \"VEHICLE_TOKEN_KEY\" with white space in its middle; let the issuer write it")),
        Row("gzip", bytes: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3], .refused("compressed with gzip")),
        Row("UTF-16", bytes: answer().utf16.flatMap { [UInt8($0), 0] }, .refused("text in UTF-16")),
        Row(
            "bytes of no text", bytes: [0, 1, 2, 3], .refused("4 bytes that are neither a JSON object nor a token")),
        Row("zeros", bytes: [0, 0, 0, 0], .refused("gave nothing")),
    ]

    /// What the token says, and when it comes.
    static let tokens: [Row] = [
        Row(
            "exp in quotes", answer(claims(["exp": "\"1767574800\""])),
            .doubted("has its exp in quotes; let the issuer write a number"), life: 3595),
        Row("iat in quotes", answer(claims(["iat": "\"1767571200\""])), .doubted("has its iat in quotes"), life: 3595),
        Row("no exp", answer(claims(["exp": nil])), .doubted("has no exp; let the issuer set it")),
        Row("no exp, but a span", answer(claims(["exp": nil]), expiry: "3600"), .doubted("has no exp"), life: 3600),
        Row(
            "no exp, over beside", answer(claims(["exp": nil]), expiry: "1767567600"),
            .refused("gave a token that was over already; let the issuer")),
        Row("no iat", answer(claims(["iat": nil])), .doubted("has no iat; let the issuer set it"), life: 3595),
        Row("no iat, host in 1970", answer(claims(["iat": nil])), .doubted("cannot be judged"), host: -1.7e9),
        Row("neither", answer(claims(["iat": nil, "exp": nil])), .doubted("has no exp")),
        Row(
            "exp in milliseconds", answer(claims(["exp": "1767574800000"])),
            .doubted("has the exp 1767574800000 in milliseconds; let the issuer divide it by 1000")),
        Row(
            "iat in milliseconds", answer(claims(["iat": "1767571200000"])),
            .doubted("has the iat 1767571200000 in milliseconds; let the issuer divide it by 1000"), life: 3595),
        Row("exp in microseconds", answer(claims(["exp": "1767574800000000"])), .doubted("which is no time; let")),
        Row("exp null", answer(claims(["exp": "null"])), .doubted("has no exp")),
        Row(
            "exp as a date", answer(claims(["exp": #""2026-01-05T01:00:00Z""#])),
            .doubted("has an exp that is no number; let the issuer set it, in seconds since 1970")),
        Row("iat zero", answer(claims(["iat": "0"])), .used, life: 3595),
        Row("exp with a fraction", answer(claims(["exp": "1767574800.5"])), .used),
        Row(
            "exp before iat", answer(claims(["exp": "1767571100"])),
            .refused("gave a token whose exp is not after its iat; let the issuer set exp"), date: 0),
        Row("six minutes", answer(claims(["exp": "1767571560"])), .used, life: 355),
        Row(
            "four minutes", answer(claims(["exp": "1767571440"])),
            .doubted("have 235 s of life when they come; let the issuer"), life: 235),
        Row(
            "two hours", answer(claims(["exp": "1767578400"])),
            .doubted("Fleet Engine rejects an exp more than 3600 s ahead"), life: 7195),
        Row("58 minutes old", answer(), .doubted("have 120 s of life when they come"), life: 120, host: 3480),
        Row("58 minutes old by Date", answer(), .doubted("have 120 s of life"), life: 120, date: 3480, host: 3480),
        Row("a host an hour fast", answer(), .used, life: 3600, host: 3601),
        Row(
            "a right host after its end", answer(),
            .refused("was over already, judged by this host's clock, which is synchronized; let the issuer"),
            host: 8000, isKeptRight: true),
        Row(
            "a right host after its end, and Date", answer(), .used, life: 3600, date: 0, host: 8000, isKeptRight: true),
        Row("a right host in its life", answer(), .used, life: 1800, host: 1800, isKeptRight: true),
        Row("a host an hour slow", answer(), .used, life: 3600, host: -3600),
        Row("a host in 1970", answer(), .used, life: 3600, host: -1.7e9),
        Row("a host in 2080", answer(), .used, life: 3600, host: 1.7e9),
        Row("a host half an hour fast, and Date", answer(), .used, life: 3600, date: 0, host: 1800),
        Row(
            "Date in 1970", answer(),
            .doubted("lies 56 years before the token's own iat and is ignored; set the backend's clock right"),
            life: 3595, date: -issued),
        Row(
            "Date two hours ahead", answer(), .doubted("Set the clock right of whoever sends that Date"), life: 3595,
            date: 7200),
        Row(
            "Date two hours ahead, host in 1970", answer(), .doubted("the token is used"), life: 3600, date: 7200,
            host: -1.7e9),
        Row(
            "Date two hours behind", answer(), .doubted("is ignored; set the backend's clock right"), life: 3595,
            date: -7200),
        Row("Date a minute behind", answer(), .used, life: 3600, date: -60),
        Row("an unreadable Date", answer(), .used, headers: [("Date", "today")]),
        Row(
            "expired by both clocks", answer(),
            .refused("was over already, judged by the endpoint's own clock (its Date header); let the issuer"),
            date: 7200, host: 7200),
        Row("in its last second", answer(), .refused("had expired when it came"), date: 3599, host: 3599),
        Row(
            "no authorization claim", answer(claims(["authorization": nil])),
            .doubted("has no authorization claim; let the issuer put vehicleid into one")),
        Row(
            "authorization as text", answer(claims(["authorization": "\"v\""])),
            .doubted("has an authorization claim that is a string; let the issuer write an object with vehicleid")),
        Row(
            "authorization outside of its claim", answer(claims(["authorization": nil, "vehicleid": "\"v\""])),
            .doubted("has vehicleid outside of an authorization claim; let the issuer put it into one")),
        Row(
            "a misspelled claim", answer(claims(["authorization": #"{"vehicleId":"v"}"#])),
            .refused("names its vehicle under vehicleId; let the issuer write vehicleid")),
        Row(
            "the vehicle with its path", answer(claims(["authorization": #"{"vehicleid":"providers/p/vehicles/v"}"#])),
            .refused("names the vehicle with its whole path; let the issuer write the id alone, v")),
        Row(
            "the vehicle in other letters", answer(claims(["authorization": #"{"vehicleid":"V"}"#])),
            .refused("is for vehicle V, in other letters than v: upper and lower case differ; let the issuer")),
        Row(
            "an identity token",
            answer(
                claims(["authorization": nil, "aud": "\"x\"", "iss": "\"https://accounts.google.com\""])),
            .refused("is an identity token of accounts.google.com, not one for Fleet Engine; let the backend sign")),
        Row(
            "a login's token",
            answer(
                claims([
                    "authorization": nil, "aud": "\"account\"", "iss": "\"https://sso.example.com/realms/fleet\"",
                ])),
            .refused("is an identity token of sso.example.com, not one for Fleet Engine; let the backend sign")),
        Row(
            "for another vehicle", answer(claims(["authorization": #"{"vehicleid":"w"}"#])),
            .refused("is for vehicle w; check the vehicle id")),
        Row(
            "for the vehicle with a space", answer(claims(["authorization": #"{"vehicleid":"v "}"#])),
            .refused("is for vehicle \"v \"; check the vehicle id")),
        Row(
            "for a delivery vehicle, the other claim null",
            answer(claims(["authorization": #"{"vehicleid":null,"deliveryvehicleid":"v"}"#])),
            .refused("is for delivery vehicles")),
        Row(
            "for a delivery vehicle", answer(claims(["authorization": #"{"deliveryvehicleid":"v"}"#])),
            .refused("let the issuer set vehicleid, or correct vehicle.service")),
        Row(
            "a list of vehicles", answer(claims(["authorization": #"{"vehicleid":["v"]}"#])),
            .refused("has a vehicleid that is a list; let the issuer write the id alone, as a string")),
        Row(
            "for a trip", answer(claims(["authorization": #"{"tripid":"t"}"#])),
            .refused("names no vehicle (it may be a consumer's)")),
        Row("a server's", answer(claims(["authorization": #"{"vehicleid":"*"}"#])), .doubted("is a server token")),
        Row("an empty claim", answer(claims(["authorization": "{}"])), .refused("names no vehicle")),
        Row("no issuer", answer(claims(["iss": nil])), .doubted("has no iss; let the issuer set iss and sub to the")),
        Row("no subject", answer(claims(["sub": nil])), .doubted("has no sub; let the issuer set iss and sub to the")),
        Row(
            "another subject", answer(claims(["sub": #""b@p""#])), .doubted("has another sub than iss; let the issuer")),
        Row("no audience", answer(claims(["aud": nil])), .refused("names no audience; let the issuer set aud")),
        Row(
            "another audience", answer(claims(["aud": "\"https://example.com/\""])),
            .refused("is for https://example.com/; let the issuer set aud")),
        Row(
            "an audience without slash", answer(claims(["aud": "\"https://fleetengine.googleapis.com\""])),
            .doubted("without the slash at its end; let the issuer set aud to https://fleetengine.googleapis.com/")),
        Row("several audiences", answer(claims(["aud": #"["x","https://fleetengine.googleapis.com/"]"#])), .used),
        Row(
            "not before tomorrow", answer(claims(["nbf": "1767657600"])),
            .refused("is not valid before 86400 s after its issue (nbf)")),
        Row("not before iat", answer(claims(["nbf": "1767571200"])), .used),
        Row(
            "an empty kid", answer(claims(header: #"{"alg":"RS256","kid":""}"#)),
            .doubted("names no key; let the issuer set kid")),
        Row("no kid", answer(claims(header: #"{"alg":"RS256"}"#)), .doubted("names no key; let the issuer set kid")),
        Row(
            "unsigned", answer(claims(header: #"{"alg":"none"}"#)),
            .refused("is signed with none; let the issuer sign with RS256")),
        Row(
            "unsigned, without a signature",
            answer(claims(header: #"{"alg":"none"}"#).split(separator: ".").prefix(2).joined(separator: ".") + "."),
            .refused("is signed with none; let the issuer sign with RS256")),
        Row(
            "HS256", answer(claims(header: #"{"alg":"HS256","kid":"1"}"#)),
            .refused("is signed with HS256; let the issuer sign with RS256")),
        Row("no alg", answer(claims(header: #"{"kid":"1"}"#)), .refused("is signed with nothing")),
        Row("more claims", answer(claims(["scope": "\"x\"", "jti": "\"7\""])), .used),
    ]

    /// Answers that are none.
    static let statuses: [Row] = [
        Row("204", "", .refused("gave nothing"), status: 204),
        Row(
            "301", "", .refused("a redirect to https://x.example.com, which is not followed; set authorization.url"),
            status: 301, headers: [("Location", "https://x.example.com/a")]),
        Row(
            "302 to itself", "",
            .refused("a redirect to this very address, which leads nowhere; see the backend's log"),
            status: 302, headers: [("Location", "/t")]),
        Row(
            "302 to itself as a whole", "", .refused("a redirect to this very address, which leads nowhere"),
            status: 302, headers: [("Location", "https://backend.example.com/t")]),
        Row("302", "", .refused("a redirect, which is not followed"), status: 302),
        Row("400", answer(), .refused("check authorization.url, headers, body and client certificate"), status: 400),
        Row("401", "", .refused("no headers are configured; add authorization.headers or a client"), status: 401),
        Row("403", "", .refused("have this vehicle's token: check vehicle.vehicleId"), status: 403),
        Row("404", "", .refused("check authorization.url"), status: 404),
        Row("405", "", .refused("check authorization.method"), status: 405),
        Row(
            "405 with Allow", "", .refused("it allows POST; check authorization.method"), status: 405,
            headers: [("Allow", "POST")]),
        Row("410", "", .refused("check authorization.url"), status: 410),
        Row("422", "", .refused("check authorization.headers and body, and the backend's log"), status: 422),
        Row(
            "429", "", .refused("wants a pause (Retry-After); see the backend's log"), status: 429,
            headers: [("Retry-After", "30")]),
        Row("500 with a token", answer(), .refused("it cannot answer now; see the backend's log"), status: 500),
        Row("503", "", .refused("see the backend's log"), status: 503),
    ]

    static let rows = expiries + places + tokens + statuses

    @Test func isLong() { #expect(Self.rows.count >= 150 && Set(Self.rows.map(\.name)).count > 140) }

    @Test(arguments: rows) func isWhatServiceAndCommandDo(row: Row) async throws {
        let configuration = try Configurations.read(Configurations.smallest)
        let context = AuthorizationContext(vehicleID: "v")
        let provider = try HTTPTokenProvider(
            HTTPTokenSettings(url: "https://backend.example.com/t", format: row.format), providerID: "p",
            transport: ScriptedTransport { _ in
                var headers = HTTPHeaders()
                for (name, value) in row.headers { headers.append(name, value) }
                return HTTPResponse(status: row.status, headers: headers, body: row.body)
            }, environment: [:], wallClock: { Self.issued + row.host },
            present: { row.isKeptRight ? Self.issued + row.host : nil })

        // The service, as it is wired.
        let lines = Locked([String]())
        let log = LogWriter(level: .debug, format: .text, isReadByJournal: false) { bytes in
            lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        }
        let service: Result<AuthorizationToken, AuthorizationError>
        do throws(AuthorizationError) {
            service = .success(
                try await configuration.cached(provider, clock: ManualClock(), log: log, jitter: { 1 }).token(
                    for: context))
        } catch { service = .failure(error) }
        let said = lines.withLock { $0 }

        // The command.
        let command: Result<TokenReport, AuthorizationError>
        do throws(AuthorizationError) {
            command = .success(
                TokenReport(
                    try await provider.ask(for: context), configuration,
                    hostTime: UTCTime(millisecondsSince1970: Int64((Self.issued + row.host) * 1000))))
        } catch { command = .failure(error) }

        switch row.fate {
        case .used: try expectUse(row, service, command, remarks: [], said: said)
        case .doubted(let words):
            let report = try command.get()
            #expect(report.verdict.remarks.contains { $0.contains(words) }, "\(report.verdict)")
            try expectUse(row, service, command, remarks: report.verdict.remarks, said: said)
            for remark in report.verdict.remarks { expectRemedy(remark) }
        case .refused(let words):
            guard case .failure(let error) = service else {
                Issue.record("the service uses it: \(said)")
                return
            }
            #expect(error.detail.contains(words), "\(error.detail)")
            expectRemedy(error.detail)
            switch command {
            case .failure(let told): #expect(told.detail == error.detail)
            case .success(let report): #expect(report.verdict.problem == error.detail)
            }
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
        // What the command says of the life is what the service reckons with.
        let shown = report.lines.first { $0.name == "life" }?.text
        #expect(shown == (token.lifetime.map { "\($0.spoken) left" } ?? "not stated"))
        // It counts only where there is one that can be used.
        let stated = report.lines.first { $0.name == "stated" }?.text ?? ""
        let faults = ["has no exp;", "has an exp that is no number", "has the exp "]
        let isUsable = !remarks.contains { remark in faults.contains(where: remark.contains) }
        if stated.hasPrefix("no ") { #expect(stated.hasSuffix("; exp counts") == isUsable, "\(stated)") }
    }

    /// Every message names one thing to do.
    private func expectRemedy(_ words: String) {
        let remedies = [
            "let the", "Let the", "et tokenKey", "et expirationFormat", "set the ", "Set the ", "set authorization",
            "; check ", " check that", "Look into", ": check ", "add authorization", "see the backend's log",
            "look into",
            "cut off?", "expected the token", "expected header",
            "expected an object",
        ]
        #expect(remedies.contains { words.contains($0) }, "no remedy: \(words)")
        #expect(!words.contains("eyJ"), "shows a token")
    }
}
