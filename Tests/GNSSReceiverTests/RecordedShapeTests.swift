import FoundationEssentials
import GNSS
import GNSSReceiver
import LinuxPlatform
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import Reporting

/// A comparison of shape points with the greedy choice of the drives' own `score.py`. Only some machines have the
/// drives next to the checkout (`Fixtures.recordedReceivers`).
@Suite(.enabled(if: Fixtures.recordedReceivers != nil, "no recorded drives next to the checkout"))
struct RecordedShape {
    private static let drives: [URL] = {
        guard let directory = Fixtures.recordedReceivers?.appending(path: "../drives") else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return names.filter { $0.hasSuffix(".csv.gz") }.sorted().map { directory.appending(path: $0) }
    }()

    private static func lines(of drive: URL) throws -> [[String]] {
        let log = try RecordedLog(path: drive.path, stop: EventDescriptor())
        var bytes = [UInt8]()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            var span = buffer.mutableSpan
            let count = try log.read(into: &span)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map { line in
            line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// Returns the fixes of one receiver, at most one per 0.9 s.
    private static func fixes(of drive: URL) throws -> [Fix] {
        let lines = try lines(of: drive)
        let columns = try #require(lines.first)
        func index(of name: String) -> Int? { columns.firstIndex(of: name) }
        let receiver = index(of: "receiver")
        var fixes: [Fix] = []
        for line in lines.dropFirst() where receiver.map({ line[$0] == lines[1][$0] }) ?? true {
            func number(_ name: String) -> Double? { index(of: name).flatMap { Double(line[$0]) } }
            let clock = index(of: "t_local").flatMap { Self.secondOfDay(in: line[$0]) }
            let seconds = try #require(number("t_unix") ?? number("t_sync_s") ?? clock ?? number("t_s"))
            let time = UTCTime(millisecondsSince1970: Int64((seconds * 1000).rounded()))
            if let last = fixes.last, last.timeOfFix.duration(to: time) < .milliseconds(900) { continue }
            let latitude = try #require(number("lat"))
            let longitude = try #require(number("lon"))
            fixes.append(Fix(timeOfFix: time, latitude: latitude, longitude: longitude))
        }
        return fixes
    }

    /// Returns the second of the day of a time such as `2014-09-10 06:54:07+0200`.
    private static func secondOfDay(in text: String) -> Double? {
        let parts = text.dropFirst(11).prefix(8).split(separator: ":").compactMap { Double($0) }
        return parts.count == 3 ? parts[0] * 3600 + parts[1] * 60 + parts[2] : nil
    }

    private static func error(of fix: Fix, between one: Fix, and next: Fix) -> Double {
        let share = one.timeOfFix.duration(to: fix.timeOfFix) / one.timeOfFix.duration(to: next.timeOfFix)
        return Fix(
            timeOfFix: fix.timeOfFix, latitude: one.latitude + (next.latitude - one.latitude) * share,
            longitude: one.longitude + (next.longitude - one.longitude) * share
        ).distance(to: fix)
    }

    /// Returns the number of points that `score.py` keeps between the ends: always the farthest that one leg reaches.
    private static func greedyPointCount(of fixes: [Fix], toleranceMeters tolerance: Double) -> Int {
        var points = 0
        var start = 0
        while start < fixes.count - 1 {
            var best = start + 1
            for end in (start + 1)..<fixes.count where end > start + 1 {
                if fixes[start..<end].dropFirst().allSatisfy({
                    error(of: $0, between: fixes[start], and: fixes[end]) <= tolerance
                }) {
                    best = end
                } else if end - best > 10 {
                    break
                }
            }
            points += 1
            start = best
        }
        return points - 1
    }

    /// Returns the number of shape points between updates at `interval`, and of the points of the greedy choice.
    private static func pointCounts(of drive: URL, interval: Double) throws -> (shape: Int, greedy: Int) {
        var shape = ShapePoints(toleranceMeters: 5)
        var pending = [Fix]()
        var points = (shape: 0, greedy: 0)
        for fix in try fixes(of: drive) {
            // The greedy choice ignores gaps and jumps, so only the parts between them are compared.
            let breaks = pending.last.map {
                $0.timeOfFix.duration(to: fix.timeOfFix) > .seconds(10) || !fix.isWithinReach(of: $0)
            }
            if breaks ?? false {
                shape.reset()
                pending = []
            }
            shape.add(fix)
            pending.append(fix)
            guard let first = pending.first else { continue }
            let elapsed = first.timeOfFix.duration(to: fix.timeOfFix) / .seconds(1)
            guard pending.count == 1 || elapsed >= interval - 0.5 else { continue }
            points.shape += shape.takePoints().count
            if pending.count > 1 { points.greedy += greedyPointCount(of: pending, toleranceMeters: 4.965) }
            pending = [fix]
        }
        return points
    }

    /// Compares the number of shape points with a greedy simplification on a sphere. Shape points reserve a centimetre
    /// for rounding, and a path on their ellipsoid may be half a percent longer, so the greedy bound is stricter.
    @Test(arguments: [10.0, 30, 60]) func usesFewerPointsThanAGreedyChoice(interval: Double) throws {
        var sum = (shape: 0, greedy: 0)
        for drive in Self.drives {
            let points = try Self.pointCounts(of: drive, interval: interval)
            #expect(points.shape > 0 && points.shape <= points.greedy, "\(drive.lastPathComponent): \(points)")
            sum = (sum.shape + points.shape, sum.greedy + points.greedy)
        }
        #expect(sum.shape < sum.greedy, "\(sum)")
    }
}
