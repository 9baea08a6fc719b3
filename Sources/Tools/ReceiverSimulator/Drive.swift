package import GNSS
package import TimeAndRandomness

/// A simulated drive, as a sequence of a receiver's outputs at each epoch. The receiver resembles those of u-blox. The
/// same seed produces the same bytes on every machine.
package struct Drive: Sequence, IteratorProtocol, Sendable {
    private let situation: DriveSituation
    private let start: UTCTime
    private let epochCount: Int64
    private let epochsPerSatelliteReport: Int64
    private var vehicle: Vehicle
    private var receiver: SimulatedReceiver
    private var index: Int64 = 0

    /// - Parameters:
    ///   - situation: the kind of drive.
    ///   - seed: each seed produces a different drive.
    ///   - start: the UTC time of the first epoch; `nil` for the situation's default.
    ///   - duration: the length of the drive; `nil` for the situation's default.
    ///   - epochsPerSatelliteReport: the number of epochs from one set of GSV sentences to the next.
    package init(
        _ situation: DriveSituation, seed: UInt64 = 1, start: UTCTime? = nil, duration: Duration? = nil,
        epochsPerSatelliteReport: Int = 5
    ) {
        self.situation = situation
        self.start = start ?? situation.standardStart
        let (seconds, attoseconds) = (duration ?? situation.standardDuration).components
        epochCount = (seconds * 1000 + attoseconds / 1_000_000_000_000_000) / situation.epochMilliseconds
        self.epochsPerSatelliteReport = Int64(Swift.max(1, epochsPerSatelliteReport))
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
        if index % epochsPerSatelliteReport == 0 { sentences = reading.sentences(satellites: receiver.satellites) }
        index += 1
        return DriveEpoch(time: time, truth: reading.truth, sentences: sentences)
    }
}

package struct DriveEpoch: Sendable {
    package let time: UTCTime
    /// The fix that a correct decoder returns for `sentences`; `nil` if the receiver has no fix.
    package let truth: Fix?
    /// The sentences that the receiver outputs, with CR LF after each of them.
    package let sentences: [UInt8]
}

/// The kind of a simulated drive.
package enum DriveSituation: String, Sendable, Hashable, CaseIterable {
    /// A drive along streets with corners and traffic lights.
    case town
    /// A drive at 100 to 130 km/h through wide bends.
    case motorway
    /// A drive on a country road with a tunnel in the middle, where there is no fix for a minute and a half.
    case tunnel
    /// A short drive that ends at a parking place. The car then stands still, but its reported position wanders.
    case parking
    /// A drive through the town that begins before midnight and ends after it.
    case midnight
    /// A drive through the town with ten epochs per second.
    case tenHertz

    package var standardStart: UTCTime {
        let halfPastTen = (10 * 60 + 30) * 60_000
        let twoMinutesToMidnight = (23 * 60 + 58) * 60_000
        return UTCTime(
            year: 2026, month: 3, day: 31,
            millisecondOfDay: self == .midnight ? twoMinutesToMidnight : halfPastTen)
    }

    package var standardDuration: Duration {
        switch self {
        case .town, .motorway, .parking: .seconds(600)
        case .tunnel: .seconds(300)
        case .midnight: .seconds(240)
        case .tenHertz: .seconds(60)
        }
    }

    var epochMilliseconds: Int64 { self == .tenHertz ? 100 : 1000 }

    /// The period in which the receiver sees no satellites, in seconds after the start; empty if there is none.
    var outage: Range<Double> { self == .tunnel ? 100..<190 : 0..<0 }

    /// The time at which the driver begins to stop in order to park, in seconds after the start; infinite for other
    /// drives.
    var parkingTime: Double { self == .parking ? 120 : .infinity }

    var roadStyle: RoadStyle {
        switch self {
        case .town, .parking, .midnight, .tenHertz:
            RoadStyle(
                speedLimits: [8.3, 13.9, 13.9], straightLengths: 60...320, bendRadii: 12...45, bendDegrees: 35...95,
                hasTrafficLights: true)
        case .motorway:
            RoadStyle(
                speedLimits: [27.8, 33.3, 36.1], straightLengths: 300...1500, bendRadii: 700...1800,
                bendDegrees: 8...40,
                hasTrafficLights: false)
        case .tunnel:
            RoadStyle(
                speedLimits: [22.2], straightLengths: 150...600, bendRadii: 180...500, bendDegrees: 10...50,
                hasTrafficLights: false)
        }
    }
}

/// A complete drive as the content of two files: the receiver's output, and the expected fixes as JSON Lines.
package struct GeneratedDrive: Sendable {
    package private(set) var sentences: [UInt8] = []
    package private(set) var expectedFixes: [UInt8] = []

    package init(_ situation: DriveSituation) {
        for epoch in Drive(situation) {
            sentences += epoch.sentences
            if let truth = epoch.truth { JSONLinesFormat.append(truth, to: &expectedFixes) }
        }
    }
}
