import FoundationEssentials
import GNSS
import Testing
import TimeAndRandomness

@testable import Reporting

/// Random tracks, whose reported track must stay within the tolerance of every fix. `SHAPE_TRACKS` sets the number of
/// tracks.
@Suite struct ShapeBound {
    private static let trackCount = ProcessInfo.processInfo.environment["SHAPE_TRACKS"].flatMap { Int($0) } ?? 400

    /// The fixes of a vehicle that drives, brakes, stands, turns and passes tunnels, with the errors of a receiver.
    private struct RandomDrive {
        var chance: SplitMix64
        let fixesPerSecond: Double
        let noise: Double
        private var seconds = 0.0
        private var (east, north, speed, course, turn, thrust) = (0.0, 0.0, 10.0, 0.0, 0.0, 0.0)
        private let longitudeScale: Double
        private let latitude: Double

        init(seed: UInt64, fixesPerSecond: Double? = nil) {
            chance = SplitMix64(seed: seed)
            self.fixesPerSecond = fixesPerSecond ?? [0.2, 1, 1, 1, 2, 5, 10].randomElement(using: &chance) ?? 1
            noise = [0, 0.5, 2, 8].randomElement(using: &chance) ?? 0
            latitude = .random(in: -85...85, using: &chance)
            // Approximate, because only the size of the track matters: at 85 degrees a degree of longitude is short.
            longitudeScale = max(0.1, 1 - latitude * latitude / 7300)
        }

        mutating func nextFix() -> Fix {
            var step = 1 / fixesPerSecond
            switch Int.random(in: 0..<Int(200 * max(1, fixesPerSecond)), using: &chance) {
            case 0: step += .random(in: 5...200, using: &chance)  // a tunnel, a receiver that is off
            case 1: east += 50_000
            case 2...20: turn = .random(in: -0.5...0.5, using: &chance)
            case 21...50: turn = 0
            case 51...70: thrust = .random(in: -3...3, using: &chance)
            default: break
            }
            seconds += step
            speed = max(0, min(40, speed + thrust * step))
            course += turn * step
            // An approximate direction without the C library; its length doesn't matter.
            let quarter = course.truncatingRemainder(dividingBy: 4)
            let (along, across) = abs(quarter) < 2 ? (1 - abs(quarter), quarter) : (abs(quarter) - 3, 0)
            north += speed * step * along
            east += speed * step * across
            func error() -> Double { .random(in: -noise...noise, using: &chance) }
            var fix = Fix(
                timeOfFix: UTCTime(millisecondsSince1970: 1_767_600_000_000 + Int64((seconds * 1000).rounded())),
                latitude: latitude + (north + error()) / 111_195,
                longitude: 178 + (east + error()) / (111_195 * longitudeScale))
            while fix.longitude > 180 { fix.longitude -= 360 }
            fix.horizontalAccuracyMeters = 5
            fix.speedMetersPerSecond = speed
            return fix
        }
    }

    /// A follower that measures the distance of every fix from the reported track.
    private struct Follower {
        private(set) var maximumError = 0.0
        private(set) var updateCount = 0
        private var fixes: [Fix] = []
        private var last: LocationUpdate?

        mutating func record(_ fix: Fix) { fixes.append(fix) }

        mutating func receive(_ updates: [LocationUpdate]) {
            for update in updates {
                defer { last = update }
                updateCount += 1
                guard let last else { continue }
                let span = last.timeOfFix.duration(to: update.timeOfFix)
                let passed = fixes.prefix { $0.timeOfFix <= update.timeOfFix }
                for fix in passed where fix.timeOfFix >= last.timeOfFix {
                    let share = last.timeOfFix.duration(to: fix.timeOfFix) / span
                    var difference = update.longitude - last.longitude
                    if difference > 180 { difference -= 360 } else if difference < -180 { difference += 360 }
                    var longitude = last.longitude + difference * share
                    if longitude > 180 { longitude -= 360 } else if longitude < -180 { longitude += 360 }
                    let place = Fix(
                        timeOfFix: fix.timeOfFix,
                        latitude: last.latitude + (update.latitude - last.latitude) * share, longitude: longitude)
                    maximumError = max(maximumError, place.distance(to: fix))
                }
                fixes.removeFirst(passed.count)
            }
        }
    }

    /// Returns the number of positions in memory.
    private static func storedPositionCount(of shape: ShapePoints) -> Int {
        Mirror(reflecting: shape).children.reduce(0) { $0 + (($1.value as? [LocationUpdate])?.count ?? 0) }
    }

    @Test func isNeverExceeded() {
        for seed in 1...UInt64(Self.trackCount) {
            var drive = RandomDrive(seed: seed)
            let meters: Double = [1, 5, 5, 5, 20, 1000].randomElement(using: &drive.chance) ?? 5
            let interval: Double = [5, 10, 10, 30, 60].randomElement(using: &drive.chance) ?? 10
            var (shape, follower) = (ShapePoints(toleranceMeters: meters), Follower())
            var lastUpdate: UTCTime?
            for _ in 0..<Int.random(in: 20...200, using: &drive.chance) {
                let fix = drive.nextFix()
                shape.add(fix)
                follower.record(fix)
                let elapsed = lastUpdate.map { $0.duration(to: fix.timeOfFix) / .seconds(1) } ?? interval
                guard elapsed >= interval || shape.makesUpdateDue && elapsed >= 5 else { continue }
                lastUpdate = fix.timeOfFix
                follower.receive(shape.takePoints() + [LocationUpdate(fix)])
            }
            #expect(follower.maximumError <= meters, "seed \(seed)")
        }
    }

    /// During a day at 10 Hz, or a quarter of an hour in a short run, every update keeps the tolerance. The memory is
    /// bounded.
    @Test func holdsForADayAtTenHertz() {
        let fixes = Self.trackCount >= 100_000 ? 864_000 : 9000
        var drive = RandomDrive(seed: 7, fixesPerSecond: 10)
        var (shape, follower) = (ShapePoints(toleranceMeters: 5), Follower())
        var (lastUpdate, maximum) = (UTCTime?.none, 0)
        for _ in 0..<fixes {
            let fix = drive.nextFix()
            shape.add(fix)
            follower.record(fix)
            maximum = max(maximum, Self.storedPositionCount(of: shape))
            let elapsed = lastUpdate.map { $0.duration(to: fix.timeOfFix) } ?? .seconds(60)
            guard elapsed >= .seconds(60) || shape.makesUpdateDue && elapsed >= .seconds(5) else { continue }
            lastUpdate = fix.timeOfFix
            follower.receive(shape.takePoints() + [LocationUpdate(fix)])
        }
        #expect(follower.maximumError <= 5 && follower.updateCount > 10)
        #expect(maximum <= 3 * 256)
    }

    /// Only the latest points are kept until an update.
    @Test func keepsItsMemoryLimitWithoutUpdates() {
        var drive = RandomDrive(seed: 3, fixesPerSecond: 10)
        var shape = ShapePoints(toleranceMeters: 1)
        var maximum = 0
        for _ in 0..<(Self.trackCount >= 100_000 ? 864_000 : 9000) {
            shape.add(drive.nextFix())
            maximum = max(maximum, Self.storedPositionCount(of: shape))
        }
        #expect(maximum <= 3 * 256)
        #expect(shape.makesUpdateDue)
        #expect(shape.takePoints().count <= ShapePoints.maximumPoints)
    }
}
