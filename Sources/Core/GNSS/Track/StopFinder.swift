package import TimeAndChance

/// Decides where a track stops: where a vehicle stands (`MotionClassifier`) for long enough.
///
/// A gap whose two ends lie in one place belongs to the stop, for many a vehicle switches its receiver off where it
/// parks. One wild fix does not make two stops of one.
package struct StopFinder: Sendable {
    /// Metres between two stands of which a short one made two, for instance a wild fix.
    private static let samePlace = 50.0

    private var stops = LongestFew<TrackStop>(capacity: 200)
    /// All stops that are complete, together.
    private var time = Duration.zero
    private var classifier = MotionClassifier()
    /// What may become a stop.
    private var candidate: TrackStop?
    /// A stop that may still continue.
    private var latest: TrackStop?

    private let shortest: Duration

    /// `shortest` is how long a stop is at least: a minute, unless told otherwise.
    package init(atLeast shortest: Duration = Motion.parkingTime) { self.shortest = shortest }

    /// Every stop so far, those in progress included: how many, how long together, and the longest of them in order.
    package var found: (count: Int, time: Duration, longest: [TrackStop]) {
        var ended = self
        ended.endCandidate()
        ended.keepLatest()
        return (ended.stops.count, ended.time, ended.stops.elements())
    }

    /// Takes the next fix, which follows the one before by `step`.
    package mutating func add(_ fix: Fix, _ step: TrackContinuity.Step) {
        var gap = Duration.zero
        if case .broken(let place) = step {
            if place.cause == .backward {
                endCandidate()
                keepLatest()
                classifier = MotionClassifier()
            }
            if place.cause == .gap { gap = place.duration }
        }
        _ = classifier.motion(at: fix)
        guard let since = classifier.standingSince else { return }
        if candidate?.from == since {
            candidate?.extend(to: fix, gap: gap)
        } else {
            endCandidate()
            candidate = TrackStop(at: fix)
        }
    }

    private mutating func endCandidate() {
        defer { candidate = nil }
        guard let candidate, candidate.duration >= shortest else { return }
        if let latest, latest.to.duration(to: candidate.from) <= Motion.longestInterruption,
            latest.place.distance(to: candidate.place) <= Self.samePlace
        {
            self.latest?.extend(by: candidate)
        } else {
            keepLatest()
            latest = candidate
        }
    }

    private mutating func keepLatest() {
        guard let latest else { return }
        stops.add(latest, weight: latest.duration)
        time += latest.duration
        self.latest = nil
    }
}

/// A time during which a vehicle stood in one place.
package struct TrackStop: Sendable, Hashable {
    /// First and last fix that stood there.
    package internal(set) var from: UTCTime
    package internal(set) var to: UTCTime
    /// Mean of the positions in degrees, WGS 84.
    package internal(set) var latitude: Double
    package internal(set) var longitude: Double
    /// How much of it passed without a fix: a receiver that is off while the vehicle is parked.
    package internal(set) var unseen: Duration
    private var fixes = 1

    init(at fix: Fix) {
        from = fix.timeOfFix
        to = fix.timeOfFix
        unseen = .zero
        latitude = fix.latitude
        longitude = fix.longitude
    }

    package var duration: Duration { from.duration(to: to) }
    var place: Fix { Fix(timeOfFix: from, latitude: latitude, longitude: longitude) }

    /// Takes one more position, or the mean of some that come later, into the mean.
    private mutating func include(latitude: Double, longitude: Double, fixes count: Int = 1) {
        let share = Double(count) / Double(fixes + count)
        var east = longitude - self.longitude
        if east > 180 { east -= 360 } else if east < -180 { east += 360 }
        self.latitude += (latitude - self.latitude) * share
        self.longitude += east * share
        if self.longitude > 180 { self.longitude -= 360 } else if self.longitude < -180 { self.longitude += 360 }
        fixes += count
    }

    /// Takes in a fix that stands there too, `gap` after the one before.
    mutating func extend(to fix: Fix, gap: Duration) {
        to = fix.timeOfFix
        unseen += gap
        include(latitude: fix.latitude, longitude: fix.longitude)
    }

    /// Takes in a later stop in the same place.
    mutating func extend(by later: TrackStop) {
        to = later.to
        unseen += later.unseen
        include(latitude: later.latitude, longitude: later.longitude, fixes: later.fixes)
    }
}

/// The longest of a sequence in the sequence's order, in bounded memory however long the sequence is.
package struct LongestFew<Element: Sendable>: Sendable {
    private var entries: [(order: Int, weight: Duration, element: Element)] = []
    private let capacity: Int
    /// Everything that was added, kept or not.
    package private(set) var count = 0

    package init(capacity: Int) { self.capacity = capacity }

    /// Adds the next one, as long as `weight` says.
    package mutating func add(_ element: Element, weight: Duration) {
        entries.append((count, weight, element))
        count += 1
        if entries.count >= 2 * capacity { entries = longest(capacity) }
    }

    /// At most `count` of those that were kept, in the order in which they came.
    package func elements(atMost count: Int = .max) -> [Element] { longest(min(count, capacity)).map(\.element) }

    private func longest(_ count: Int) -> [(order: Int, weight: Duration, element: Element)] {
        guard entries.count > count else { return entries }
        return entries.sorted { ($1.weight, $0.order) < ($0.weight, $1.order) }.prefix(count)
            .sorted { $0.order < $1.order }
    }
}
