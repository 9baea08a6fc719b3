import GNSS
import SeededChance

/// Errors of a good receiver under a changing sky: a position that wanders by a metre or two.
struct SimulatedReceiver: Sendable {
    private var random: SplitMix64
    private var eastError = 0.0
    private var northError = 0.0
    private var upError = 0.0
    private var dilution = 0.9
    /// Seconds since satellites came back after an outage.
    private var secondsWithSky = 1000.0
    private(set) var satellites: [SimulatedSatellite]

    /// A corner of Hamburg; the streets are made up.
    private static let originLatitude = 53.55
    private static let originLongitude = 10.0
    private static let metersPerDegree = 111_319.49
    /// Seconds after which an error has mostly changed.
    private static let memorySeconds = 40.0
    /// Below this speed the receiver leaves the course empty, in metres per second.
    private static let slowestCourse = 0.4

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        satellites = (0..<11).map { SimulatedSatellite(index: $0, &random) }
        self.random = random
    }

    mutating func read(
        _ vehicle: Vehicle, at time: UTCTime, elapsedSeconds: Double, seesSky: Bool
    ) -> ReceiverReading {
        secondsWithSky = seesSky ? secondsWithSky + elapsedSeconds : 0
        // Fixes straight after an outage come from few satellites.
        let roughness = secondsWithSky < 20 ? 3 - 2 * secondsWithSky / 20 : 1
        eastError = wandered(eastError, sigma: 1.1 * roughness, elapsedSeconds)
        northError = wandered(northError, sigma: 1.3 * roughness, elapsedSeconds)
        upError = wandered(upError, sigma: 2.4 * roughness, elapsedSeconds)
        dilution = max(0.62, min(2.2, dilution + random.normal() * 0.02))
        for index in satellites.indices { satellites[index].drift(elapsedSeconds, &random) }

        let speed = max(0, vehicle.speed + random.normal() * (vehicle.speed > 0 ? 0.06 : 0.02))
        let north = vehicle.north + northError
        let east = vehicle.east + eastError
        let latitude = Self.originLatitude + north / Self.metersPerDegree
        let cosine = Angle.cosine(Self.originLatitude * Angle.radiansPerDegree)
        let longitude = Self.originLongitude + east / (Self.metersPerDegree * cosine)
        return ReceiverReading(
            time: time, hasFix: secondsWithSky >= 3,
            latitude: Int64((latitude * 6_000_000).rounded()),
            longitude: Int64((longitude * 6_000_000).rounded()),
            speed: Int64((speed / 1852 * 3600 * 1000).rounded()),
            course: speed < Self.slowestCourse ? nil : course(of: vehicle),
            altitude: Int64(((12 + upError) * 10).rounded()),
            hdop: Int64((dilution * roughness * 100).rounded()),
            satellitesUsed: secondsWithSky < 20 ? 6 : 11)
    }

    private mutating func course(of vehicle: Vehicle) -> Int64 {
        let noise = random.normal() * 1.2 / max(1, vehicle.speed)
        let degrees = vehicle.heading / Angle.radiansPerDegree + noise
        let turned = (degrees - 360 * (degrees / 360).rounded(.down)) * 100
        return Int64(turned.rounded()) % 36_000
    }

    /// One step of a Gauss-Markov walk.
    private mutating func wandered(_ error: Double, sigma: Double, _ seconds: Double) -> Double {
        let share = min(1, seconds / Self.memorySeconds)
        return error - error * share + random.normal() * sigma * (2 * share).squareRoot()
    }
}
