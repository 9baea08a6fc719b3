import HTTPMessages
import ReportedText

/// The network path to Fleet Engine: slow, lossy, half open, interrupted for hours, or intercepted by a login page.
///
/// `@unchecked Sendable` is safe because only the simulation's thread uses the object.
final class Network: HTTPTransport, @unchecked Sendable {
    private let world: World
    private let server: FleetEngineDouble
    private var dice: Dice
    /// Whether the kept connection is dead without the client's knowledge.
    private var isHalfOpen = false
    private var connection: Connection?
    /// The real transport's choice of address family and connection.
    private var route = ServerRoute()
    /// Whether the transport has tried the dead address family since its last answer or other failure.
    private var knowsDeadFamily = false
    private var isSlow = false
    private var life = ProcessLife()

    private struct Connection {
        /// Whether the last answer on the connection was a success.
        var isGood = false
        /// Whether the connection's server is being taken out of service and answers only with errors.
        var isDrained = false
    }

    /// The maximum delay after a failed exchange: the exchange's own time plus the maximum wait.
    private static let maximumDelayAfterFailure = Duration.seconds(15 + 16)

    init(_ world: World, server: FleetEngineDouble) {
        self.world = world
        self.server = server
        dice = Dice(seed: world.scenario.seed, stream: .network)
    }

    /// Records that a new process has started, so old connections are closed.
    func processStarted(_ life: ProcessLife) {
        self.life = life
        networkChanged()
    }

    var isUp: Bool { !world.isActive(.outage) && !world.isActive(.silentOutage) }

    func networkChanged() {
        isHalfOpen = false
        connection = nil
        route.reset()
    }

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        do { return try await exchange(request) } catch {
            connection = nil
            throw error
        }
    }

    private func exchange(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        server.willSend(request)
        let started = world.now
        if isHalfOpen {
            try await hang(request, since: started, reason: "half open")
            isHalfOpen = false
            throw failure(.timedOut, "no answer on an old connection")
        }
        try requireConnectivity()
        if world.isActive(.captivePortal) { return try await captivePortalAnswer() }
        // Always drawn, so that excluding a kind doesn't affect other draws.
        let isLost = world.strikes(.lostRequest)
        let isAnswerLost = world.strikes(.lostAnswer)
        let isReset = world.strikes(.reset)
        try await connect(request)
        try await waitHalfARoundTrip()
        if isReset, !isAnswerLost { throw failure(.connectionLost, "reset before the request was read") }
        try requireConnectivity()
        if isLost {
            try await hang(request, since: started, reason: "request lost")
            throw failure(.timedOut, "no answer")
        }
        let answer = answer(to: request)
        let isDelivered = answer.status == 200
        do throws(HTTPTransportError) {
            if isAnswerLost {
                if isReset { throw failure(.connectionLost, "reset before the answer was read") }
                try await hang(request, since: started, reason: "answer lost")
                throw failure(.timedOut, "no answer")
            }
            try await waitIfServerIsSlow(request)
            try await waitHalfARoundTrip()
            try requireConnectivity()
        } catch {
            if isDelivered { server.recordLostAnswer() }
            throw error
        }
        knowsDeadFamily = false
        connection?.isGood = isDelivered
        let leaves = route.recordResponse(status: answer.status)
        if leaves, world.scenario.bug != .keepsDrainedConnections { connection = nil }
        return answer
    }

    /// Connects over the family that the transport chooses, unless a connection is kept.
    private func connect(_ request: HTTPRequest) async throws(HTTPTransportError) {
        guard connection == nil else { return }
        guard route.family != .ipv4, world.isActive(.deadFamily) else {
            connection = Connection()
            return
        }
        if !knowsDeadFamily { world.allowDelay(for: Self.maximumDelayAfterFailure) }
        knowsDeadFamily = true
        world.note(.answer, -4, 0, "network: IPv6 connects, but doesn't answer")
        await world.clock.wait(for: request.limits.connect)
        if world.scenario.bug != .keepsOneFamily { route.recordFailure(over: .ipv6) }
        throw HTTPTransportError(Task.isCancelled ? .cancelled : .timedOut, "no secure connection")
    }

    /// Returns the answer of Fleet Engine, or of a server that is being taken out of service.
    private func answer(to request: HTTPRequest) -> HTTPResponse {
        if world.strikes(.drainedBackend), connection?.isGood == true, connection?.isDrained == false {
            connection?.isDrained = true
            world.allowDelay(for: .seconds(40))
        }
        guard connection?.isDrained == true else { return server.receive(request) }
        world.note(.answer, 503, 1, "a drained server answers 503")
        return HTTPResponse(status: 503)
    }

    /// If the server is slow, waits as long as it takes to answer.
    private func waitIfServerIsSlow(_ request: HTTPRequest) async throws(HTTPTransportError) {
        let wasSlow = isSlow
        isSlow = world.isActive(.slowAnswer)
        guard isSlow else { return }
        // A slow server that accepts only small requests may accept fewer positions than a vehicle generates.
        if !wasSlow || world.has(.smallRequestsOnly) { world.allowDelay(for: .seconds(30)) }
        let time = dice.seconds(4...9)
        if world.scenario.bug == .endsSlowAnswers {
            await world.clock.wait(for: min(time, .seconds(3)))
            throw HTTPTransportError(Task.isCancelled ? .cancelled : .timedOut, "silence")
        }
        await world.clock.wait(for: time)
        if Task.isCancelled { throw HTTPTransportError(.cancelled, "cancelled") }
    }

    /// Waits for half a round trip.
    private func waitHalfARoundTrip() async throws(HTTPTransportError) {
        var delay = dice.seconds(0.01...0.15)
        if world.isActive(.slowNetwork) {
            delay = dice.seconds(0.2...5)
            world.allowDelay(for: .seconds(20))
        }
        await world.clock.wait(for: delay)
        if !life.isAlive { await world.clock.wait(for: .seconds(36_000)) }  // without power: waits until cancelled
        if Task.isCancelled { throw HTTPTransportError(.cancelled, "cancelled") }
    }

    private func requireConnectivity() throws(HTTPTransportError) {
        if isUp { return }
        let isKnown = world.isActive(.outage)
        if !isKnown, world.strikes(.halfOpen) { isHalfOpen = true }
        throw failure(isKnown ? .nameNotResolved : .connectionFailed, "no route to the server")
    }

    private func failure(_ code: HTTPTransportError.Code, _ detail: String) -> HTTPTransportError {
        world.allowDelay(for: Self.maximumDelayAfterFailure)
        if connection == nil, code != .nameNotResolved { route.recordFailure(over: route.family ?? .ipv6) }
        knowsDeadFamily = false
        world.note(.answer, -1, 0, "network: \(detail)")
        return HTTPTransportError(code, "\(detail)")
    }

    private func hang(_ request: HTTPRequest, since start: Duration, reason: String) async throws(HTTPTransportError) {
        world.allowDelay(for: Self.maximumDelayAfterFailure)
        world.note(.answer, -2, 0, "network: \(reason), the exchange hangs")
        await world.clock.wait(for: request.limits.total - (world.now - start))
        if Task.isCancelled { throw HTTPTransportError(.cancelled, "cancelled") }
    }

    private func captivePortalAnswer() async throws(HTTPTransportError) -> HTTPResponse {
        world.allowDelay(for: .seconds(62))
        try await waitHalfARoundTrip()
        world.note(.answer, -3, 0, "network: a login page answers")
        switch dice.below(4) {
        case 0: return HTTPResponse(status: 302, headers: HTTPHeaders(["Location": "http://portal.invalid/"]))
        case 1: return HTTPResponse(status: 511, body: Array("<html>".utf8))
        case 2: return HTTPResponse(status: 200)
        default: return HTTPResponse(status: 200, body: Array("<html><body>Welcome</body></html>".utf8))
        }
    }
}
