package import TimeAndRandomness

/// A simulated receiver with good reception. The error of its position wanders within a metre or two.
struct SimulatedReceiver: Sendable {
    private var random: SplitMix64
    private var eastError = 0.0
    private var northError = 0.0
    private var upError = 0.0
    private var dilution = 0.9
    /// The number of seconds for which the receiver has seen the sky. The first value is high, because no outage
    /// precedes the drive.
    private var secondsWithSky = 1000.0
    private(set) var satellites: [SimulatedSatellite]

    /// The start of every drive, a corner in Hamburg. The streets are invented.
    private static let originLatitude = 53.55
    private static let originLongitude = 10.0
    private static let metersPerDegree = 111_319.49
    /// The correlation time of the position errors, in seconds.
    private static let errorCorrelationSeconds = 40.0
    /// The minimum speed at which the receiver reports a course, in metres per second.
    private static let minimumCourseSpeed = 0.4

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        satellites = (0..<11).map { SimulatedSatellite(index: $0, &random) }
        self.random = random
    }

    mutating func read(
        _ vehicle: Vehicle, at time: UTCTime, elapsedSeconds: Double, seesSky: Bool
    ) -> ReceiverReading {
        secondsWithSky = seesSky ? secondsWithSky + elapsedSeconds : 0
        // Soon after an outage, the receiver uses few satellites, so its errors are larger.
        let roughness = secondsWithSky < 20 ? 3 - 2 * secondsWithSky / 20 : 1
        eastError = nextError(after: eastError, sigma: 1.1 * roughness, seconds: elapsedSeconds)
        northError = nextError(after: northError, sigma: 1.3 * roughness, seconds: elapsedSeconds)
        upError = nextError(after: upError, sigma: 2.4 * roughness, seconds: elapsedSeconds)
        dilution = max(0.62, min(2.2, dilution + random.normal() * 0.02))
        for index in satellites.indices { satellites[index].move(seconds: elapsedSeconds, &random) }

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
            course: speed < Self.minimumCourseSpeed ? nil : course(of: vehicle),
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

    /// Returns the next error in a Gauss-Markov process, whose errors have the standard deviation `sigma`.
    private mutating func nextError(after error: Double, sigma: Double, seconds: Double) -> Double {
        let share = min(1, seconds / Self.errorCorrelationSeconds)
        return error - error * share + random.normal() * sigma * (2 * share).squareRoot()
    }
}

/// A satellite in the receiver's view. It moves slowly across the sky.
struct SimulatedSatellite: Sendable {
    let number: Int64
    private var elevationDegrees: Double
    private var azimuthDegrees: Double
    private var strength: Double

    init(index: Int, _ random: inout SplitMix64) {
        number = Int64(2 + index * 2)
        elevationDegrees = random.uniform(8...80)
        azimuthDegrees = random.uniform(0...359)
        strength = random.uniform(24...46)
    }

    mutating func move(seconds: Double, _ random: inout SplitMix64) {
        azimuthDegrees += 0.006 * seconds
        if azimuthDegrees >= 360 { azimuthDegrees -= 360 }
        strength = max(15, min(49, strength + random.normal() * 0.3))
    }

    var elevation: Int64 { Int64(elevationDegrees) }
    var azimuth: Int64 { Int64(azimuthDegrees) }
    /// The signal strength (C/N0) in dB-Hz.
    var carrierToNoise: Int64 { Int64(strength) }
}

/// A writer that appends NMEA sentences with their checksums to a reusable buffer, field by field.
package struct SentenceWriter {
    package var bytes: [UInt8] = []
    private var start = 0

    package init() {}

    package mutating func begin(_ address: StaticString) {
        bytes.append(UInt8(ascii: "$"))
        start = bytes.count
        address.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    package mutating func appendEmptyFields(_ count: Int = 1) {
        for _ in 0..<count { bytes.append(UInt8(ascii: ",")) }
    }

    package mutating func appendTexts(_ texts: StaticString...) {
        for text in texts {
            appendEmptyFields()
            text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
        }
    }

    /// Appends a number that is given in units of its last decimal. It has at least `width` digits before the decimal
    /// point.
    package mutating func appendNumber(_ value: Int64, decimals: Int = 0, width: Int = 1) {
        appendEmptyFields()
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        appendDigits(value.magnitude, decimals: decimals, width: width)
    }

    /// Appends a coordinate that is given in units of 0.00001 minute, followed by the letter of its hemisphere.
    package mutating func appendCoordinate(
        _ value: Int64, degreeDigits: Int, positive: StaticString, negative: StaticString
    ) {
        let magnitude = value.magnitude
        let (degrees, minutes) = magnitude.quotientAndRemainder(dividingBy: 6_000_000)
        appendEmptyFields()
        appendDigits(degrees * 10_000_000 + minutes, decimals: 5, width: degreeDigits + 2)
        appendTexts(value < 0 ? negative : positive)
    }

    /// Appends the time of day, with hundredths of a second.
    package mutating func appendTime(_ time: UTCTime) {
        let ofDay = Int64(time.millisecondOfDay)
        let clock = ofDay / 3_600_000 * 10_000 + ofDay / 60_000 % 60 * 100 + ofDay / 1000 % 60
        appendNumber(clock * 100 + ofDay % 1000 / 10, decimals: 2, width: 6)
    }

    package mutating func appendDate(_ time: UTCTime) {
        let (year, month, day) = time.civilDate
        appendNumber(Int64(day * 10_000 + month * 100 + year % 100), width: 6)
    }

    package mutating func end() {
        var sum: UInt8 = 0
        for index in start..<bytes.count { sum ^= bytes[index] }
        bytes.append(UInt8(ascii: "*"))
        for digit in [sum >> 4, sum & 15] { bytes.append(digit < 10 ? 48 + digit : 55 + digit) }
        bytes.append(13)
        bytes.append(10)
    }

    private mutating func appendDigits(_ value: UInt64, decimals: Int, width: Int) {
        var divisor: UInt64 = 1
        var left = 1
        while left < decimals + width || value / divisor >= 10 {
            divisor *= 10
            left += 1
        }
        var rest = value
        while left > 0 {
            if left == decimals { bytes.append(UInt8(ascii: ".")) }
            bytes.append(48 + UInt8(rest / divisor))
            rest %= divisor
            divisor /= 10
            left -= 1
        }
    }
}
