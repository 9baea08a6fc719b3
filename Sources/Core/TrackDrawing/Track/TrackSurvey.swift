package import GNSS
import TimeAndChance

/// Everything that a page shows about a track, collected fix by fix in bounded memory.
package struct TrackSurvey: Sendable {
    package private(set) var summary = TrackSummary()
    private(set) var profile = TrackProfile()
    private(set) var speeds = SpeedShares()
    private var map = MapTrack()
    private var halts = StopFinder(atLeast: .seconds(10))
    private var latestSpeed: (value: Double, time: UTCTime)?

    package init() {}

    package mutating func add(_ fix: Fix) {
        let step = summary.add(fix)
        let known = withSpeed(fix)
        map.add(known, step)
        // Without a speed, slow driving can't be distinguished from standing within a halt's minimum time.
        if known.speedMetersPerSecond != nil { halts.add(known, step) }
        if case .broken = step { profile.add(fix, beginsRun: true) } else { profile.add(fix, beginsRun: false) }
        if let speed = fix.speedMetersPerSecond { speeds.add(speed) }
    }

    /// Returns `fix` with the speed of a moment ago if it has none, because some receivers report position and speed in
    /// separate epochs.
    private mutating func withSpeed(_ fix: Fix) -> Fix {
        if let speed = fix.speedMetersPerSecond { latestSpeed = (speed, fix.timeOfFix) }
        guard fix.speedMetersPerSecond == nil, let latestSpeed else { return fix }
        let age = latestSpeed.time.duration(to: fix.timeOfFix)
        guard age >= .zero, age <= TrackContinuity.maximumInterval else { return fix }
        var known = fix
        known.speedMetersPerSecond = latestSpeed.value
        return known
    }

    /// The periods of standing of 10 s or more that aren't part of a stop. If there are very many, only the longest.
    package var shortStops: [TrackStop] {
        let stops = summary.stops.found.longest
        return halts.found.longest.filter { halt in
            halt.duration < Motion.parkingTime && !stops.contains { $0.from <= halt.to && halt.from <= $0.to }
        }
    }

    /// The complete track to draw, once the last fix has been added.
    var drawn: MapTrack {
        var map = map
        map.finish()
        return map
    }
}

/// The part of a track that its map shows. A jump is followed only if three fixes agree on the new place, because a
/// single wild fix would make everything else too small to see.
struct MapTrack: Sendable {
    private static let quorum = 3

    private(set) var line = TrackLine()
    private(set) var start: Fix?
    private(set) var end: Fix?
    /// The fixes since the start or the last jump, until there are enough to agree.
    private var held: [(fix: Fix, beginsPiece: Bool)] = []
    private var isSteady = false

    /// Adds the next fix, which follows the previous one by `step`.
    mutating func add(_ fix: Fix, _ step: TrackContinuity.Step) {
        var beginsPiece = false
        if case .broken(let place) = step {
            beginsPiece = true
            if place.cause == .jump {
                held.removeAll()
                isSteady = false
            }
        }
        held.append((fix, beginsPiece))
        if isSteady || held.count >= Self.quorum { drawHeld() }
    }

    /// Draws the last fixes if there is nothing else to draw.
    mutating func finish() { if start == nil { drawHeld() } }

    private mutating func drawHeld() {
        isSteady = true
        for (fix, beginsPiece) in held {
            line.add(fix, beginsPiece: beginsPiece)
            start = start ?? fix
            end = fix
        }
        held.removeAll(keepingCapacity: true)
    }
}

/// The figures of a track, including its stops.
package struct TrackSummary: Sendable {
    package private(set) var statistics = TrackStatistics()
    package private(set) var stops = StopFinder()

    package init() {}

    /// Adds the next fix. Returns its relation to the previous one.
    @discardableResult
    package mutating func add(_ fix: Fix) -> TrackContinuity.Step {
        let step = statistics.add(fix)
        stops.add(fix, step)
        return step
    }
}
