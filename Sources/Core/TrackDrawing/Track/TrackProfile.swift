import GNSS
import TimeAndRandomness

/// The speed and altitude of a track over time, in bounded memory. The longer the track is, the more time each sample
/// covers.
struct TrackProfile: Sendable {
    /// The minimum and the maximum of several values.
    struct Extent: Sendable, Hashable {
        private(set) var low: Double
        private(set) var high: Double

        init(_ value: Double) {
            low = value
            high = value
        }

        mutating func include(_ other: Self) {
            low = min(low, other.low)
            high = max(high, other.high)
        }

        static func * (extent: Self, scale: Double) -> Self {
            var scaled = Self(extent.low * scale)
            scaled.include(Self(extent.high * scale))
            return scaled
        }
    }

    /// The values of one fix, or of several fixes in quick succession that have been merged.
    struct Sample: Sendable, Hashable {
        var from: UTCTime
        var to: UTCTime
        /// The latitude and longitude of the first fix, in degrees.
        let latitude: Double
        let longitude: Double
        /// The range of the speed, in metres per second; `nil` if no fix has a speed.
        var speed: Extent?
        /// The range of the altitude, in metres above mean sea level; `nil` if no fix has an altitude.
        var altitude: Extent?
        /// Whether there is a break in the track before this sample.
        var beginsRun: Bool

        fileprivate mutating func include(_ other: Self) {
            from = min(from, other.from)
            to = max(to, other.to)
            speed = Self.merged(speed, other.speed)
            altitude = Self.merged(altitude, other.altitude)
        }

        private static func merged(_ one: Extent?, _ other: Extent?) -> Extent? {
            guard var joined = one, let other else { return one ?? other }
            joined.include(other)
            return joined
        }
    }

    private(set) var samples: [Sample] = []
    /// The maximum time that one sample covers. Consecutive samples that fit into this time are merged.
    private(set) var sampleLength = Duration.zero
    private let capacity: Int

    init(capacity: Int = 8192) { self.capacity = capacity }

    /// The samples, split at the breaks in the track.
    var runs: [ArraySlice<Sample>] {
        let starts = samples.indices.filter { $0 == 0 || samples[$0].beginsRun }
        return zip(starts, starts.dropFirst() + [samples.count]).map { samples[$0..<$1] }
    }

    /// Adds the next fix. `beginsRun` says whether there is a break in the track before this fix.
    mutating func add(_ fix: Fix, beginsRun: Bool) {
        append(
            Sample(
                from: fix.timeOfFix, to: fix.timeOfFix, latitude: fix.latitude, longitude: fix.longitude,
                speed: fix.speedMetersPerSecond.map(Extent.init), altitude: fix.altitudeMeters.map(Extent.init),
                beginsRun: beginsRun))
        while samples.count > capacity {
            sampleLength = max(.milliseconds(100), sampleLength * 2)
            let all = samples
            samples.removeAll(keepingCapacity: true)
            for sample in all { append(sample) }
        }
    }

    private mutating func append(_ sample: Sample) {
        guard let last = samples.last, sampleLength > .zero,
            max(last.to, sample.to) <= min(last.from, sample.from).advanced(by: sampleLength)
        else {
            samples.append(sample)
            return
        }
        samples[samples.count - 1].include(sample)
    }
}
