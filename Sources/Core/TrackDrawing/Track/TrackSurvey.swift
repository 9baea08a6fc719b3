package import GNSS
import TimeAndChance

/// All that a page shows of a track, gathered fix by fix in bounded memory.
package struct TrackSurvey: Sendable {
    package private(set) var summary = TrackSummary()
    private(set) var profile = TrackProfile()
    private(set) var speeds = SpeedHistogram()
    private var map = MapTrack()
    private var halts = StopFinder(atLeast: .seconds(10))
    private var latestSpeed: (value: Double, time: UTCTime)?
    private var steady = SteadyFixes()

    package init() {}

    package mutating func add(_ fix: Fix) {
        let step = summary.add(fix)
        let known = withSpeed(fix)
        steady.take(known, step) { map.add($0, beginsPiece: $1) }
        // Without a speed, slow and standing are the same for so short a time.
        if known.speedMetersPerSecond != nil { halts.add(known, step) }
        if case .broken = step { profile.add(fix, beginsRun: true) } else { profile.add(fix, beginsRun: false) }
        if let speed = fix.speedMetersPerSecond { speeds.add(speed) }
    }

    /// A fix that states no speed has that of a moment before: some receivers state both in epochs of their own.
    private mutating func withSpeed(_ fix: Fix) -> Fix {
        if let speed = fix.speedMetersPerSecond { latestSpeed = (speed, fix.timeOfFix) }
        guard fix.speedMetersPerSecond == nil, let latestSpeed else { return fix }
        let age = latestSpeed.time.duration(to: fix.timeOfFix)
        guard age >= .zero, age <= TrackContinuity.maximumInterval else { return fix }
        var known = fix
        known.speedMetersPerSecond = latestSpeed.value
        return known
    }

    /// Times of standing of 10 s or more that belong to no stop; of very many, the longest.
    package var shortStops: [TrackStop] {
        let stops = summary.stops.found.longest
        return halts.found.longest.filter { halt in
            halt.duration < Motion.parkingTime && !stops.contains { $0.from <= halt.to && halt.from <= $0.to }
        }
    }

    /// The track as it is drawn, once all fixes are there.
    var drawn: MapTrack {
        var map = map
        var steady = steady
        steady.finish { map.add($0, beginsPiece: $1) }
        return map
    }
}

/// Decides which fixes a map is made for: between two jumps there must be three, or they are wild and would only make
/// the rest too small to see.
struct SteadyFixes: Sendable {
    /// How many fixes must agree.
    private static let quorum = 3

    private var held: [(fix: Fix, beginsPiece: Bool)] = []
    private var isSteady = false
    private var isFirst = true

    /// Takes the next fix, which follows the one before by `step`; hands on what is steady now.
    mutating func take(_ fix: Fix, _ step: TrackContinuity.Step, _ emit: (Fix, _ beginsPiece: Bool) -> Void) {
        var beginsPiece = false
        if case .broken(let place) = step {
            beginsPiece = true
            if place.cause == .jump {
                held.removeAll()
                isSteady = false
            }
        }
        if !isSteady {
            held.append((fix, beginsPiece || held.isEmpty))
            guard held.count >= Self.quorum else { return }
            isSteady = true
            release(emit)
        } else {
            emit(fix, beginsPiece)
        }
    }

    /// Tells that nothing more comes: where nothing has been handed on, the last ones are better than nothing.
    mutating func finish(_ emit: (Fix, _ beginsPiece: Bool) -> Void) {
        if isFirst { release(emit) }
    }

    private mutating func release(_ emit: (Fix, Bool) -> Void) {
        isFirst = false
        for one in held { emit(one.fix, one.beginsPiece) }
        held.removeAll()
    }
}

/// The part of a track that its map is made for.
struct MapTrack: Sendable {
    private(set) var line = TrackLine()
    private(set) var start: Fix?
    private(set) var end: Fix?

    mutating func add(_ fix: Fix, beginsPiece: Bool) {
        line.add(fix, beginsPiece: beginsPiece)
        start = start ?? fix
        end = fix
    }
}

/// The figures of a track, stops included.
package struct TrackSummary: Sendable {
    package private(set) var statistics = TrackStatistics()
    package private(set) var stops = StopFinder()

    package init() {}

    /// Adds the next fix; tells how it follows the one before.
    @discardableResult
    package mutating func add(_ fix: Fix) -> TrackContinuity.Step {
        let step = statistics.add(fix)
        stops.add(fix, step)
        return step
    }
}
