import GNSS
import ReceiverSimulator
import ReportedText
import Reporting
import TimeAndRandomness

/// The vehicle's receiver: it writes sentences, sometimes damaged, which the real decoder reads.
///
/// `@unchecked Sendable` is safe because only the simulation's thread uses the object.
final class Receiver: FixSource, @unchecked Sendable {
    enum Activity { case driving, parked, off }

    private let world: World
    private var dice: Dice
    private var road: RoadTrip
    private var writer = SentenceWriter()
    var activity = Activity.off
    private var clockError = Duration.zero
    /// The number of remaining epochs with `clockError`.
    private var wrongEpochs = 0

    init(_ world: World) {
        self.world = world
        dice = Dice(seed: world.scenario.seed, stream: .receiver)
        road = RoadTrip(seed: world.scenario.seed)
    }

    func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        while !Task.isCancelled {
            var decoder = NMEADecoder(options: NMEADecoderOptions(dates: dates))
            await deliver(.state(.receiving(source: "line")))
            await read(with: &decoder, deliver)
            if world.isActive(.unplugged) {
                await deliver(.state(.waiting(source: "line", .deviceMissing)))
                while world.isActive(.unplugged), !Task.isCancelled { await world.clock.wait(for: .seconds(5)) }
            }
        }
        throw FixSourceError(log: "the simulated receiver", .stopped)
    }

    /// The date option that the service uses for a live receiver.
    private var dates: NMEADecoderOptions.Dates {
        .repaired(reference: { [world] in world.utc }, earliest: world.origin)
    }

    /// Reads epoch after epoch, until the receiver is unplugged or the task is cancelled.
    private func read(
        with decoder: inout NMEADecoder, _ deliver: @escaping @Sendable (FixSourceEvent) async -> Void
    ) async {
        while !Task.isCancelled, !world.isActive(.unplugged) {
            let interval: Int64 = activity == .driving ? 1 : 5
            let next = (world.now.components.seconds / interval + 1) * interval
            await world.clock.wait(for: .seconds(next) - world.now)
            road.advance(Double(interval), isDriving: activity == .driving)
            guard !Task.isCancelled, activity != .off, !world.isActive(.gap) else { continue }
            await decode(writeEpoch(), with: &decoder, deliver)
        }
    }

    /// Writes the sentences of the current epoch. Returns the offsets at which the transmission pauses.
    private func writeEpoch() -> [Int] {
        writer.bytes.removeAll(keepingCapacity: true)
        var epoch = ReceiverEpoch(
            time: world.utc.advanced(by: clockError), latitude: road.latitude + (dice.unit() - 0.5) * 2e-5,
            longitude: road.longitude + (dice.unit() - 0.5) * 3e-5, speed: road.speed, course: road.course,
            isVerbose: dice.chance(0.1))
        disturb(&epoch)
        epoch.write(with: &writer)
        if world.strikes(.noise), !writer.bytes.isEmpty {
            for _ in 0...dice.below(3) {
                let (index, bit) = (dice.below(writer.bytes.count), dice.below(8))
                writer.bytes[index] ^= 1 << UInt8(bit)
            }
        }
        if world.strikes(.garbage) {
            writer.bytes += (0..<dice.below(1500)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
        }
        guard world.strikes(.pauseInEpoch) || dice.chance(0.02) else { return [] }
        return (0...dice.below(3)).map { _ in dice.below(writer.bytes.count) }.sorted()
    }

    private func disturb(_ epoch: inout ReceiverEpoch) {
        if world.strikes(.jump) {
            epoch.latitude += (dice.unit() - 0.5) * 0.2
        }
        if wrongEpochs > 0 {
            wrongEpochs -= 1
            if wrongEpochs == 0 { clockError = .zero }
        } else if world.strikes(.wrongDate) {
            // A week-number rollover, a date before the first satellites, or a date one day ahead.
            clockError = dice.element(of: [.seconds(-1024 * 7 * 86_400), .seconds(-9_000 * 86_400), .seconds(86_400)])
            wrongEpochs = 1 + dice.below(20)
        } else if world.strikes(.clockSetBack) {
            clockError = .seconds(-60 - dice.below(3000))
            wrongEpochs = 2 + dice.below(60)
        }
    }

    /// Decodes the written bytes with a pause at each of `cuts`, and delivers the fixes.
    private func decode(
        _ cuts: [Int], with decoder: inout NMEADecoder,
        _ deliver: @escaping @Sendable (FixSourceEvent) async -> Void
    ) async {
        var begin = 0
        for end in cuts + [writer.bytes.count] where end > begin {
            if begin > 0 { await world.clock.wait(for: dice.seconds(0.01...0.4)) }
            var fixes: [Fix] = []
            decoder.decode(writer.bytes[begin..<end].span, receivedAt: world.now) { fixes.append($0) }
            begin = end
            for fix in fixes { await deliver(.fix(fix)) }
        }
        guard let deadline = decoder.idleDeadline else { return }
        await world.clock.wait(for: deadline - world.now)
        var fixes: [Fix] = []
        decoder.handleIdleLine(at: world.now) { fixes.append($0) }
        for fix in fixes { await deliver(.fix(fix)) }
        while let warning = decoder.takeWarning() { await deliver(.warning(warning)) }
    }
}
