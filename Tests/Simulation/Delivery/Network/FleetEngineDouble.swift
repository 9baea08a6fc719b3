import FleetEngine
import GNSS
import HTTPMessages
import TimeAndRandomness

/// A simulated Fleet Engine that accepts well-formed and authorised requests, and fails at times. It reports every
/// request to the account, which judges the laws.
///
/// `@unchecked Sendable` is safe because only the simulation's thread uses the object.
final class FleetEngineDouble: @unchecked Sendable {
    private let world: World
    private let issuer: TokenIssuer
    private let vehicle: VehicleName
    private var dice: Dice
    /// The maximum number of locations per request in a world with such a limit.
    private let locationLimit: Int
    private var attempts = TokenBucket(capacity: 40, interval: .seconds(1))
    /// The updates that are always rejected.
    private var poisonous: Set<UpdateKey> = []
    private var decided: Set<UpdateKey> = []
    private var reloadedAt: Duration?

    /// The maximum number of locations in a batch, all of which are repeated after a lost answer.
    static let maximumBatch = 51

    init(_ world: World, issuer: TokenIssuer, vehicle: VehicleName) {
        self.world = world
        self.issuer = issuer
        self.vehicle = vehicle
        dice = Dice(seed: world.scenario.seed, stream: .server)
        locationLimit = 2 + dice.below(20)
    }

    /// Records that the network has returned, so delayed requests may arrive at once.
    func networkReturned() { attempts.refill(by: 6) }

    /// Records that the service was reloaded: its upload loop doesn't continue the waits of the previous one.
    func recordReload() {
        attempts.refill(by: 3)
        reloadedAt = world.now
    }

    /// Records that the client is about to send `request`, whether it arrives or not.
    func willSend(_ request: HTTPRequest) {
        world.note(.request, Int64(request.body.count), 0, "request of \(request.body.count) bytes")
        world.require(.fewAttempts, attempts.consume(at: world.now), "attempts come faster than one per second")
        world.require(
            .privateIsSilent, !world.isKnownPrivate || UpdateReader.state(of: request) != "ONLINE",
            "a private vehicle is reported as online")
        world.require(
            .reloadIsSilent,
            reloadedAt != world.now || world.privateFor != nil || UpdateReader.state(of: request) != "OFFLINE",
            "a reload reports the vehicle as offline")
        issuer.willUse(Self.token(of: request), for: vehicle.vehicleID)
    }

    func recordLostAnswer() { world.account.allowDuplicates(Self.maximumBatch) }

    func receive(_ request: HTTPRequest) -> HTTPResponse {
        let answer = answer(request)
        world.note(.answer, Int64(answer.status), 0, "Fleet Engine answers \(answer.status)")
        return answer
    }

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        if world.isActive(.serverError) {
            world.allowDelay(for: .seconds(61))
            return errorAnswer(dice.element(of: [500, 502, 503, 504]), "UNAVAILABLE", message: "try again")
        }
        if world.strikes(.tooManyRequests) { return tooManyRequestsAnswer() }
        let token = issuer.judge(Self.token(of: request), for: vehicle.vehicleID)
        if token != .good || world.strikes(.refusedToken) {
            if token == .good { issuer.revoke(Self.token(of: request)) }
            world.allowDelay(for: .seconds(66))
            return token == .foreign
                ? errorAnswer(403, "PERMISSION_DENIED", message: "vehicle")
                : errorAnswer(401, "UNAUTHENTICATED", message: "token")
        }
        if world.isActive(.missingVehicle) {
            world.allowDelay(for: .seconds(301))  // the pauses between probes grow to five minutes
            return errorAnswer(404, "NOT_FOUND", message: "no such vehicle")
        }
        switch UpdateReader.read(request, for: vehicle) {
        case .failure(let problem):
            world.recordBreach(.wellFormed, problem.message)
            return errorAnswer(400, "INVALID_ARGUMENT", message: problem.message)
        case .success(let update): return accept(update)
        }
    }

    private func accept(_ update: UpdateReader.Update) -> HTTPResponse {
        guard let last = update.last else { return successAnswer }
        if world.has(.smallRequestsOnly), update.past.count + 1 > locationLimit {
            return HTTPResponse(status: 413, body: Array("<html>413 Request Entity Too Large</html>".utf8))
        }
        let rejected = (update.past + [last]).filter(isPoisonous)
        guard rejected.isEmpty else {
            // Each step of the search for the rejected update costs a slow answer.
            if world.isActive(.slowAnswer) { world.allowDelay(for: .seconds(60)) }
            if update.past.isEmpty { world.account.reject(last, at: world.now) }
            for key in rejected { world.account.reject(key, at: world.now) }
            return errorAnswer(400, "INVALID_ARGUMENT", message: "location \(rejected.count)")
        }
        if let breach = world.account.receive(last: last, past: update.past, at: world.now) {
            world.recordBreach(breach.law, breach.detail)
        }
        attempts.refill(by: 2)  // this request, and another for the backlog
        return successAnswer
    }

    /// Whether the update is always rejected, which is decided at its first arrival.
    private func isPoisonous(_ key: UpdateKey) -> Bool {
        if decided.insert(key).inserted, world.strikes(.refusedUpdate) { poisonous.insert(key) }
        return poisonous.contains(key)
    }

    private func tooManyRequestsAnswer() -> HTTPResponse {
        let seconds = dice.below(20) == 0 ? 30 + dice.below(900) : 1 + dice.below(30)
        // The requested wait, and then longer intervals, which shrink with each accepted upload.
        world.allowDelay(for: .seconds(min(seconds, 600) + 700))
        var answer = errorAnswer(429, "RESOURCE_EXHAUSTED", message: "quota")
        answer.headers["Retry-After"] = "\(seconds)"
        return answer
    }

    private var successAnswer: HTTPResponse {
        var answer = HTTPResponse(status: 200, body: Array("{\"name\":\"\(vehicle)\"}".utf8))
        if dice.chance(0.1) {
            answer.headers["Date"] = world.utc.httpDate
        }
        return answer
    }

    private func errorAnswer(_ status: Int, _ code: String, message: String) -> HTTPResponse {
        HTTPResponse(
            status: status,
            body: Array("{\"error\":{\"code\":\(status),\"status\":\"\(code)\",\"message\":\"\(message)\"}}".utf8))
    }

    private static func token(of request: HTTPRequest) -> Substring {
        (request.headers["Authorization"] ?? "").dropFirst("Bearer ".count)
    }
}
