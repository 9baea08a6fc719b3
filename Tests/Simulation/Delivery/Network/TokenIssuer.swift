import TimeAndRandomness
import VehicleAuthorization

/// The operator's token backend: slow, busy, down, or wrong. It remembers every token in order to judge the laws about
/// tokens.
///
/// `@unchecked Sendable` is safe because only the simulation's thread uses the object.
final class TokenIssuer: VehicleAuthorization, @unchecked Sendable {
    enum Verdict { case good, invalid, foreign }

    private struct Issued {
        let vehicleID: String
        let end: Duration
        /// The remaining life below which the token's renewal is due.
        let margin: Duration
        /// The number of fetches for the token's vehicle when it was issued.
        let fetch: Int
        /// Whether the token was sent although its renewal was due and no fetch had been attempted.
        var isOverdue = false
        var isRevoked = false
    }

    private let world: World
    private var dice: Dice
    private var issued: [String: Issued] = [:]
    private var serial = 0
    private var inFlight: Set<String> = []
    private var fetchCounts: [String: Int] = [:]
    private var fetches = TokenBucket(capacity: 40, interval: .seconds(10))
    /// The life of this backend's tokens in seconds.
    private let life: Double
    /// Whether the backend can be reached, over the same network as Fleet Engine.
    var isReachable: () -> Bool = { true }

    init(_ world: World) {
        self.world = world
        dice = Dice(seed: world.scenario.seed, stream: .issuer)
        let (long, short) = (dice.uniform(400...3600), dice.uniform(20...400))
        life = world.has(.shortTokens) ? short : long
    }

    /// Records that a new process has started, so fetches of the old one no longer count.
    func processStarted() { inFlight = [] }

    func networkReturned() async { fetches.refill(by: 6) }

    func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        let vehicleID = context.vehicleID
        world.require(.oneFetch, inFlight.insert(vehicleID).inserted, "two fetches for \(vehicleID) at once")
        defer { inFlight.remove(vehicleID) }
        fetchCounts[vehicleID, default: 0] += 1
        world.require(.fewFetches, fetches.consume(at: world.now), "the backend is asked too often")
        // Always drawn, so that excluding a kind doesn't affect other draws.
        let isSlow = world.strikes(.slowIssuer)
        let isBusy = world.strikes(.issuerBusy)
        let isDown = world.strikes(.issuerError)
        let delay = isSlow ? dice.seconds(1...40) : dice.seconds(0.02...0.4)
        world.allowDelay(for: delay + .seconds(1))
        await world.clock.wait(for: delay)
        if Task.isCancelled { throw AuthorizationError(.cancelled, "cancelled") }
        if !isReachable() { throw failure(.unavailable, "cannot be reached") }
        if isBusy {
            throw failure(
                .unavailable, "503", retryAfter: .seconds(dice.below(10) == 0 ? dice.below(900) : dice.below(60)))
        }
        if isDown { throw failure(dice.element(of: [.unavailable, .refused, .unusableAnswer]), "500") }
        return issue(for: vehicleID, after: delay)
    }

    private func failure(
        _ code: AuthorizationError.Code, _ detail: String, retryAfter: Duration? = nil
    ) -> AuthorizationError {
        let requestedWait = min(retryAfter ?? .zero, .seconds(600))
        world.allowDelay(for: max(requestedWait, .seconds(60)) + .seconds(66))
        world.note(.token, 0, 0, "the token backend fails: \(detail)")
        return AuthorizationError(code, "token backend: \(detail)", retryAfter: retryAfter)
    }

    private func issue(for vehicleID: String, after delay: Duration) -> AuthorizationToken {
        let isForeign = world.strikes(.wrongVehicle)
        let isExpired = world.strikes(.expiredToken)
        let isOpaque = world.strikes(.opaqueToken)
        let subject = isForeign && !isOpaque ? vehicleID + "-other" : vehicleID
        let now = Int(world.utc.millisecondsSince1970 / 1000)
        // A backend with a cache may return a token that has already used up a part of its lifetime.
        let age = isExpired ? Int(life) + dice.below(100) : dice.chance(0.2) ? Int(dice.uniform(0...(life * 0.9))) : 0
        let end = now - age + Int(life)
        serial += 1
        let text =
            isOpaque
            ? "opaque-\(serial)" : Self.signed(subject: subject, issuedAt: now - age, end: end, serial: serial)
        let remainingLife = Duration.seconds(end) - .milliseconds(world.utc.millisecondsSince1970)
        // Life counts from the start of the fetch, so a slow answer shortens it. Tokens and answers state whole
        // seconds.
        issued[text] = Issued(
            vehicleID: subject, end: world.now + remainingLife,
            margin: remainingLife - delay > .seconds(335) ? .seconds(299) : .zero,
            fetch: fetchCounts[vehicleID, default: 0])
        if issued.count > 400 { issued = issued.filter { $0.value.end > world.now - .seconds(3600) } }
        if isForeign || isExpired { world.allowDelay(for: .seconds(126)) }
        world.note(.token, Int64(serial), Int64(end - now), "token \(serial) for \(subject), \(end - now) s of life")
        let lifetime = isOpaque ? remainingLife : Self.lifetime(of: text, issuerTime: Double(now))
        return AuthorizationToken(value: text, lifetime: lifetime)
    }

    // MARK: Judging tokens

    /// Records that a request with this token is about to be sent.
    func willUse(_ text: Substring, for vehicleID: String) {
        guard let token = issued[String(text)] else {
            return world.recordBreach(.ownToken, "a token that was never issued")
        }
        world.require(.ownToken, token.vehicleID == vehicleID, "a token of \(token.vehicleID) for \(vehicleID)")
        let remainingLife = token.end - world.now
        // When a renewal is due, only one more update may use the token before an attempt to renew it. After an
        // attempt, the token may be used until it expires.
        let isDue = token.fetch == fetchCounts[vehicleID] && remainingLife < token.margin
        world.require(
            .tokenMargin, remainingLife > .zero && !(isDue && token.isOverdue),
            "\(remainingLife) of life are left, but the renewal is due at \(token.margin)")
        issued[String(text)]?.isOverdue = isDue
    }

    func judge(_ text: Substring, for vehicleID: String) -> Verdict {
        guard let token = issued[String(text)], token.end > world.now, !token.isRevoked else { return .invalid }
        return token.vehicleID == vehicleID ? .good : .foreign
    }

    func revoke(_ text: Substring) { issued[String(text)]?.isRevoked = true }

    // MARK: JSON Web Tokens without a valid signature

    private static func lifetime(of text: String, issuerTime: Double) -> Duration? {
        TokenExpiry(
            token: try? JSONWebToken(text), stated: nil, format: .automatic, issuerTime: issuerTime,
            localTime: issuerTime
        ).lifetime
    }

    private static func signed(subject: String, issuedAt: Int, end: Int, serial: Int) -> String {
        let payload =
            "{\"iss\":\"a\",\"sub\":\"a\",\"aud\":\"https://fleetengine.googleapis.com/\",\"iat\":\(issuedAt),\"exp\":\(end),\"jti\":\"\(serial)\","
            + "\"authorization\":{\"vehicleid\":\"\(subject)\"}}"
        return [#"{"alg":"RS256","kid":"1","typ":"JWT"}"#, payload, "nobody"].map { Base64.urlEncoded($0.utf8) }
            .joined(separator: ".")
    }
}
