package import GNSS
import TimeAndRandomness

/// Everything that a page shows about a track, collected one fix at a time in bounded memory.
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
        let known = addingLatestSpeed(to: fix)
        map.add(known, step: step)
        // A short stop takes so little time that positions alone don't distinguish it from slow driving. Fixes without
        // a speed are therefore ignored.
        if known.speedMetersPerSecond != nil { halts.add(known, step: step) }
        if case .broken = step { profile.add(fix, beginsRun: true) } else { profile.add(fix, beginsRun: false) }
        if let speed = fix.speedMetersPerSecond { speeds.add(speed) }
    }

    /// Returns `fix` with the latest speed if the fix has none and that speed is recent. Some receivers report position
    /// and speed in separate epochs.
    private mutating func addingLatestSpeed(to fix: Fix) -> Fix {
        if let speed = fix.speedMetersPerSecond { latestSpeed = (speed, fix.timeOfFix) }
        guard fix.speedMetersPerSecond == nil, let latestSpeed else { return fix }
        let age = latestSpeed.time.duration(to: fix.timeOfFix)
        guard age >= .zero, age <= TrackContinuity.maximumInterval else { return fix }
        var known = fix
        known.speedMetersPerSecond = latestSpeed.value
        return known
    }

    /// The stops of 10 s or more that are too short to count as a stop in `summary`. If there are very many, only the
    /// longest are included.
    package var shortStops: [TrackStop] {
        let stops = summary.stops.found.longest
        return halts.found.longest.filter { halt in
            halt.duration < Motion.parkingTime && !stops.contains { $0.from <= halt.to && halt.from <= $0.to }
        }
    }

    /// The track to draw. Use it after the last fix has been added.
    var drawn: MapTrack {
        var map = map
        map.finish()
        return map
    }
}

/// The part of a track that its map shows. After a jump, fixes are drawn only once there are three without another
/// jump. Otherwise, a single wrong fix would make the rest of the track too small to see.
struct MapTrack: Sendable {
    private static let quorum = 3

    private(set) var line = TrackLine()
    private(set) var start: Fix?
    private(set) var end: Fix?
    /// The fixes since the start or the last jump, held back until there are three.
    private var held: [(fix: Fix, beginsPiece: Bool)] = []
    private var isSteady = false

    /// Adds the next fix. `step` is its relation to the previous fix.
    mutating func add(_ fix: Fix, step: TrackContinuity.Step) {
        var beginsPiece = false
        if case .broken(let place) = step {
            beginsPiece = true
            if place.cause == .jump {
                held.removeAll()
                isSteady = false
            }
        }
        held.append((fix, beginsPiece))
        if isSteady || held.count >= Self.quorum { drawHeldFixes() }
    }

    /// If nothing has been drawn yet, draws the fixes that are still held back.
    mutating func finish() { if start == nil { drawHeldFixes() } }

    private mutating func drawHeldFixes() {
        isSteady = true
        for (fix, beginsPiece) in held {
            line.add(fix, beginsPiece: beginsPiece)
            start = start ?? fix
            end = fix
        }
        held.removeAll(keepingCapacity: true)
    }
}

/// The statistics of a track, and its stops.
package struct TrackSummary: Sendable {
    package private(set) var statistics = TrackStatistics()
    package private(set) var stops = StopFinder()

    package init() {}

    /// Adds the next fix. Returns its relation to the previous fix.
    @discardableResult
    package mutating func add(_ fix: Fix) -> TrackContinuity.Step {
        let step = statistics.add(fix)
        stops.add(fix, step: step)
        return step
    }
}
