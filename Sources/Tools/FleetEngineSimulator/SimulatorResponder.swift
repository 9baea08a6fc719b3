import FleetEngine
import HTTPMessages
import HTTPService
import LinuxPlatform
import StrictJSON
import TimeAndRandomness

/// The handler of all requests. It responds as the token issuer or as Fleet Engine, with injected faults, and serves
/// the page and the record.
///
/// The handler is an actor with its own thread, because writing the record's file may block.
actor SimulatorResponder {
    private let settings: SimulatorSettings
    private let executor = ThreadExecutor(named: "simulator")
    private let authority: TokenAuthority
    private let issuer: TokenIssuer
    private let recordFile: RecordFile?
    private let uploadsFile: RecordFile?
    private let startedAt: UTCTime
    private var fleet: Fleet
    private var random: SplitMix64
    private var tokenRequests = 0
    private var manualRotations = 0
    private var outages = ManualOutages()
    private(set) var record = SimulatorRecord()
    private var recordFailure: String?

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ settings: SimulatorSettings) throws(SimulatorError) {
        self.settings = settings
        startedAt = settings.clock()
        fleet = Fleet(existence: settings.existence, maximumPastLocations: settings.faults.maximumPastLocations)
        random = SplitMix64(seed: settings.seed)
        issuer = TokenIssuer(shape: settings.tokenShape, faults: settings.faults.tokens)
        do {
            authority = try TokenAuthority(
                keyID: "simulator-\(settings.seed)", key: settings.signingKey, trustedKey: settings.trustedKey)
        } catch { throw .signing(error.description) }
        recordFile = try Self.openRecordFile(at: settings.recordPath, form: .positions)
        uploadsFile = try Self.openRecordFile(at: settings.uploadsPath, form: .uploads)
    }

    private static func openRecordFile(
        at path: String?, form: RecordFile.Form
    ) throws(SimulatorError) -> RecordFile? {
        guard let path else { return nil }
        do { return try RecordFile(path: path, form) } catch { throw .recordFile(path: path, error) }
    }

    func setOutage(_ isOn: Bool) { outages.setOutage(isOn, at: now) }

    /// Replaces the service account's key, so that tokens signed before are rejected.
    func rotateKey() { manualRotations += 1 }

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
            return .refusal(status: 404, "not found; the page is at /")
        }
        guard request.method == .get || request.method == .head else {
            return .refusal(status: 405, "this address can only be read; use GET")
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
                record: record, selected: selected, now: now, startedAt: startedAt, settings: settings,
                outages: outages, recordFailure: recordFailure)
            return ServedResponse(status: 200, contentType: "application/json", view.json.text, headers: headers)
        }
    }

    // MARK: Tokens

    private func respondToTokenRequest(_ request: ServedRequest, _ path: ArraySlice<String>) -> ServedResponse {
        tokenRequests += 1
        let delay = randomDelay(in: settings.faults.delay) + randomDelay(in: settings.faults.tokens.delay)
        if hasOutage {
            return finish(
                request, outcome: nil, fault: .outage, delivery: .reset(afterBytes: 0), isForToken: true)
        }
        let fault = settings.faults.tokens.fault(at: elapsed, number: tokenRequests) { random.unit() }
        let outcome = Result { () throws(ErrorAnswer) in
            let issue = try issuer.issue(
                to: try TokenIssuer.subject(of: request, path: path), fault: fault, now: nowSeconds,
                authority: authority, keyGeneration: keyGeneration)
            if let token = issue.record { record.add(token) }
            return issue.answer
        }
        return finish(request, outcome: outcome, fault: .none, delivery: .whole, delay: delay, isForToken: true)
    }

    private var keyGeneration: Int { settings.faults.tokens.keyGeneration(at: elapsed) + manualRotations }

    // MARK: Fleet Engine

    private func respondToFleetRequest(_ request: ServedRequest, _ path: ArraySlice<String>) -> ServedResponse {
        let delay = randomDelay(in: settings.faults.delay)
        let fault = hasOutage ? Fault.outage : settings.faults.fault(draw: random.unit())
        switch fault {
        case .outage, .reset:
            return finish(request, outcome: nil, fault: fault, delivery: .reset(afterBytes: 0), delay: delay)
        case .error(let status):
            var error = ErrorAnswer(
                status: status, code: ErrorAnswer.Code(httpStatus: status),
                message: "An injected error with status \(status).")
            if status == 429 || status == 503 { error.retryAfter = settings.faults.retryAdvice }
            return finish(request, outcome: .failure(error), fault: fault, delivery: .whole, delay: delay)
        case .none, .drop, .stall:
            let outcome = Result { () throws(ErrorAnswer) in try serve(request, path) }
            let delivery: ServedResponse.Delivery =
                switch fault {
                case .drop: .drop
                case .stall: .stall(afterBytes: 24)
                default: .whole
                }
            return finish(request, outcome: outcome, fault: fault, delivery: delivery, delay: delay)
        }
    }

    /// Serves a request, and returns the response. As Fleet Engine does, checks the token first, then the token's
    /// claim, the method, the update mask and the body. Only the form of the path and of the query is checked before
    /// the token.
    private func serve(_ request: ServedRequest, _ path: ArraySlice<String>) throws(ErrorAnswer) -> HTTPResponse {
        let target = try FleetTarget(path)
        let query = try FleetQuery(request)
        let claims = try authority.claims(
            ofAuthorization: request.headers["Authorization"], now: nowSeconds, keyGeneration: keyGeneration)
        if let known = settings.providerID, target.provider != known {
            throw .permissionDenied("the service account has no access to the provider \"\(target.provider)\"")
        }
        switch target {
        case .vehicles(let provider, let service):
            return try createVehicle(request, query, provider: provider, service: service, claims: claims)
        case .vehicle(let name):
            try FleetPermission.check(
                claims, claim: name.service.claim, id: name.id, resource: name.service.collection)
            return try serve(request, query, name)
        case .trip(let provider, let id):
            try FleetPermission.check(claims, claim: "tripid", id: id, resource: "trips")
            guard request.method == .get || request.method == .head else {
                throw ErrorAnswer(status: 405, code: .unimplemented, message: "the simulator's trips can only be read")
            }
            return response(with: try trip(id, of: provider), query)
        }
    }

    private func trip(_ id: String, of provider: String) throws(ErrorAnswer) -> JSONValue {
        guard let trip = settings.trips.first(where: { $0.id == id }) else {
            throw .notFound("Resources not found: providers/\(provider)/trips/\(id)")
        }
        let name = trip.vehicleName(under: provider)
        return trip.resource(
            of: provider, vehicle: record.vehicles[name], location: try fleet.get(name)["lastLocation"],
            startedAt: startedAt, now: now)
    }

    private func serve(
        _ request: ServedRequest, _ query: FleetQuery, _ name: ResourceName
    ) throws(ErrorAnswer) -> HTTPResponse {
        let service = name.service
        switch request.method.rawValue {
        case "GET", "HEAD": return response(with: try fleet.get(name), query)
        case service.updateVerb:
            try FleetQuery.checkContentType(request)
            let mask = try UpdateMask(query.updateMask, schema: service.schema)
            return response(committing: try fleet.update(name, mask: mask, body: request.body, now: now), query)
        default:
            throw ErrorAnswer(
                status: 405, code: .unimplemented,
                message:
                    "\(request.method.rawValue) is not a method of \(service.collection); update with \(service.updateVerb)"
            )
        }
    }

    private func createVehicle(
        _ request: ServedRequest, _ query: FleetQuery, provider: String, service: FleetService,
        claims: TokenClaims
    ) throws(ErrorAnswer) -> HTTPResponse {
        guard request.method == .post else {
            throw ErrorAnswer(status: 405, code: .unimplemented, message: "vehicles are created with POST")
        }
        guard claims.authorization[service.claim] == "*" else {
            throw .permissionDenied("only a server's token may create a vehicle")
        }
        guard let id = query.newVehicleID(for: service) else {
            throw .invalid(field: service.idParameter, "is required")
        }
        if let problem = ResourceName.problem(withID: id) { throw .invalid(field: service.idParameter, problem) }
        try FleetQuery.checkContentType(request)
        let name = ResourceName(provider: provider, service: service, id: id)
        return response(committing: try fleet.create(name, body: request.body), query)
    }

    private func response(with resource: JSONValue, _ query: FleetQuery) -> HTTPResponse {
        var resource = resource
        if let fields = query.answerFields, !fields.contains("*"), let members = resource.objectValue {
            resource = .object(members.filter { fields.contains($0.key) })
        }
        return HTTPResponse(
            status: 200, headers: HTTPHeaders(["Content-Type": "application/json; charset=UTF-8"]),
            body: resource.utf8)
    }

    private func response(committing outcome: Fleet.Outcome, _ query: FleetQuery) -> HTTPResponse {
        record.add(outcome.update, at: now)
        do {
            try recordFile?.append(outcome.update, at: now)
            try uploadsFile?.append(outcome.update, at: now)
        } catch {
            if recordFailure == nil {
                settings.reportProblem(
                    "cannot write the record file: \(error.reason); later updates will be missing from it")
            }
            recordFailure = "cannot write the record file: \(error)"
        }
        return response(with: outcome.answer, query)
    }

    // MARK: Common

    private var now: UTCTime { settings.clock() }
    private var nowSeconds: Int64 { now.millisecondsSince1970 / 1000 }
    /// The number of seconds since the start of the simulator.
    private var elapsed: Double { startedAt.duration(to: now) / .seconds(1) }
    private var hasOutage: Bool { outages.since != nil || settings.faults.hasOutage(at: elapsed) }

    private func randomDelay(in range: ClosedRange<Double>?) -> Duration {
        guard let range else { return .zero }
        return .seconds(range.lowerBound + (range.upperBound - range.lowerBound) * random.unit())
    }

    /// Records the request and returns the response to it.
    private func finish(
        _ request: ServedRequest, outcome: Result<HTTPResponse, ErrorAnswer>?, fault: Fault,
        delivery: ServedResponse.Delivery, delay: Duration = .zero, isForToken: Bool = false
    ) -> ServedResponse {
        var response = HTTPResponse(status: 503)
        var message: String?
        switch outcome {
        case .success(let answer): response = answer
        case .failure(let error):
            response = error.response
            message = error.message
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
