import GNSS
import GNSSReceiver
import LinuxPlatform
import LocationReporting
import RunRecording
import SQLiteOutbox
import TimeAndChance
import Waypost

/// A recorded run played again, with the receiver, the server, the issuer, the network and chance as they were then,
/// and an outbox of its own that is gone afterwards.
struct RunReenactment: Sendable {
    let run: RecordedRun
    let configuration: Configuration
    /// How much faster than it was.
    let speed: Double

    /// What comes at the very end of a recording may be in progress when it is cut off.
    private static let grace = Duration.seconds(2)

    /// Plays everything and compares the decisions.
    func compare() async throws(AgentError) -> RunComparison {
        let outbox = ReplayOutbox()
        var own = configuration
        own.outbox.path = outbox.path
        (own.privateWhen, own.reporting.privateZones) = (nil, [])  // nothing of it is in the recording
        let scaled = ScaledClock(factor: speed)
        let clock = MonotonicClock(scaled)
        let decisions = DecisionLog(clock: clock)
        let agent: VehicleAgent
        do throws(AgentError) { agent = try await VehicleAgent(own, parts(scaled, clock, decisions)) } catch {
            await outbox.remove()
            throw error
        }
        await withTaskGroup { group in
            group.addTask { do throws(AgentError) { try await agent.run() } catch {} }  // a live source throws nothing
            group.addTask { await reenactNetwork(agent, clock) }
            group.addTask { await clock.sleep(for: run.length + Self.grace - clock.now) }
            for _ in 0..<2 { await group.next() }  // the network's part ends by itself
            group.cancelAll()
        }
        await agent.close()
        await outbox.remove()
        return RunComparison(recorded: run.entries, replayed: decisions.entries, end: run.length - Self.grace)
    }

    private func parts(_ scaled: ScaledClock, _ clock: MonotonicClock, _ decisions: DecisionLog) -> VehicleAgent.Parts {
        let began = UTCTime(rfc3339: run.header.run) ?? .system
        let log = LogWriter(level: configuration.log.level, format: configuration.log.format)
        let (uploads, tokens) = (ReenactedChance(run.entries, of: .upload), ReenactedChance(run.entries, of: .token))
        let authorization = configuration.cached(
            ReenactedAuthorization(run.entries, clock: clock), clock: scaled, log: log, jitter: tokens.draw)
        var parts = VehicleAgent.Parts(
            source: source(began: began, clock), authorization: authorization,
            transport: ReenactedTransport(run.entries, vehicle: configuration.vehicle, clock: clock),
            expectedFix: began, spacing: .reenactment(tooSoon: run.tooSoon),
            latestFix: { Release.latestFix(at: run.header.isSynchronized ? began.advanced(by: clock.now) : nil) },
            clock: clock, log: log, monitor: AgentMonitor(clock: clock), observers: [decisions])
        parts.jitter = uploads.draw
        return parts
    }

    /// The receiver that is configured, with the line that was recorded.
    private func source(began: UTCTime, _ clock: MonotonicClock) -> any FixSource {
        let isSynchronized = run.header.isSynchronized
        let dates = NMEADecoderOptions.Dates.repaired(
            reference: { began }, earliest: Release.date,
            hostTime: { isSynchronized ? began.advanced(by: clock.now) : nil })
        if case .gpsd(_, _, let device) = configuration.receiver.source {
            return RecordedReceiver(gpsd: run.receiver, device: device, dates: dates, clock: clock)
        }
        let options = NMEADecoderOptions(
            dates: dates, acceptsMissingChecksum: configuration.receiver.acceptsMissingChecksum)
        return RecordedReceiver(run.receiver, decoder: NMEADecoder(options: options), clock: clock)
    }

    private func reenactNetwork(_ agent: VehicleAgent, _ clock: MonotonicClock) async {
        for entry in run.entries where entry.event == .networkReturned {
            await clock.sleep(for: entry.at.duration - clock.now)
            if Task.isCancelled { return }
            await agent.networkReturned()
        }
    }
}
