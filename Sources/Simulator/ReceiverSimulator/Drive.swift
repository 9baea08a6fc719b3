package import GNSS

/// A seeded drive as a u-blox-like receiver reports it: the same bytes from the same seed on every machine.
package struct Drive: Sequence, IteratorProtocol, Sendable {
    private let situation: DriveSituation
    private let start: UTCTime
    private let epochCount: Int64
    private let satellitesInViewEvery: Int64
    private var vehicle: Vehicle
    private var receiver: SimulatedReceiver
    private var index: Int64 = 0

    /// - Parameters:
    ///   - situation: what the drive shows.
    ///   - seed: another number is another drive.
    ///   - start: UTC of the first epoch; the situation's own when `nil`.
    ///   - duration: the situation's own when `nil`.
    ///   - satellitesInViewEvery: epochs from one set of GSV sentences to the next.
    package init(
        _ situation: DriveSituation, seed: UInt64 = 1, start: UTCTime? = nil, duration: Duration? = nil,
        satellitesInViewEvery: Int = 5
    ) {
        self.situation = situation
        self.start = start ?? situation.standardStart
        let (seconds, attoseconds) = (duration ?? situation.standardDuration).components
        epochCount = (seconds * 1000 + attoseconds / 1_000_000_000_000_000) / situation.epochMilliseconds
        self.satellitesInViewEvery = Int64(Swift.max(1, satellitesInViewEvery))
        vehicle = Vehicle(situation, seed: seed)
        receiver = SimulatedReceiver(seed: seed &+ 0x5EED)
    }

    package mutating func next() -> DriveEpoch? {
        guard index < epochCount else { return nil }
        let milliseconds = index * situation.epochMilliseconds
        if index > 0 {
            for _ in 0..<situation.epochMilliseconds / 100 { vehicle.advance() }
        }
        let time = UTCTime(millisecondsSince1970: start.millisecondsSince1970 + milliseconds)
        let seesSky = !situation.outage.contains(Double(milliseconds) / 1000)
        let reading = receiver.read(
            vehicle, at: time, elapsedSeconds: Double(situation.epochMilliseconds) / 1000, seesSky: seesSky)
        var sentences = reading.sentences
        if index % satellitesInViewEvery == 0 { sentences = reading.sentences(satellites: receiver.satellites) }
        index += 1
        return DriveEpoch(time: time, truth: reading.truth, sentences: sentences)
    }
}
