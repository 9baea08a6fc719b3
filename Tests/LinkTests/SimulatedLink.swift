import HTTPMessages
import LinuxPlatform
import ReportedText
import WaypostTestSupport

/// A link to a Fleet Engine that accepts everything: up or down, fast or slow, on the test's clock.
final class SimulatedLink: HTTPTransport {
    /// The effect of a link that is down on an attempt.
    enum Outage: Sendable { case refuses, swallows }

    struct Attempt: Sendable {
        var begunAt: Duration
        var endedAt: Duration?
        /// The time of the last location, in seconds after that of `Fix.sample(0)`.
        var last: Int
        /// The times of the past locations, in seconds after that of `Fix.sample(0)`.
        var past: [Int]
        var hasArrived = false
        /// Whether every earlier attempt had ended when this one began.
        var isAlone = true
    }

    struct State: Sendable {
        var outage: Outage?
        /// The number of outages. A request that began before the last one is lost, even if the outage is over.
        var outageCount = 0
        var roundTrip = Duration.milliseconds(200)
        var bytesPerSecond: Double?
        /// The time that the server takes to answer.
        var answerDelay = Duration.zero
        /// Whether the current connection is dead: no attempt on it gets an answer.
        var isDead = false
        /// The maximum number of past locations; larger requests vanish. `nil` for no limit.
        var maximumPastLocations: Int?
        var attempts: [Attempt] = []
    }

    /// The number of round trips by which a new connection, with TCP and TLS, delays the exchange.
    static let roundTripsToConnect = 3
    static let connectLimit = Duration.seconds(10)

    let state = Locked(State())
    private let isConnected = Locked(false)
    /// The connections that are being established.
    private let connecting = Locked([AsyncStream<Never>.Continuation]())
    private let clock: ManualClock
    private let start: ManualClock.Instant

    init(clock: ManualClock) { (self.clock, start) = (clock, clock.now) }

    func networkChanged() {
        isConnected.withLock { $0 = false }
        let waiting = connecting.withLock { connecting in
            defer { connecting = [] }
            return connecting
        }
        for attempt in waiting { attempt.finish() }
    }

    func set(outage: Outage?) {
        state.withLock { state in
            state.outage = outage
            if outage != nil { state.outageCount += 1 }
        }
    }

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        let arrival = StandInFleetEngine.seconds(of: request.body)
        let (index, before) = state.withLock { state in
            state.attempts.append(
                Attempt(
                    begunAt: start.duration(to: clock.now), last: arrival.first ?? -1,
                    past: Array(arrival.dropFirst()), isAlone: state.attempts.allSatisfy { $0.endedAt != nil }))
            return (state.attempts.count - 1, state)
        }
        defer {
            let now = start.duration(to: clock.now)
            state.withLock { $0.attempts[index].endedAt = now }
        }
        switch before.outage {
        case .refuses?: throw HTTPTransportError(.connectionFailed, "network is unreachable")
        case .swallows?:
            try await failToConnect()
            throw connectionError(.timedOut)
        case nil: break
        }
        if before.isDead {
            // A middlebox acknowledges data on a connection that it has forgotten.
            defer { state.withLock { $0.isDead = false } }
            try await sleep(request.limits.total)
            throw connectionError(.timedOut)
        }
        let isNew = isConnected.withLock { !$0 }
        let body = before.bytesPerSecond.map { Duration.seconds(Double(request.body.count + 900) / $0) } ?? .zero
        try await sleep(before.roundTrip * (isNew ? Self.roundTripsToConnect + 1 : 1) + body)
        let isLost = state.withLock { state in
            let isTooLarge = state.maximumPastLocations.map { arrival.count - 1 > $0 } ?? false
            let isLost = isTooLarge || state.outageCount != before.outageCount
            if !isLost { state.attempts[index].hasArrived = true }
            return isLost
        }
        if isLost {
            try await sleep(request.limits.total)
            throw connectionError(.timedOut)
        }
        try await sleep(before.answerDelay)
        isConnected.withLock { $0 = true }
        return HTTPResponse(status: 200, body: Array(#"{"name":"providers/p/vehicles/v"}"#.utf8))
    }

    /// Waits until the time limit for connecting, or until the network changes.
    private func failToConnect() async throws(HTTPTransportError) {
        let (change, waiter) = AsyncStream.makeStream(of: Never.self)
        connecting.withLock { $0.append(waiter) }
        await withTaskGroup { group in
            group.addTask { [clock] in try? await clock.sleep(for: Self.connectLimit) }
            group.addTask { for await _ in change {} }
            await group.next()
            group.cancelAll()
        }
        if Task.isCancelled { throw connectionError(.cancelled) }
    }

    private func sleep(_ duration: Duration) async throws(HTTPTransportError) {
        guard duration > .zero else { return }
        do { try await clock.sleep(for: duration) } catch { throw connectionError(.cancelled) }
    }

    /// Returns an error, and closes the connection, because a failed connection isn't reused.
    private func connectionError(_ code: HTTPTransportError.Code) -> HTTPTransportError {
        isConnected.withLock { $0 = false }
        return HTTPTransportError(code, "\(code)")
    }
}
