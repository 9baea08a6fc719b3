import FoundationEssentials
import GNSS
import GNSSReceiver
import LinuxPlatform
import ReceiverSimulator
import TimeAndRandomness
import WaypostTestSupport

/// The fixes of a drive, recorded or generated from a seed.
struct TestDrive: Sendable, CustomStringConvertible {
    let description: String
    let fixes: [Fix]

    /// The recorded drives, which some machines have next to the checkout. A drive without a date gets one.
    static let recorded: [TestDrive] = {
        guard let directory = Fixtures.recordedDrives else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return names.filter { $0.hasSuffix(".gz") }.sorted().compactMap { name in
            guard let bytes = try? decompressedContents(of: directory.appending(path: name).path) else { return nil }
            var fixes = name.contains(".csv") ? Self.fixes(inTable: bytes) : Fixtures.fixes(in: bytes)
            if fixes.isEmpty {
                fixes = Fixtures.fixes(in: sentence("GPZDA,095557,01,07,2020,00,00").utf8 + bytes)
            }
            let short = String(name.prefix { $0 != "." })
            return fixes.isEmpty ? nil : TestDrive(description: short, fixes: fixes)
        }
    }()

    /// Returns drives through a town and over a motorway, and a delivery round with forty stops.
    static func generated(seed: UInt64) -> [TestDrive] {
        [DriveSituation.town, .motorway].map { situation in
            let drive = Drive(situation, seed: seed, duration: .seconds(3600))
            return TestDrive(description: "\(situation.rawValue) \(seed)", fixes: drive.compactMap(\.truth))
        } + [
            TestDrive(
                description: "delivery round \(seed)", fixes: SimulatedRide.deliveryRound(stops: 40, seed: seed).fixes()
            )
        ]
    }

    private static func decompressedContents(of path: String) throws -> [UInt8] {
        let log = try RecordedLog(path: path, stop: EventDescriptor())
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            var span = buffer.mutableSpan
            let count = try log.read(into: &span)
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }

    /// Returns the fixes in a table of times, places and other fields. If the table has several receivers, only the
    /// first one's fixes are returned.
    private static func fixes(inTable bytes: [UInt8]) -> [Fix] {
        let rows = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        guard let header = rows.first else { return [] }
        let columns = Dictionary(header.enumerated().map { (String($1), $0) }) { first, _ in first }
        let first = columns["receiver"].map { rows[1][$0] }
        let fixes = rows.dropFirst().compactMap { row -> Fix? in
            func text(_ name: String) -> Substring? { columns[name].map { row[$0] } }
            func number(_ name: String) -> Double? { text(name).flatMap { Double($0) } }
            guard first == nil || text("receiver") == first, let latitude = number("lat"),
                let longitude = number("lon"),
                let seconds = number("t_unix") ?? number("t_sync_s") ?? number("t_s")
                    ?? text("t_local").map(secondOfDay)
            else { return nil }
            var fix = Fix(
                timeOfFix: UTCTime(millisecondsSince1970: Int64((seconds * 1000).rounded())), latitude: latitude,
                longitude: longitude)
            fix.speedMetersPerSecond = number("speed_mps")
            fix.headingDegrees = number("heading_deg")
            fix.horizontalAccuracyMeters = (number("hdop") ?? 1) * 5
            return fix
        }
        return fixes.sorted { $0.timeOfFix < $1.timeOfFix }
    }

    /// Returns the second of the day of a local time such as `2014-09-10 06:54:07+0200`.
    private static func secondOfDay(in text: Substring) -> Double {
        text.dropFirst(11).prefix(8).split(separator: ":").reduce(0) { $0 * 60 + (Double($1) ?? 0) }
    }
}

extension Fixtures {
    /// The directory of recorded drives next to the recorded receivers; `nil` if it doesn't exist.
    static var recordedDrives: URL? { directory(named: "drives") }
    /// The directory of field cases next to the recorded receivers; `nil` if it doesn't exist.
    static var fieldCases: URL? { directory(named: "field") }

    private static func directory(named name: String) -> URL? {
        guard let directory = recordedReceivers?.appending(path: "../\(name)").standardizedFileURL else { return nil }
        return FileManager.default.fileExists(atPath: directory.path) ? directory : nil
    }
}

/// The exact motion of a vehicle, from which `fixes` makes a receiver's fixes with given errors.
struct SimulatedRide: Sendable {
    struct Moment: Sendable {
        let second: Double
        /// The position in metres from the start.
        let east, north: Double
        /// The speed in metres per second.
        let speed: Double
        /// The heading in degrees from north.
        let heading: Double
    }

    /// The vehicle's states, ten per second.
    private(set) var moments: [Moment] = []
    private var (second, east, north, speed, heading) = (0.0, 0.0, 0.0, 0.0, 0.0)

    /// Moves for `seconds` with this acceleration and rate of turn, but never backwards.
    mutating func move(for seconds: Double, acceleration: Double = 0, turning: Double = 0) {
        for _ in 0..<Int((seconds * 10).rounded()) {
            moments.append(Moment(second: second, east: east, north: north, speed: speed, heading: heading))
            speed = max(0, speed + acceleration / 10)
            heading = (heading + turning / 10 + 360).truncatingRemainder(dividingBy: 360)
            east += speed / 10 * Self.sine(ofDegrees: heading)
            north += speed / 10 * Self.sine(ofDegrees: heading + 90)
            second += 0.1
        }
    }

    mutating func stand(for seconds: Double) { move(for: seconds) }

    /// Accelerates, drives for `seconds` at the speed `top`, and brakes to a stop.
    mutating func drive(for seconds: Double, at top: Double, acceleration: Double = 1.5, braking: Double = 2) {
        move(for: top / acceleration, acceleration: acceleration)
        move(for: seconds)
        move(for: top / braking + 0.1, acceleration: -braking)
    }

    /// Returns a delivery round: streets with corners, and a stop of half a minute to three minutes at each address.
    static func deliveryRound(stops: Int, seed: UInt64) -> SimulatedRide {
        var ride = SimulatedRide()
        var chance = SplitMix64(seed: seed)
        ride.stand(for: 30)
        for _ in 0..<stops {
            for _ in 0..<Int(chance.uniform(1...4)) {
                let top = chance.uniform(7...14)
                let acceleration = chance.uniform(0.8...2)
                ride.move(for: (top - ride.speed) / acceleration, acceleration: acceleration)
                ride.move(for: chance.uniform(5...40), turning: chance.uniform(-1...1))
                ride.move(for: (top - 5) / 1.8, acceleration: -1.8)
                ride.move(for: 90 / 18, turning: chance.unit() < 0.5 ? -18 : 18)
            }
            ride.move(for: chance.uniform(1...15))
            ride.move(for: ride.speed / 1.5 + 0.1, acceleration: -1.5)
            ride.stand(for: chance.uniform(30...180))
        }
        return ride
    }

    /// Returns a receiver's fixes every `spacing` seconds: positions that wander by `wander` metres over `memory`
    /// seconds, and speeds with an error of `speedNoise`.
    func fixes(
        every spacing: Double = 1, wander: Double = 1.5, memory: Double = 40, speedNoise: Double = 0.1,
        statesSpeed: Bool = true, accuracy: Double? = 5, seed: UInt64 = 1
    ) -> [Fix] {
        var chance = SplitMix64(seed: seed)
        func normal() -> Double { (0..<12).reduce(-6) { sum, _ in sum + chance.unit() } }
        let kept = max(0, 1 - spacing / memory)
        var (eastError, northError) = (normal() * wander, normal() * wander)
        return stride(from: 0, to: moments.count, by: Int((spacing * 10).rounded())).map { index in
            let moment = moments[index]
            eastError = eastError * kept + normal() * wander * (1 - kept * kept).squareRoot()
            northError = northError * kept + normal() * wander * (1 - kept * kept).squareRoot()
            var fix = Fix.sample(moment.second, north: moment.north + northError, accuracy: accuracy)
            fix.longitude += (moment.east + eastError) / (111_195 * Self.sine(ofDegrees: 40))
            if statesSpeed {
                let speed = max(0, moment.speed + normal() * speedNoise)
                fix.speedMetersPerSecond = speed
                if speed > 0.4 { fix.headingDegrees = moment.speed > 0.4 ? moment.heading : chance.uniform(0...359) }
            }
            return fix
        }
    }

    /// Returns the sine by its series, because tests don't import a mathematics library.
    private static func sine(ofDegrees degrees: Double) -> Double {
        let turned = degrees.truncatingRemainder(dividingBy: 360)
        let angle = (turned > 180 ? turned - 360 : turned < -180 ? turned + 360 : turned) * .pi / 180
        let bent = abs(angle) > .pi / 2 ? (angle > 0 ? .pi - angle : -.pi - angle) : angle
        let square = bent * bent
        return bent * (1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72 * (1 - square / 110)))))
    }
}
