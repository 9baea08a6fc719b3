import Conditions
import CurlTransport
import FleetEngineDelivery
import HTTPMessages
import ReportedText
import Reporting
import WaypostTestSupport

/// The real reporter over the real libcurl. The outbox is in memory, and the clock advances when the reporter waits.
struct LinkBench {
    /// The observations of a run that an operator can make.
    struct Observations {
        var waits: [Duration] = []
        /// The reason for each failed attempt, in the reporter's message.
        var reasons: [String] = []
        var ledger = Ledger()
        var tokensDiscarded = 0
        var quarantined: Set<Int64> = []
    }

    let clock = ManualClock()
    let outbox = ScriptedOutbox()
    let observer = RecordingObserver()
    let authorization = ScriptedAuthorization()

    /// Limits that are long enough for a loaded machine.
    static let generousLimits = HTTPLimits(connect: .seconds(50), total: .seconds(50))

    func reporter(
        to endpoint: String, limits: HTTPLimits = generousLimits, caFile: String? = nil
    ) throws -> Reporter {
        let transport = try CurlTransport(options: CurlTransportOptions(userAgent: "waypost/test", caFile: caFile))
        return Reporter(
            ReportingSettings(upload: UploadSettings(timeLimit: limits.total)), outbox: outbox,
            delivery: try FleetEngineDelivery.sample(
                to: endpoint, limits: limits, authorization: authorization, over: transport),
            clock: MonotonicClock(clock), jitter: { 1 }, observer: observer)
    }

    func appendUpdates(of seconds: ClosedRange<Int>) async throws {
        for second in seconds { try await outbox.append(LocationUpdate(.sample(Double(second), speed: 10))) }
    }

    /// Runs `reporter` until everything is delivered or it has waited `waits` times. Each wait advances the clock.
    func drain(_ reporter: Reporter, waits limit: Int = 100) async throws -> Observations {
        await reporter.finishWhenEmpty()
        var seen = Observations()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await reporter.deliver() }
            for await event in observer.stream {
                if case .idle = event { break }
                if case .failed(let outcome, _, _) = event {
                    seen.reasons.append(Condition(outcome)?.explanation.description ?? "")
                }
                guard case .waiting(let delay) = event else { continue }
                seen.waits.append(delay)
                if seen.waits.count == limit { break }
                clock.advance(by: delay)
            }
            group.cancelAll()
        }
        seen.ledger = try await outbox.ledger()
        seen.tokensDiscarded = authorization.discarded.count
        seen.quarantined = Set(await outbox.quarantinedReasons.keys)
        return seen
    }
}
