import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// The times and places of a vehicle's stops.
@Suite struct Motions {
    /// Speeds at intervals of a second, and the initials of the vehicle's motion: moving, creeping, standing or parked.
    static let rows: [(name: String, speeds: [Double?], kinds: String)] = [
        ("moving", [3, 2, 1.2, 1], "mmmm"),
        ("slower than motion from the start", [1.2, 0.8, 1.4], "ccc"),
        ("coming to rest", [3, 1.4, 0.8, 0.4, 0.1], "mmcss"),
        ("noise of a standing receiver", [0.1, 0.4, 0.9, 0.6, 0.2], "sssss"),
        ("moving off", [0.1, 0.2, 1.2, 2.5], "sscm"),
        ("a wild speed", [0.1, 0.2, 9, 0.2], "ssms"),
        ("parked", [Double?](repeating: 0.1, count: 62), String(repeating: "s", count: 60) + "pp"),
        (
            "a parked receiver's noise", [Double?](repeating: 0.1, count: 61) + [1.2, 0.3],
            String(repeating: "s", count: 60) + "ppp"
        ),
        (
            "a parked vehicle moves off", [Double?](repeating: 0, count: 61) + [1.6],
            String(repeating: "s", count: 60) + "pm"
        ),
        ("no reported speed", [nil, nil], "--"),
        (
            "parked, according to its positions", [Double?](repeating: nil, count: 61),
            String(repeating: "-", count: 60) + "p"
        ),
    ]

    @Test(arguments: rows) func areClassified(name: String, speeds: [Double?], kinds: String) {
        var (classifier, north) = (MotionClassifier(), 0.0)
        let motions = speeds.enumerated().map { second, speed -> Character in
            north += (speed ?? 0) > 5 ? 0 : speed ?? 0
            let here = speed.map { $0 < 1 ? 0 : north } ?? 0
            switch classifier.motion(at: .sample(Double(second), north: here, speed: speed))?.kind {
            case .moving: return "m"
            case .creeping: return "c"
            case .standing: return "s"
            case .parked: return "p"
            case nil: return "-"
            }
        }
        #expect(String(motions) == kinds, "\(name)")
    }

    /// A drive with traffic lights, a short halt, creeping traffic and a delivery.
    private static let ride: SimulatedRide = {
        var ride = SimulatedRide()
        ride.stand(for: 70)
        for (seconds, wait) in [(40.0, 35.0), (60, 12), (25, 90), (80, 200), (30, 20)] {
            ride.drive(for: seconds, at: 12)
            ride.stand(for: wait)
        }
        ride.move(for: 2, acceleration: 1)
        ride.move(for: 120)  // creeping traffic
        ride.drive(for: 30, at: 8, acceleration: 1)
        ride.stand(for: 60)
        return ride
    }()

    /// The errors of a receiver: positions that wander by `wander` metres over `memory` seconds, and speeds with
    /// an error of `speedNoise` metres per second. A fix follows every `spacing` seconds.
    struct Errors: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let wander, memory, speedNoise: Double
        var spacing = 1.0
    }

    @Test(
        arguments: [
            Errors(testDescription: "none", wander: 0, memory: 40, speedNoise: 0),
            Errors(testDescription: "drift", wander: 1.5, memory: 40, speedNoise: 0.1),
            Errors(testDescription: "a slow walk by multipath", wander: 1.5, memory: 300, speedNoise: 0.15),
            Errors(testDescription: "ten a second", wander: 1.5, memory: 40, speedNoise: 0.1, spacing: 0.1),
            Errors(testDescription: "every other second", wander: 1.5, memory: 40, speedNoise: 0.1, spacing: 2),
        ], 1...3 as ClosedRange<UInt64>)
    func areAccurateToASecondAndFiveMetres(errors: Errors, seed: UInt64) {
        let fixes = Self.ride.fixes(
            every: errors.spacing, wander: errors.wander, memory: errors.memory, speedNoise: errors.speedNoise,
            seed: seed)
        let step = Int((errors.spacing * 10).rounded())
        let moments = stride(from: 0, to: Self.ride.moments.count, by: step).map { Self.ride.moments[$0] }
        let places = moments.map { moment in
            var place = Fix.sample(moment.second, north: moment.north)
            place.longitude += moment.east / (111_195 * 0.642_788)
            return place
        }
        Self.expectTrueStops(in: fixes, places: places, speeds: moments.map(\.speed))
    }

    /// A stop, from its first to its last fix.
    private struct Stop {
        let from: Fix
        var to: Fix
        var isLongEnough: Bool { from.timeOfFix.duration(to: to.timeOfFix) >= .seconds(8) }
    }

    /// Returns the true stops: each lasts from standstill to walking pace. Stops that are only a few metres apart are
    /// one stop.
    private static func trueStops(in places: [Fix], speeds: [Double]) -> [Stop] {
        var stops: [Stop] = []
        var wasStanding = false
        for (place, speed) in zip(places, speeds) {
            let standsHere = speed < (wasStanding ? 1 : 0.5)
            defer { wasStanding = standsHere }
            guard standsHere else { continue }
            if let last = stops.last,
                wasStanding
                    || last.to.timeOfFix.duration(to: place.timeOfFix) <= .seconds(30)
                        && last.from.distance(to: place) <= 5
            {
                stops[stops.count - 1].to = place
            } else {
                stops.append(Stop(from: place, to: place))
            }
        }
        return stops.filter(\.isLongEnough)
    }

    /// Expects that exactly the true stops are found, each accurate to one second (or one fix, if fixes are rarer) and
    /// to 5 m.
    private static func expectTrueStops(in fixes: [Fix], places: [Fix], speeds: [Double]) {
        var (classifier, found) = (MotionClassifier(), [Stop]())
        for fix in fixes {
            guard let motion = classifier.motion(at: fix), [.standing, .parked].contains(motion.kind) else { continue }
            if found.last?.from.timeOfFix == classifier.standingSince {
                found[found.count - 1].to = fix
            } else {
                found.append(Stop(from: fix, to: fix))
            }
        }
        let truth = trueStops(in: places, speeds: speeds)
        #expect(!truth.isEmpty)
        let tolerance = max(Duration.seconds(1), fixes[0].timeOfFix.duration(to: fixes[1].timeOfFix))
        for stop in truth {
            let match = found.first { abs($0.from.timeOfFix.duration(to: stop.from.timeOfFix) / tolerance) <= 1 }
            #expect(match != nil, "no stop is found from \(stop.from.timeOfFix) on")
            guard let match else { continue }
            let late = stop.to.timeOfFix.duration(to: match.to.timeOfFix)
            #expect(abs(late / tolerance) <= 1, "moves off \(late) later than \(stop.to.timeOfFix)")
            #expect(match.from.distance(to: stop.from) <= 5 && match.to.distance(to: stop.to) <= 5)
        }
        #expect(found.count(where: \.isLongEnough) == truth.count)
    }

    /// A recorded drive through a city, with random errors.
    @Test(
        .enabled(if: Fixtures.recordedDrives != nil, "no recorded drives next to the checkout"),
        arguments: 1...3 as ClosedRange<UInt64>)
    func areAccurateOnARecordedDrive(seed: UInt64) throws {
        let truth = try #require(TestDrive.recorded.first { $0.description.hasPrefix("chemnitz") }).fixes
        var chance = SplitMix64(seed: seed)
        func normal() -> Double { (0..<12).reduce(-6) { sum, _ in sum + chance.unit() } }
        var (east, north) = (normal(), normal())
        var (fixes, places, speeds) = ([Fix](), [Fix](), [Double]())
        for index in stride(from: 4, to: truth.count - 4, by: 4) {
            let seconds = truth[index - 2].timeOfFix.duration(to: truth[index + 2].timeOfFix) / .seconds(1)
            let speed = truth[index - 2].distance(to: truth[index + 2]) / seconds
            east = east * 0.975 + normal() * 0.22
            north = north * 0.975 + normal() * 0.22
            var fix = truth[index]
            fix.latitude += north / 111_195
            fix.longitude += east / (111_195 * 0.6316)
            fix.speedMetersPerSecond = max(0, speed + normal() * 0.1)
            fixes.append(fix)
            places.append(truth[index])
            speeds.append(speed)
        }
        Self.expectTrueStops(in: fixes, places: places, speeds: speeds)
    }

    /// Vehicles in slow traffic are never parked, and a vehicle on a ferry moves.
    @Test func areNotParkedInTrafficOrOnAFerry() {
        var traffic = SimulatedRide()
        for _ in 0..<40 {
            traffic.move(for: 2, acceleration: 1)
            traffic.move(for: 4)
            traffic.move(for: 2.1, acceleration: -1)
            traffic.stand(for: 6)
        }
        var classifier = MotionClassifier()
        let kinds = traffic.fixes().map { classifier.motion(at: $0)?.kind }
        #expect(!kinds.contains(.parked) && kinds.contains(.standing) && kinds.contains(.moving))

        var ferry = SimulatedRide()
        ferry.stand(for: 300)
        ferry.move(for: 60, acceleration: 0.1)
        ferry.move(for: 600)
        classifier = MotionClassifier()
        let crossing = ferry.fixes().map { classifier.motion(at: $0)?.kind }
        #expect(crossing[60..<290].allSatisfy { $0 == .parked })
        #expect(crossing.dropFirst(330).allSatisfy { $0 == .moving })
    }

    /// If a receiver states no speed, the motion is derived from the track. That takes a little longer, but is just as
    /// reliable.
    @Test func areFoundWithoutASpeed() {
        var (derived, classifier) = (DerivedMotion(), MotionClassifier())
        let kinds = Self.ride.fixes(wander: 0.5, statesSpeed: false).map { fix -> Motion.Kind? in
            var fix = derived.complete(fix)
            fix.speedMetersPerSecond = fix.derived.speedMetersPerSecond
            return classifier.motion(at: fix)?.kind
        }
        let speeds = Self.ride.moments.enumerated().filter { $0.offset % 10 == 0 }.map(\.element.speed)
        for (second, kind) in kinds.enumerated() {
            if kind == .parked { #expect(speeds[max(0, second - 5)] < 1, "parked at \(second) s") }
            if kind == .moving { #expect(speeds[second] > 0, "moving at \(second) s") }
        }
        #expect(kinds.contains(.parked) && kinds.contains(.moving))
    }
}
