package import TimeAndRandomness

/// A search for a track's stops, which are the places where the vehicle stands (`MotionClassifier`) for at least a
/// minimum time.
///
/// A gap that begins and ends in the same place is part of the stop, because many vehicles switch off the receiver when
/// they park. A single wrong fix doesn't divide a stop.
package struct StopFinder: Sendable {
    /// The maximum distance in metres between two periods of standing that belong to one stop.
    private static let maximumSamePlaceDistance = 50.0

    private var stops = LongestElements<TrackStop>(capacity: 200)
    /// The total duration of all stops that have ended.
    private var endedStopTime = Duration.zero
    private var classifier = MotionClassifier()
    /// The current period of standing, which becomes a stop if it is long enough; `nil` while the vehicle moves.
    private var candidate: TrackStop?
    /// The last stop, which continues if the vehicle soon stands in the same place again; `nil` before the first stop.
    private var latestStop: TrackStop?

    private let minimumDuration: Duration

    /// - Parameter minimumDuration: the minimum duration of a stop.
    package init(atLeast minimumDuration: Duration = Motion.parkingTime) {
        self.minimumDuration = minimumDuration
    }

    /// The stops so far, including a stop that hasn't ended: their number, their total duration, and the longest stops
    /// in chronological order.
    package var found: (count: Int, time: Duration, longest: [TrackStop]) {
        var ended = self
        ended.endCandidate()
        ended.closeLatestStop()
        return (ended.stops.count, ended.endedStopTime, ended.stops.elements())
    }

    /// Adds the next fix. `step` says whether the track continues to this fix.
    package mutating func add(_ fix: Fix, step: TrackContinuity.Step) {
        var gap = Duration.zero
        if case .broken(let place) = step {
            if place.cause == .backward {
                endCandidate()
                closeLatestStop()
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
        guard let candidate, candidate.duration >= minimumDuration else { return }
        if let latestStop, latestStop.to.duration(to: candidate.from) <= Motion.maximumInterruption,
            latestStop.place.distance(to: candidate.place) <= Self.maximumSamePlaceDistance
        {
            self.latestStop?.extend(by: candidate)
        } else {
            closeLatestStop()
            latestStop = candidate
        }
    }

    private mutating func closeLatestStop() {
        guard let latestStop else { return }
        stops.add(latestStop, length: latestStop.duration)
        endedStopTime += latestStop.duration
        self.latestStop = nil
    }
}

/// A period in which a vehicle stood in one place.
package struct TrackStop: Sendable, Hashable {
    /// The time of the first fix at the stop.
    package internal(set) var from: UTCTime
    /// The time of the last fix at the stop.
    package internal(set) var to: UTCTime
    /// The mean of the positions at the stop, in degrees, WGS 84.
    package internal(set) var latitude: Double
    package internal(set) var longitude: Double
    /// The time at the stop for which there are no fixes, because the receiver was off.
    package internal(set) var unseenTime: Duration
    private var fixCount = 1

    init(at fix: Fix) {
        from = fix.timeOfFix
        to = fix.timeOfFix
        unseenTime = .zero
        latitude = fix.latitude
        longitude = fix.longitude
    }

    package var duration: Duration { from.duration(to: to) }
    var place: Fix { Fix(timeOfFix: from, latitude: latitude, longitude: longitude) }

    /// Includes `count` positions in the mean position. If there are several, the given coordinates are their mean.
    private mutating func includeInMean(latitude: Double, longitude: Double, fixCount count: Int = 1) {
        let share = Double(count) / Double(fixCount + count)
        let east = Fix.degreesEast(from: self.longitude, to: longitude)
        self.latitude += (latitude - self.latitude) * share
        self.longitude += east * share
        if self.longitude > 180 { self.longitude -= 360 } else if self.longitude < -180 { self.longitude += 360 }
        fixCount += count
    }

    /// Adds a fix at the same place. `gap` is the time without fixes before this fix, or zero if there was no gap.
    mutating func extend(to fix: Fix, gap: Duration) {
        to = fix.timeOfFix
        unseenTime += gap
        includeInMean(latitude: fix.latitude, longitude: fix.longitude)
    }

    /// Adds a later stop at the same place.
    mutating func extend(by later: TrackStop) {
        to = later.to
        unseenTime += later.unseenTime
        includeInMean(latitude: later.latitude, longitude: later.longitude, fixCount: later.fixCount)
    }
}

/// The longest elements of a sequence, in the order of the sequence. The memory is bounded.
package struct LongestElements<Element: Sendable>: Sendable {
    private var entries: [(order: Int, length: Duration, element: Element)] = []
    private let capacity: Int
    /// The number of elements that were added, including those that weren't kept.
    package private(set) var count = 0

    package init(capacity: Int) { self.capacity = capacity }

    /// Adds the next element and its length.
    package mutating func add(_ element: Element, length: Duration) {
        entries.append((count, length, element))
        count += 1
        if entries.count >= 2 * capacity { entries = longestEntries(capacity) }
    }

    /// Returns the longest elements, at most `count`, in the order in which they were added.
    package func elements(atMost count: Int = .max) -> [Element] { longestEntries(min(count, capacity)).map(\.element) }

    private func longestEntries(_ count: Int) -> [(order: Int, length: Duration, element: Element)] {
        guard entries.count > count else { return entries }
        return entries.sorted { ($1.length, $0.order) < ($0.length, $1.order) }.prefix(count)
            .sorted { $0.order < $1.order }
    }
}
