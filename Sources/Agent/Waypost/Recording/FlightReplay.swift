import FleetEngine
import FoundationEssentials
import GNSS
import GNSSReceiver
import LinuxPlatform
import LocationReporting

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
