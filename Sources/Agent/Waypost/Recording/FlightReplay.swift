import FleetEngine
import FoundationEssentials
import GNSS
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import LocationReporting
import ReportedText
import SQLiteOutbox
import VehicleAuthorization

/// A recorded run played again, with the receiver, the server, the issuer, the network and chance as they were then,
/// and an outbox of its own that is gone afterwards.
package struct FlightReplay: Sendable {
    private let log: FlightLog
    private let configuration: Configuration
    private let factor: Double

    /// What comes at the very end of a recording may be in flight as it is cut off.
    private static let grace = Duration.seconds(2)

    /// `factor`: how much faster than it was.
    package init(_ log: FlightLog, _ configuration: Configuration, factor: Double) {
        (self.log, self.configuration, self.factor) = (log, configuration, factor)
    }

    /// Plays everything and compares the decisions.
    package func run() async throws(AgentError) -> FlightComparison {
        let folder = FileManager.default.temporaryDirectory.path + "/waypost-replay-\(UUID().uuidString)"
        var own = configuration
        own.outbox.path = folder + "/outbox.sqlite"
        let scaled = ScaledClock(factor: factor)
        let clock = MonotonicClock(scaled)
        let decisions = DecisionLog(clock: clock)
        let agent = try await VehicleAgent(own, parts(scaled, clock, decisions))
        let end = log.length
        await withTaskGroup { group in
            group.addTask { do throws(AgentError) { try await agent.run() } catch {} }  // a live source throws nothing
            group.addTask { await reenactNetwork(agent, clock) }
            group.addTask { await clock.sleep(for: end + Self.grace - clock.now) }
            for _ in 0..<2 { await group.next() }  // the network's part ends by itself
            group.cancelAll()
        }
        await agent.close()
        await onThread(named: "replay-end") { try? FileManager.default.removeItem(atPath: folder) }
        return FlightComparison(
            recorded: log.entries, replayed: decisions.entries, end: (end - Self.grace).milliseconds)
    }

    private func parts(
        _ scaled: ScaledClock, _ clock: MonotonicClock, _ decisions: DecisionLog
    ) -> VehicleAgent.Parts {
        let began = log.header.run.flatMap(UTCTime.init(rfc3339:)) ?? .system
        let isSynchronized = log.header.synchronized ?? false
        let logWriter = LogWriter(level: configuration.log.level, format: configuration.log.format)
        let (uploads, tokens) = (
            ReenactedChance(log.entries, of: "upload"), ReenactedChance(log.entries, of: "token")
        )
        let authorization = configuration.cached(
            ReenactedAuthorization(log.entries, clock: clock), clock: scaled, log: logWriter, jitter: tokens.draw,
            fetched: {})
        var parts = VehicleAgent.Parts(
            source: configuration.makeRecordedSource(log.receiver, present: { began }, clock: clock),
            authorization: authorization,
            transport: ReenactedTransport(log.entries, vehicle: configuration.vehicle, clock: clock),
            earliestFix: Release.date, expectedFix: began,
            latestFix: {
                isSynchronized
                    ? began.advanced(by: clock.now + .seconds(600))
                    : Release.date.advanced(by: .seconds(1024 * 7 * 86_400))
            }, clock: clock, log: logWriter, monitor: AgentMonitor(clock: clock), observers: [decisions])
        parts.jitter = uploads.draw
        return parts
    }

    private func reenactNetwork(_ agent: VehicleAgent, _ clock: MonotonicClock) async {
        for entry in log.entries where entry.network != nil {
            await clock.sleep(for: .milliseconds(entry.at) - clock.now)
            if Task.isCancelled { return }
            await agent.networkReturned()
        }
    }
}

/// Gives what the recording says the issuer gave, after the same time; the tokens themselves are made up.
final class ReenactedAuthorization: VehicleAuthorization {
    private let fetches: Locked<(rest: ArraySlice<FlightEntry>, count: Int)>
    private let clock: MonotonicClock

    init(_ entries: [FlightEntry], clock: MonotonicClock) {
        fetches = Locked((entries.filter { $0.token != nil }[...], 0))
        self.clock = clock
    }

    func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        let (fetch, number) = fetches.withLock { fetches in
            fetches.count += 1
            return (fetches.rest.popFirst(), fetches.count)
        }
        guard let fetch else { throw AuthorizationError(.unavailable, "the recording holds no more tokens") }
        await clock.sleep(for: .milliseconds(fetch.took ?? 0))
        guard fetch.token != "fetched" else {
            let lifetime = fetch.lifetime.map { Duration.milliseconds($0) }
            return AuthorizationToken(value: "recorded-\(number)", lifetime: lifetime)
        }
        throw AuthorizationError(
            fetch.token.flatMap(AuthorizationError.Code.init(rawValue:)) ?? .unavailable, "as recorded",
            retryAfter: fetch.after.map { .milliseconds($0) })
    }
}

/// The draws of a recording, again in their order; 0.5 when there are no more.
final class ReenactedChance: Sendable {
    private let draws: Locked<ArraySlice<Double>>

    /// Of `entries`, the draws of `kind`.
    init(_ entries: [FlightEntry], of kind: String) {
        draws = Locked(entries.filter { $0.draw == kind }.compactMap(\.value)[...])
    }

    func draw() -> Double { draws.withLock { $0.popFirst() } ?? 0.5 }
}

/// Answers each request as the recording says that the same one was answered, after the same time; no network is
/// needed.
///
/// Which one is the same, its order says, and its time where the replay sends fewer requests than the run did, or more:
/// an update more or less in a request is no difference.
final class ReenactedTransport: HTTPTransport {
    private struct Script {
        var rest: ArraySlice<FlightEntry>
        var last: FlightEntry?
    }

    /// How late or early a request may be, in milliseconds; a heartbeat falls within a second or so.
    private static let (late, early) = (250, 2000)

    private let script: Locked<Script>
    private let vehicle: VehicleName
    private let clock: MonotonicClock

    /// Of `entries`, the answers to updates, in the order of their requests.
    init(_ entries: [FlightEntry], vehicle: VehicleName, clock: MonotonicClock) {
        let updates = entries.filter { $0.request == "update" }.compactMap(\.number)
        let byNumber = Dictionary(
            entries.filter { $0.answer != nil }.compactMap { entry in entry.number.map { ($0, entry) } },
            uniquingKeysWith: { one, _ in one })
        script = Locked(Script(rest: updates.compactMap { byNumber[$0] }[...]))
        (self.vehicle, self.clock) = (vehicle, clock)
    }

    /// The answer to a request that goes out at `now`, in milliseconds; `nil` when none is recorded.
    private func answer(at now: Int) -> FlightEntry? {
        script.withLock { script in
            while let head = script.rest.first, head.isDelivery, let following = script.rest.dropFirst().first,
                following.begun + Self.late < now
            {
                script.rest.removeFirst()
            }
            if let head = script.rest.first, head.begun > now + Self.early, let last = script.last, last.isDelivery {
                return last
            }
            script.last = script.rest.popFirst()
            return script.last
        }
    }

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        let answer = answer(at: clock.now.milliseconds)
        guard let answer, answer.error != HTTPTransportError.Code.cancelled.rawValue else {
            // Under way when the recording ended, or given up by the one who waited.
            while !Task.isCancelled { await clock.sleep(for: .seconds(3600)) }
            throw HTTPTransportError(.cancelled, "cancelled")
        }
        await clock.sleep(for: .milliseconds(answer.took ?? 0))
        if Task.isCancelled { throw HTTPTransportError(.cancelled, "cancelled") }
        let traffic = HTTPTraffic(bytesSent: answer.sent ?? 0, bytesReceived: answer.received ?? 0)
        if let code = answer.error.flatMap(HTTPTransportError.Code.init(rawValue:)) {
            throw HTTPTransportError(code, "as recorded: \(code.rawValue)", traffic: traffic)
        }
        return response(answer, traffic)
    }

    /// An answer that is judged as the recorded one was.
    private func response(_ answer: FlightEntry, _ traffic: HTTPTraffic) -> HTTPResponse {
        let status = answer.status ?? 503
        let details = answer.after.map { #","details":[{"retryDelay":"\#(Double($0) / 1000)s"}]"# } ?? ""
        let body =
            switch answer.answer {
            case "delivered": #"{"name":"\#(vehicle)"}"#
            case "intercepted": ""  // somebody else's words
            default: #"{"error":{"code":\#(status),"message":"as recorded","status":"RECORDED"\#(details)}}"#
            }
        return HTTPResponse(status: status, body: Array(body.utf8), traffic: traffic)
    }
}

extension FlightEntry {
    /// When the request of this answer went out.
    fileprivate var begun: Int { at - (took ?? 0) }
    fileprivate var isDelivery: Bool { answer == "delivered" }
}

/// Time that passes faster than it does: what a recording is played in.
package struct ScaledClock: Clock {
    package struct Instant: InstantProtocol {
        var offset: Duration

        package func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }
        package func duration(to other: Self) -> Duration { other.offset - offset }
        package static func < (one: Self, other: Self) -> Bool { one.offset < other.offset }
    }

    private let start = ContinuousClock.now
    private let factor: Double

    /// `factor` seconds pass in each.
    package init(factor: Double) { self.factor = factor }

    package var now: Instant { Instant(offset: start.duration(to: .now) * factor) }
    package var minimumResolution: Duration { .nanoseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: start.advanced(by: deadline.offset / factor), tolerance: nil)
    }
}
