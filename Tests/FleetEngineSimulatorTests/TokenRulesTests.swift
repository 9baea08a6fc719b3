import HTTPMessages
import HTTPService
import StrictJSON
import Testing
import TimeAndRandomness
import VehicleAuthorization

@testable import FleetEngineSimulator

private let now = SimulatedBackend.initialSeconds

@Suite struct TokenRules {
    private static let validClaims = TokenClaims(
        issuer: TokenAuthority.serviceAccount, subject: TokenAuthority.serviceAccount, issuedAt: now,
        expiry: now + 3600,
        authorization: ["vehicleid": "van"])

    private static func alteredClaims(_ change: (inout TokenClaims) -> Void) -> TokenClaims {
        var claims = validClaims
        change(&claims)
        return claims
    }

    @Test(
        arguments: [
            (validClaims, nil), (alteredClaims { $0.issuedAt = now + 600 }, nil),
            (alteredClaims { $0.expiry = now + 1 }, nil),
            (alteredClaims { $0.issuedAt = now - 86400 }, nil), (alteredClaims { $0.expiry = now }, "expired 0 s ago"),
            (alteredClaims { $0.expiry = now - 10 }, "expired 10 s ago"),
            (alteredClaims { $0.issuedAt = now + 601 }, "iat is 601 s ahead"),
            (alteredClaims { $0.expiry = now + 3601 }, "exp is 3601 s ahead"),
            (
                alteredClaims { $0.audience = "https://fleetengine.googleapis.com" },
                "aud is https://fleetengine.googleapis.com; it must be"
            ),
            (alteredClaims { $0.audience = "" }, "aud is ; it must be"),
            (alteredClaims { $0.subject = "other" }, "iss and sub must both"),
            (alteredClaims { ($0.issuer, $0.subject) = ("", "") }, "iss and sub must both"),
        ] as [(TokenClaims, String?)])
    func areEnforced(claims: TokenClaims, message: String?) throws {
        let authority = try TokenAuthority(keyID: "k", key: SimulatedBackend.key.get())
        let token = try authority.token(claims)
        do throws(ErrorAnswer) {
            let read = try authority.claims(ofAuthorization: "Bearer \(token)", now: now)
            #expect(read == claims)
            #expect(message == nil)
        } catch {
            #expect(error.code == .unauthenticated)
            #expect(error.message.contains(message ?? "accepted"), "\(error)")
        }
    }

    @Test(arguments: [
        ("alg none", "alg is none"), ("alg HS256", "alg is HS256"), ("no alg", "alg is missing"),
        ("kid", "kid is not the id of a key"),
        ("other key", "signature is wrong"), ("changed payload", "signature is wrong"),
        ("changed signature", "signature is wrong"),
        ("cut signature", "signature is wrong"), ("no signature", "signature is wrong"),
        ("two parts", "three base64url parts"),
        ("four parts", "three base64url parts"), ("padding", "three base64url parts"),
        ("not JSON", "three base64url parts"),
        ("no scheme", "must have the form \"Bearer TOKEN\""), ("Basic", "must have the form \"Bearer TOKEN\""),
        ("empty", "no Authorization header"),
        ("two blanks", "must have the form \"Bearer TOKEN\""),
    ])
    func rejectForgeries(forgery: String, message: String) throws {
        let authority = try TokenAuthority(keyID: "k", key: SimulatedBackend.key.get())
        let token = try authority.token(Self.validClaims)
        let parts = token.split(separator: ".").map(String.init)
        func encoded(_ text: String) -> String { Base64.urlEncoded(text.utf8) }
        func replacingHead(_ text: String) -> String { "Bearer \(encoded(text)).\(parts[1]).\(parts[2])" }
        let header: String
        switch forgery {
        case "alg none": header = "Bearer \(encoded("{\"alg\":\"none\",\"kid\":\"k\"}")).\(parts[1])."
        case "alg HS256": header = replacingHead("{\"alg\":\"HS256\",\"kid\":\"k\"}")
        case "no alg": header = replacingHead("{\"kid\":\"k\"}")
        case "kid": header = replacingHead("{\"alg\":\"RS256\",\"kid\":\"l\"}")
        case "other key": header = "Bearer \(try TokenAuthority(keyID: "k").token(Self.validClaims))"
        case "changed payload":
            let other = Self.alteredClaims { $0.authorization = ["vehicleid": "*"] }.json.text
            header = "Bearer \(parts[0]).\(encoded(other)).\(parts[2])"
        case "changed signature":
            header = "Bearer \(parts[0]).\(parts[1]).\(parts[2].hasPrefix("A") ? "B" : "A")\(parts[2].dropFirst())"
        case "cut signature": header = "Bearer \(parts[0]).\(parts[1]).\(parts[2].dropLast(4))"
        case "no signature": header = "Bearer \(parts[0]).\(parts[1])."
        case "two parts": header = "Bearer \(parts[0]).\(parts[1])"
        case "four parts": header = "Bearer \(token).x"
        case "padding": header = "Bearer \(token)=="
        case "not JSON": header = "Bearer \(encoded("{")).\(parts[1]).\(parts[2])"
        case "no scheme": header = token
        case "Basic": header = "Basic \(token)"
        case "two blanks": header = "Bearer  \(token)"
        default: header = ""
        }
        var error: ErrorAnswer?
        do throws(ErrorAnswer) { _ = try authority.claims(ofAuthorization: header, now: now) } catch let rejection {
            error = rejection
        }
        #expect(error?.status == 401)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
        ("driver/van", HTTPMethod.put, "vehicles/van", 200), ("driver/van", .get, "vehicles/van", 200),
        ("driver/van", .put, "vehicles/other", 403), ("driver/other", .put, "vehicles/van", 403),
        ("driver/van", .patch, "deliveryVehicles/van", 403), ("delivery_driver/van", .put, "vehicles/van", 403),
        ("delivery_driver/van", .patch, "deliveryVehicles/van", 200),
        ("delivery_driver/van", .get, "deliveryVehicles/van", 200),
        ("consumer/trip", .get, "vehicles/van", 403), ("consumer/trip", .put, "vehicles/van", 403),
        ("consumer/trip", .get, "deliveryVehicles/van", 403), ("server", .put, "vehicles/van", 200),
        ("server", .patch, "deliveryVehicles/van", 200), ("fleet_reader", .get, "deliveryVehicles/van", 200),
        ("driver/van", .patch, "vehicles/van", 405), ("driver/van", .post, "vehicles/van", 405),
        ("delivery_driver/van", .put, "deliveryVehicles/van", 405),
        ("driver/van", .post, "vehicles?vehicleId=van", 403),
        ("driver/van", .get, "vehicles", 405), ("driver/van", .get, "trips/x", 403),
        ("consumer/trip", .get, "trips/x", 403), ("consumer/x", .get, "trips/x", 404), ("server", .get, "trips/x", 404),
        ("consumer/x", .put, "trips/x", 405), ("consumer/x", .get, "trips", 404),
        ("delivery_driver/van?taskid=t1", .patch, "deliveryVehicles/van", 200),
        ("task_consumer/t1", .get, "deliveryVehicles/van", 403),
        ("driver/van", .get, "vehicles/van/x", 404),
        ("driver/van", .get, "vehicles/", 400), ("driver/van", .get, "vehicles/a%3Ab", 400),
        ("driver/van", .get, "vehicles/van?foo=1", 400), ("driver/van", .get, "vehicles/van?header.regionCode=US", 200),
        ("driver/van", .get, "vehicles/van?header.traceId=1", 400),
        ("driver/van", .get, "vehicles/van?header.foo=1", 400),
    ])
    func allowOnlyRequestsThatTheClaimsPermit(token: String, method: HTTPMethod, target: String, status: Int)
        async throws
    {
        let backend = try SimulatedBackend()
        let token = try await backend.token(token)
        let isUpdate = (method == .put || method == .patch) && !target.contains("?")
        let answer = try await backend.send(
            method, target + (isUpdate ? "?updateMask=lastLocation" : ""), token: token, body: "{\"lastLocation\":{}}")
        #expect(answer.status == status, "\(answer.json.errorMessage)")
    }

    @Test func areCheckedBeforeTheBody() async throws {
        let backend = try SimulatedBackend()
        #expect(try await backend.send(.put, "vehicles/van?updateMask=", token: nil, body: "x").status == 401)
        let token = try await backend.token("driver/other")
        #expect(try await backend.send(.put, "vehicles/van?updateMask=", token: token, body: "x").status == 403)
    }

    @Test func rejectExpiredTokens() async throws {
        let backend = try SimulatedBackend { $0.faults.tokens.lifetime = 60 }
        let token = try await backend.token("driver/van")
        backend.advance(by: 59)
        #expect(try await backend.send(.get, "vehicles/van", token: token).status == 200)
        backend.advance(by: 1)
        let late = try await backend.send(.get, "vehicles/van", token: token)
        #expect(late.status == 401)
        #expect(late.json.errorStatus == "UNAUTHENTICATED")
    }

    @Test func rejectTokensForAnotherProvider() async throws {
        let backend = try SimulatedBackend { $0.providerID = "q" }
        let token = try await backend.token("driver/van")
        #expect(try await backend.send(.get, "vehicles/van", token: token).status == 403)
    }
}

@Suite struct TokenEndpoint {
    @Test(arguments: [
        ("driver/van", "vehicleid", "van"), ("delivery_driver/van%207", "deliveryvehicleid", "van 7"),
        ("consumer/trip", "tripid", "trip"), ("delivery_consumer/t", "trackingid", "t"), ("server", "vehicleid", "*"),
        ("fleet_reader", "taskid", "*"), ("delivery_driver/van?taskid=t%201", "taskid", "t 1"),
        ("task_consumer/t1", "taskid", "t1"),
    ])
    func issuesTokensWithTheRequestedClaim(path: String, claim: String, value: String) async throws {
        let token = try await SimulatedBackend().token(path)
        let parts = token.split(separator: ".")
        let header = try JSONValue(parsing: try #require(Base64.urlDecoded(parts[0].utf8)))
        #expect(header == .object(["alg": .string("RS256"), "typ": .string("JWT"), "kid": .string("simulator-1")]))
        let payload = try JSONValue(parsing: try #require(Base64.urlDecoded(parts[1].utf8)))
        let claims = try #require(TokenClaims(payload))
        #expect(claims.authorization[claim] == value)
        #expect((claims.issuedAt, claims.expiry) == (now, now + 3600))
        #expect(claims.audience == "https://fleetengine.googleapis.com/")
    }

    @Test(arguments: [
        (TokenAnswerShape.guide, "driver/v", "VEHICLE_TOKEN_KEY", "TOKEN_EXPIRATION", now + 3600),
        (.guide, "consumer/t", "TRIP_TOKEN_KEY", "TOKEN_EXPIRATION", now + 3600),
        (.onDemandSample, "driver/v", "jwt", "expirationTimestamp", (now + 3600) * 1000),
        (.scheduledSample, "delivery_driver/v", "token", "expiration_timestamp_ms", (now + 3600) * 1000),
    ])
    func answersInTheConfiguredShape(
        shape: TokenAnswerShape, path: String, key: String, expiryKey: String, expiry: Int64
    )
        async throws
    {
        let answer = try await SimulatedBackend { $0.tokenShape = shape }.get("/token/\(path)")
        #expect(answer[key]?.stringValue?.hasPrefix("eyJ") == true)
        #expect(answer[expiryKey]?.integerValue == expiry)
    }

    @Test(arguments: [
        ("driver/*", 403), ("driver/a%2A", 403), ("driver/", 400), ("driver/a%2Fb", 400), ("driver/a%3Ab", 400),
        ("delivery_driver/v?taskid=*", 403), ("delivery_driver/v?taskid=", 400),
        ("driver/e%CC%81", 400), ("driver/" + String(repeating: "x", count: 65), 400), ("driver", 404),
        ("server/x", 404),
        ("pilot/x", 404), ("driver/a/b", 404), ("", 404),
    ])
    func rejectsInvalidPaths(path: String, status: Int) async throws {
        let answer = try await SimulatedBackend().get("/token/\(path)")
        #expect(answer["error"]?["code"]?.integerValue == Int64(status))
    }

    @Test func issuesTokensForSeveralTasks() async throws {
        let claims = try await Self.claims(of: SimulatedBackend().token("delivery_driver/van?taskid=t1&taskid=t2"))
        #expect(claims.authorization == ["deliveryvehicleid": "van"])
        #expect(claims.taskIDs == ["t1", "t2"])
    }

    @Test(arguments: [
        ("epochSeconds", JSONValue.integer(now + 3600) as JSONValue?), ("secondsFromNow", .integer(3600)),
        ("epochMilliseconds", .integer((now + 3600) * 1000)), ("text", .string("\(now + 3600)")), ("none", nil),
    ])
    func answersWithTheConfiguredExpiry(style: String, expiry: JSONValue?) async throws {
        let backend = try SimulatedBackend { try $0.faults.set("--token-expiry", style) }
        #expect(try await backend.get("/token/driver/v")["TOKEN_EXPIRATION"] == expiry)
    }

    @Test(arguments: [
        ("wrongVehicle:1", 403, "does not match"), ("wrongAudience:1", 401, "aud is"),
        ("expired:1", 401, "expired 60 s"),
    ])
    func issuesTokensThatFleetEngineRejects(fault: String, status: Int, message: String) async throws {
        let backend = try SimulatedBackend { try $0.faults.set("--token-errors", fault) }
        let answer = try await backend.send(.get, "vehicles/van", token: backend.token("driver/van"))
        #expect(answer.status == status)
        #expect(answer.json.errorMessage.contains(message))
    }

    @Test(arguments: [("page:1", 200, "<!doctype html>"), ("empty:1", 200, ""), ("502:1", 502, "{")])
    func answersWithTheConfiguredFaultInsteadOfAToken(fault: String, status: Int, start: String) async throws {
        let backend = try SimulatedBackend { try $0.faults.set("--token-errors", fault) }
        let response = await backend.engine.respond(to: ServedRequest(.get, "/token/driver/van")).response
        #expect(response.status == status)
        #expect(String(decoding: response.body, as: UTF8.self).hasPrefix(start))
        #expect(response.body.isEmpty == start.isEmpty)
        #expect(await backend.engine.record.tokensIssued == 0)
    }

    @Test func failsAtTheConfiguredRates() async throws {
        let backend = try SimulatedBackend { try $0.faults.set("--token-errors", "503:0.3,page:0.2") }
        var pages = 0
        var errors = 0
        for _ in 0..<200 {
            let response = await backend.engine.respond(to: ServedRequest(.get, "/token/driver/van")).response
            if response.status == 503 { errors += 1 } else if response.body.first == UInt8(ascii: "<") { pages += 1 }
        }
        #expect((40...80).contains(errors))
        #expect((20...60).contains(pages))
    }

    @Test(
        arguments: [(-700, nil), (599, "exp is 4199 s ahead"), (700, "iat is 700 s ahead")] as [(Int64, String?)])
    func hasItsOwnClock(offset: Int64, rejection: String?) async throws {
        let backend = try SimulatedBackend { try $0.faults.set("--token-clock", "\(offset)") }
        let served = await backend.engine.respond(to: ServedRequest(.get, "/token/driver/van"))
        #expect(served.response.headers["Date"] == UTCTime(millisecondsSince1970: (now + offset) * 1000).httpDate)
        let token = try await backend.token("driver/van")
        #expect(try Self.claims(of: token).issuedAt == now + offset)
        let answer = try await backend.send(.get, "vehicles/van", token: token)
        // Fleet Engine rejects a token that expires in more than an hour, so a fast clock is noticed at once.
        #expect(answer.status == (offset > 0 ? 401 : 200))
        if let rejection { #expect(answer.json.errorMessage.contains(rejection)) }
    }

    @Test func delaysItsAnswers() async throws {
        let backend = try SimulatedBackend { try $0.faults.set("--token-delay", "3") }
        #expect(await backend.engine.respond(to: ServedRequest(.get, "/token/driver/van")).delay == .seconds(3))
        let update = await backend.engine.respond(to: ServedRequest(.get, "/v1/providers/p/vehicles/van"))
        #expect(update.delay == .zero)
    }

    @Test func invalidatesTokensWithANewKey() async throws {
        let backend = try SimulatedBackend { try $0.faults.set("--key-rotation", "100") }
        func status(_ token: String) async throws -> Int {
            try await backend.send(.get, "vehicles/van", token: token).status
        }
        let first = try await backend.token("driver/van")
        #expect(try await status(first) == 200)
        backend.advance(by: 100)
        #expect(try await status(first) == 401)
        let second = try await backend.token("driver/van")
        #expect(try await status(second) == 200)
        await backend.engine.rotateKey()
        #expect(try await status(second) == 401)
        #expect(try await status(backend.token("driver/van")) == 200)
    }

    private static func claims(of token: String) throws -> TokenClaims {
        let part = try #require(token.split(separator: ".").dropFirst().first)
        let payload = try JSONValue(parsing: try #require(Base64.urlDecoded(part.utf8)))
        return try #require(TokenClaims(payload))
    }

    @Test func isUnavailableDuringAnOutage() async throws {
        let counted = try SimulatedBackend { try $0.faults.set("--token-outage", "2") }
        #expect(try await counted.get("/token/server").errorStatus == "UNAVAILABLE")
        #expect(try await counted.get("/token/server").errorStatus == "UNAVAILABLE")
        #expect(try await counted.get("/token/server")["VEHICLE_TOKEN_KEY"] != nil)
        let timed = try SimulatedBackend { try $0.faults.set("--token-outage", "10..20") }
        #expect(try await timed.get("/token/server")["VEHICLE_TOKEN_KEY"] != nil)
        timed.advance(by: 15)
        #expect(try await timed.get("/token/server").errorStatus == "UNAVAILABLE")
        timed.advance(by: 6)
        #expect(try await timed.get("/token/server")["VEHICLE_TOKEN_KEY"] != nil)
    }
}
