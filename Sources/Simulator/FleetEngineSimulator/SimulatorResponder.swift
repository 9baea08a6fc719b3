import FleetEngine
import HTTPMessages
import HTTPService
import LinuxPlatform
import StrictJSON

/// Token issuer, Fleet Engine, faults and record behind one port: answers each request.
///
/// An actor on a thread of its own, because it writes the record's file.
actor SimulatorResponder {
    private let settings: SimulatorSettings
    private let executor = ThreadExecutor(named: "simulator")
    private let authority: TokenAuthority
    private let recordFile: RecordFile?
    private let startedAt: Int64
    private var fleet: Fleet
    private var chance: SeededChance
    private var tokenRequests = 0
    private var outageSince: WireTime?
    private(set) var record = SimulatorRecord()
    private var recordFailure: String?

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ settings: SimulatorSettings) throws(SimulatorError) {
        self.settings = settings
        startedAt = settings.clock()
        fleet = Fleet(existence: settings.existence, maximumPastLocations: settings.faults.maximumPastLocations)
        chance = SeededChance(seed: settings.seed)
        do { authority = try TokenAuthority(keyID: "simulator-\(settings.seed)", key: settings.signingKey) } catch {
            throw .signing(error.description)
        }
        guard let path = settings.recordPath else {
            recordFile = nil
            return
        }
        do { recordFile = try RecordFile(path: path) } catch { throw .recordFile(path: path, error) }
    }

    func setOutage(_ isOn: Bool) { outageSince = isOn ? now : nil }

    func respond(to request: ServedRequest) -> ServedResponse {
        guard let segments = request.pathSegments else {
            return .refusal(status: 400, "the path's percent-encoding is malformed")
        }
        switch segments[0] {
        case "token": return respondToTokenRequest(request, segments.dropFirst())
        case "v1": return respondToFleetRequest(request, segments.dropFirst())
        default: return respondToObserver(request, segments)
        }
    }

    // MARK: Observers

    private func respondToObserver(_ request: ServedRequest, _ segments: [String]) -> ServedResponse {
        guard segments.count == 1, ["", "page.json", "record.json"].contains(segments[0]) else {
            return .refusal(status: 404, "there is nothing here; the page is at /")
        }
        guard request.method == .get || request.method == .head else {
            return .refusal(status: 405, "this address can only be read")
        }
        let headers = HTTPHeaders([
            "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy":
                "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'",
        ])
        switch segments[0] {
        case "":
            return ServedResponse(
                status: 200, contentType: "text/html; charset=utf-8", SimulatorPage.html, headers: headers)
        case "record.json":
            return ServedResponse(
                status: 200, contentType: "application/json", record.json.text + "\n", headers: headers)
        default:
            let selected = request.queryItems?.first { $0.name == "vehicle" }?.value
            let view = PageView(
                record: record, selected: selected, now: now, startedAt: startedAt, faults: settings.faults,
                outageSince: hasOutage ? (outageSince ?? now) : nil, recordFailure: recordFailure)
            return ServedResponse(status: 200, contentType: "application/json", view.json.text, headers: headers)
        }
    }

    // MARK: Tokens

    private func respondToTokenRequest(_ request: ServedRequest, _ path: ArraySlice<String>) -> ServedResponse {
        tokenRequests += 1
        let delay = drawDelay()
        if hasOutage {
            return finish(request, nil, .outage, ServedResponse.Delivery.reset(afterBytes: 0), isForToken: true)
        }
        let outcome: Result<HTTPResponse, Refusal>
        if settings.faults.hasTokenOutage(at: elapsed, number: tokenRequests) {
            outcome = .failure(
                Refusal(status: 503, code: .unavailable, message: "The token issuer is down, as ordered."))
        } else {
            outcome = Result { () throws(Refusal) in try issue(request, path) }
        }
        return finish(request, outcome, .none, .whole, delay: delay, isForToken: true)
    }

    private func issue(_ request: ServedRequest, _ path: ArraySlice<String>) throws(Refusal) -> HTTPResponse {
        let parts = Array(path)
        guard (1...2).contains(parts.count),
            let subject = TokenSubject(kind: parts[0], id: parts.count == 2 ? parts[1] : nil)
        else { throw .notFound("no such token; ask for /token/driver/VEHICLE, /token/delivery_driver/VEHICLE, …") }
        guard request.method == .get || request.method == .post else {
            throw Refusal(status: 405, code: .unimplemented, message: "ask for a token with GET")
        }
        if let id = subject.id {
            guard !id.contains("*") else { throw .permissionDenied("a token for every vehicle is not for a driver") }
            if let problem = ResourceName.problem(withID: id) { throw .invalid(problem) }
        }
        let issuedAt = nowSeconds
        let claims = TokenClaims(
            issuer: TokenAuthority.account, subject: TokenAuthority.account, issuedAt: issuedAt,
            expiry: issuedAt + Int64(settings.faults.tokenLife), authorization: subject.claims)
        let token: String
        do { token = try authority.token(claims) } catch {
            throw Refusal(status: 500, code: .internalError, message: error.description)
        }
        record.add(TokenRecord(kind: subject.name, id: subject.id, issuedAt: issuedAt, expiry: claims.expiry))
        let answer = settings.tokenShape.answer(
            token: token, subject: subject, issuedAt: issuedAt, expiry: claims.expiry)
        return HTTPResponse(
            status: 200, headers: HTTPHeaders(["Content-Type": "application/json", "Cache-Control": "no-store"]),
            body: Array(answer.text.utf8))
    }

    // MARK: Fleet Engine

    private func respondToFleetRequest(_ request: ServedRequest, _ path: ArraySlice<String>) -> ServedResponse {
        let delay = drawDelay()
        let fault = hasOutage ? Fault.outage : settings.faults.fault(draw: chance.draw())
        switch fault {
        case .outage, .reset: return finish(request, nil, fault, .reset(afterBytes: 0), delay: delay)
        case .error(let status):
            var refusal = Refusal(
                status: status, code: Refusal.Code(httpStatus: status),
                message: "An error of status \(status), as ordered.")
            if status == 429 || status == 503 { refusal.retryAfter = settings.faults.retryAdvice }
            return finish(request, .failure(refusal), fault, .whole, delay: delay)
        case .none, .drop, .stall:
            let outcome = Result { () throws(Refusal) in try serve(request, path) }
            let delivery: ServedResponse.Delivery =
                switch fault {
                case .drop: .drop
                case .stall: .stall(afterBytes: 24)
                default: .whole
                }
            return finish(request, outcome, fault, delivery, delay: delay)
        }
    }

    /// The checks in Fleet Engine's order: token, claim, verb, query, body.
    private func serve(_ request: ServedRequest, _ path: ArraySlice<String>) throws(Refusal) -> HTTPResponse {
        let (provider, service, id) = try Fleet.target(path)
        let query = try FleetQuery(request)
        let claims = try authority.claims(ofAuthorization: request.headers["Authorization"], now: nowSeconds)
        if let known = settings.providerID, provider != known {
            throw .permissionDenied("the service account has no access to the provider \"\(provider)\"")
        }
        guard let id else { return try create(request, query, provider, service, claims) }
        let name = ResourceName(provider: provider, service: service, id: id)
        try FleetPermission.check(request.method, name, claims)
        switch request.method.rawValue {
        case "GET", "HEAD": return answer(try fleet.get(name))
        case service.updateVerb:
            try FleetQuery.checkContentType(request)
            let mask = try UpdateMask(query.updateMask, schema: service.schema)
            return answer(committing: try fleet.update(name, mask: mask, body: request.body, now: now))
        default:
            throw Refusal(
                status: 405, code: .unimplemented,
                message:
                    "\(request.method.rawValue) is not a method of \(service.collection); update with \(service.updateVerb)"
            )
        }
    }

    private func create(
        _ request: ServedRequest, _ query: FleetQuery, _ provider: String, _ service: FleetService,
        _ claims: TokenClaims
    ) throws(Refusal) -> HTTPResponse {
        guard request.method == .post else {
            throw Refusal(status: 405, code: .unimplemented, message: "vehicles are created with POST")
        }
        guard claims.authorization[service.claim] == "*" else {
            throw .permissionDenied("only a server's token may create a vehicle")
        }
        guard let id = query.newVehicleID(service) else { throw .invalid(field: service.idParameter, "is required") }
        if let problem = ResourceName.problem(withID: id) { throw .invalid(field: service.idParameter, problem) }
        try FleetQuery.checkContentType(request)
        let name = ResourceName(provider: provider, service: service, id: id)
        return answer(committing: try fleet.create(name, body: request.body))
    }

    private func answer(_ resource: JSONValue) -> HTTPResponse {
        HTTPResponse(
            status: 200, headers: HTTPHeaders(["Content-Type": "application/json; charset=UTF-8"]),
            body: Array(resource.text.utf8))
    }

    private func answer(committing outcome: Fleet.Outcome) -> HTTPResponse {
        if let update = outcome.update {
            record.add(update, at: now)
            do {
                switch recordFile {
                case .some(let file): try file.append(update, at: now)
                case .none: break
                }
            } catch { recordFailure = "the record's file: \(error)" }
        }
        return answer(outcome.answer)
    }

    // MARK: Common

    private var now: WireTime { WireTime(millisecondsSince1970: settings.clock()) }
    private var nowSeconds: Int64 { settings.clock() / 1000 }
    /// Seconds since the start.
    private var elapsed: Double { Double(settings.clock() - startedAt) / 1000 }
    private var hasOutage: Bool { outageSince != nil || settings.faults.hasOutage(at: elapsed) }

    private func drawDelay() -> Duration {
        guard let delay = settings.faults.delay else { return .zero }
        return .seconds(delay.lowerBound + (delay.upperBound - delay.lowerBound) * chance.draw())
    }

    /// Notes the request and wraps up its answer.
    private func finish(
        _ request: ServedRequest, _ outcome: Result<HTTPResponse, Refusal>?, _ fault: Fault,
        _ delivery: ServedResponse.Delivery, delay: Duration = .zero, isForToken: Bool = false
    ) -> ServedResponse {
        var response = HTTPResponse(status: 503)
        var message: String?
        switch outcome {
        case .success(let answer): response = answer
        case .failure(let refusal): (response, message) = (refusal.response, refusal.message)
        case nil: break
        }
        record.add(
            RequestRecord(
                receivedAt: now, method: request.method.rawValue, path: request.path,
                status: delivery == .whole ? response.status : nil, fault: fault.name, message: message,
                bytesReceived: request.byteCount, bytesSent: delivery == .whole ? response.body.count : 0),
            isForToken: isForToken)
        return ServedResponse(response, delay: delay, delivery: delivery)
    }
}
