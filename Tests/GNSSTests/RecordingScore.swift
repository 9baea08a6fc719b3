import FoundationEssentials
import GNSS
import TimeAndRandomness

/// A comparison of one recorded log's fixes with two oracles: another reader's reports, and the values of each valid
/// position sentence in the log.
struct RecordingScore {
    /// A report of the other reader.
    struct Report: Decodable {
        let mode: Int
        let time: String?
        let lat: Double?
        let lon: Double?
    }

    /// The values of a position sentence; `tod` is its time of day in seconds.
    struct Claim: Decodable {
        let valid: Bool?
        let tod: Double?
        let lat: Double?
        let lon: Double?
    }

    /// The number of epochs for which the other reader has a position.
    private(set) var epochs = 0
    /// The number of epochs with a fix at the other reader's position.
    private(set) var hits = 0
    /// The number of hits with exactly one fix.
    private(set) var singleFixHits = 0
    private(set) var fixes = 0
    /// The number of fixes that agree with the other reader.
    private(set) var agreeingFixes = 0
    /// Fixes that only a valid sentence of the log confirms.
    private(set) var statedOnly: [Fix] = []
    /// Fixes that neither the other reader nor a valid sentence confirms.
    private(set) var invented: [Fix] = []

    private static let toleranceDegrees = 1e-6
    private static let toleranceMilliseconds: Int64 = 6
    /// The maximum difference between times of one epoch.
    private static let maximumEpochMilliseconds: Int64 = 10
    private static let rollover = 1024 * 7 * UTCTime.millisecondsPerDay

    init(fixes: [Fix], reports: [Report], claims: [Claim]) throws {
        self.fixes = fixes.count
        var timed: [(time: Int64, latitude: Double, longitude: Double)] = []
        var untimed: [(latitude: Double, longitude: Double)] = []
        for report in reports where report.mode >= 2 {
            guard let latitude = report.lat, let longitude = report.lon else { continue }
            guard let text = report.time else {
                untimed.append((latitude, longitude))
                continue
            }
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            let time = Int64((try Date(text, strategy: style).timeIntervalSince1970 * 1000).rounded())
            timed.append((time, latitude, longitude))
        }
        timed.sort { $0.time < $1.time }
        var epochStarts: [Int64] = []
        for (index, report) in timed.enumerated() {
            let continues = index > 0 && report.time - timed[index - 1].time <= Self.maximumEpochMilliseconds
            epochStarts.append(continues ? epochStarts[index - 1] : report.time)
        }
        epochs = Set(epochStarts).count
        var fixesByEpoch: [Int64: Int] = [:]
        for fix in fixes {
            let instant = fix.timeOfFix.millisecondsSince1970
            let place = timed.indices.first { index in
                let report = timed[index]
                let difference = abs(report.time - instant)
                return (difference <= Self.toleranceMilliseconds || Self.isRollover(difference))
                    && Self.isNear(fix, latitude: report.latitude, longitude: report.longitude)
            }
            if let place {
                agreeingFixes += 1
                fixesByEpoch[epochStarts[place], default: 0] += 1
            } else if untimed.contains(where: { Self.isNear(fix, latitude: $0.latitude, longitude: $0.longitude) }) {
                agreeingFixes += 1
            } else if claims.contains(where: { Self.isConfirmed(fix, by: $0) }) {
                statedOnly.append(fix)
            } else {
                invented.append(fix)
            }
        }
        hits = fixesByEpoch.count
        singleFixHits = fixesByEpoch.values.count { $0 == 1 }
    }

    /// Whether `difference` is one or two roll-overs of the week number. A log keeps its dates; the other reader moves
    /// them.
    private static func isRollover(_ difference: Int64) -> Bool {
        (1...2).contains { abs(difference - $0 * rollover) <= toleranceMilliseconds }
    }

    private static func isNear(_ fix: Fix, latitude: Double, longitude: Double) -> Bool {
        abs(fix.latitude - latitude) <= toleranceDegrees && abs(fix.longitude - longitude) <= toleranceDegrees
    }

    private static func isConfirmed(_ fix: Fix, by claim: Claim) -> Bool {
        guard claim.valid == true, let latitude = claim.lat, let longitude = claim.lon else { return false }
        guard isNear(fix, latitude: latitude, longitude: longitude) else { return false }
        guard let seconds = claim.tod else { return true }
        return abs(Int64((seconds * 1000).rounded()) - Int64(fix.timeOfFix.millisecondOfDay)) <= toleranceMilliseconds
    }
}
