import FleetEngine
import GNSS
import HTTPMessages
import TimeAndChance

/// Fleet Engine as the vehicle knows it: takes what is well formed and authorized, keeps what it took, and is in
/// trouble now and then. Also an oracle: it knows what may arrive.
///
/// `@unchecked Sendable`: used by the thread of its simulation only.
final class FleetEngineDouble: @unchecked Sendable {
    private let world: World
    private let issuer: TokenIssuer
    private let vehicle: VehicleName
    private var dice: Dice
    /// The most locations that a request may carry, where that is limited.
    private let locationLimit: Int
    private var attempts = TokenBucket(capacity: 40, interval: .seconds(1))
    /// Updates that it will never take.
    private var poisonous: Set<UpdateKey> = []
    private var judged: Set<UpdateKey> = []

    /// How many locations one batch can hold: what a lost answer repeats.
    static let batch = 51

    init(_ world: World, issuer: TokenIssuer, vehicle: VehicleName) {
        self.world = world
        self.issuer = issuer
        self.vehicle = vehicle
        dice = Dice(seed: world.scenario.seed, stream: .server)
        locationLimit = 2 + dice.below(20)
    }

    /// The way to the network is back: what waited may come at once.
    func networkReturned() { attempts.give(6) }

    /// An upload loop begins anew, and does not wait for what the one before waited for.
    func reloaded() { attempts.give(3) }

    /// The client is about to send `request`, over whatever way there is.
    func willSend(_ request: HTTPRequest) {
        world.note(.request, Int64(request.body.count), 0, "request of \(request.body.count) bytes")
        world.require(.fewAttempts, attempts.take(at: world.now), "attempts come faster than one a second")
        world.require(
            .privateIsSilent, !world.isKnownPrivate || UpdateReader.state(of: request) != "ONLINE",
            "a private vehicle is told to be online")
        issuer.willUse(Self.token(of: request), for: vehicle.vehicleID)
    }

    /// The answer to `request` did not come back.
    func answerWasLost() { world.account.allowDuplicates(Self.batch) }

    /// Takes a request that has arrived.
    func receive(_ request: HTTPRequest) -> HTTPResponse {
        let answer = answer(request)
        world.note(.answer, Int64(answer.status), 0, "Fleet Engine answers \(answer.status)")
        return answer
    }

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        if world.holds(.serverError) {
            world.trouble(for: .seconds(61))
            return refusal(dice.element(of: [500, 502, 503, 504]), "UNAVAILABLE", "try again")
        }
        if world.strikes(.tooManyRequests) { return busy() }
        let token = issuer.judge(Self.token(of: request), for: vehicle.vehicleID)
        if token != .good || world.strikes(.refusedToken) {
            if token == .good { issuer.revoke(Self.token(of: request)) }
            world.trouble(for: .seconds(66))
            return token == .foreign
                ? refusal(403, "PERMISSION_DENIED", "vehicle") : refusal(401, "UNAUTHENTICATED", "token")
        }
        if world.holds(.missingVehicle) {
            world.trouble(for: .seconds(301))  // the pauses between probes grow to five minutes
            return refusal(404, "NOT_FOUND", "no such vehicle")
        }
        switch UpdateReader.read(request, for: vehicle) {
        case .failure(let problem):
            world.breach(.wellFormed, problem.words)
            return refusal(400, "INVALID_ARGUMENT", problem.words)
        case .success(let update): return take(update)
        }
    }

    private func take(_ update: UpdateReader.Update) -> HTTPResponse {
        guard let last = update.last else { return delivered }
        if world.has(.smallRequestsOnly), update.past.count + 1 > locationLimit {
            return HTTPResponse(status: 413, body: Array("<html>413 Request Entity Too Large</html>".utf8))
        }
        let refused = (update.past + [last]).filter(isPoisonous)
        guard refused.isEmpty else {
            // Each step of the search for the one that is rejected costs a slow answer.
            if world.holds(.slowAnswer) { world.trouble(for: .seconds(60)) }
            if update.past.isEmpty { world.account.refuse(last, at: world.now) }
            for key in refused { world.account.refuse(key, at: world.now) }
            return refusal(400, "INVALID_ARGUMENT", "location \(refused.count)")
        }
        if let breach = world.account.receive(last: last, past: update.past, at: world.now) {
            world.breach(breach.law, breach.detail)
        }
        attempts.give(2)  // itself, and one that tries whether more can go at once
        return delivered
    }

    /// Whether it refuses this one for good; decided when it is met first.
    private func isPoisonous(_ key: UpdateKey) -> Bool {
        if judged.insert(key).inserted, world.strikes(.refusedUpdate) { poisonous.insert(key) }
        return poisonous.contains(key)
    }

    private func busy() -> HTTPResponse {
        let seconds = dice.below(20) == 0 ? 30 + dice.below(900) : 1 + dice.below(30)
        // The wait asked for, and then wider intervals, which narrow with each upload that is taken.
        world.trouble(for: .seconds(min(seconds, 600) + 700))
        var answer = refusal(429, "RESOURCE_EXHAUSTED", "quota")
        answer.headers["Retry-After"] = "\(seconds)"
        return answer
    }

    private var delivered: HTTPResponse {
        var answer = HTTPResponse(status: 200, body: Array("{\"name\":\"\(vehicle)\"}".utf8))
        if dice.chance(0.1) {
            answer.headers["Date"] = world.utc.httpDate
        }
        return answer
    }

    private func refusal(_ status: Int, _ word: String, _ message: String) -> HTTPResponse {
        HTTPResponse(
            status: status,
            body: Array("{\"error\":{\"code\":\(status),\"status\":\"\(word)\",\"message\":\"\(message)\"}}".utf8))
    }

    private static func token(of request: HTTPRequest) -> Substring {
        (request.headers["Authorization"] ?? "").dropFirst("Bearer ".count)
    }
}
