import GNSS
import TimeAndChance

/// All that a page shows of a track, gathered fix by fix in bounded memory.
struct TrackSurvey: Sendable {
    private(set) var summary = TrackSummary()
    private(set) var profile = TrackProfile()
    private(set) var speeds = SpeedHistogram()
    private var map = MapTrack()
    private var steady = SteadyFixes()

    /// Adds the next fix.
    mutating func add(_ fix: Fix) {
        let step = summary.add(fix)
        steady.take(fix, step) { map.add($0, beginsPiece: $1) }
        if case .broken = step { profile.add(fix, beginsRun: true) } else { profile.add(fix, beginsRun: false) }
        if let speed = fix.speedMetersPerSecond { speeds.add(speed) }
    }

    /// The track as it is drawn, once all fixes are there.
    var drawn: MapTrack {
        var (map, steady) = (map, steady)
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

/// What the decoder met in one log.
struct LogSection {
    let log: MapLog
    let isOpen: Bool

    var markup: String {
        let account = LogAccount(log.statistics)
        var rows = [
            ("Receiver", account.receiver.joined(separator: "; ")),
            ("Talkers", account.talkers.joined(separator: ", ")),
            ("Sentences", account.size), ("", account.sentences.joined(separator: ", ")), ("Fixes", account.fixes),
        ]
        rows += account.refusals.enumerated().map { index, refusal in
            (index == 0 ? "Refused" : "", "\(FigureText.grouped(refusal.count)): \(refusal.text)")
        }
        var markup = Markup()
        markup.add("<section><details\(isOpen ? " open" : "")>")
        markup.add("<summary><h2><bdi>\(Markup.escaped(log.name))</bdi></h2></summary><dl>")
        for (name, value) in rows where !value.isEmpty {
            markup.add("<dt>\(name)</dt><dd>\(Markup.escaped(value))</dd>")
        }
        markup.add("</dl></details></section>")
        return markup.text
    }
}

/// Stops as marks of a drawing: those that would lie on each other share one.
struct StopMarks: Sendable {
    struct Mark: Sendable {
        let point: PlanePoint
        /// Their numbers in the list, from 1.
        var numbers: [Int]

        /// As `3`, or `3 +2` where two more stand in the same place.
        var text: String { numbers.count == 1 ? "\(numbers[0])" : "\(numbers[0]) +\(numbers.count - 1)" }
    }

    private(set) var marks: [Mark] = []

    /// Above so many stops a mark is one for several, and wide, more often than not.
    private static let manyStops = 30

    /// Marks for stops whose pixel `pixel` tells, as they are laid out in a drawing.
    init(_ stops: [TrackStop], _ layout: PageLayout, pixel: (TrackStop) -> PlanePoint) {
        let height = 2 * layout.markRadius + 4
        let width = stops.count > Self.manyStops ? 8 * layout.characterWidth : height
        for (index, stop) in stops.enumerated() {
            let point = pixel(stop)
            if let near = marks.firstIndex(where: {
                abs($0.point.x - point.x) < width && abs($0.point.y - point.y) < height
            }) {
                marks[near].numbers.append(index + 1)
            } else {
                marks.append(Mark(point: point, numbers: [index + 1]))
            }
        }
    }
}

/// The part of a track that its map is made for.
struct MapTrack: Sendable {
    private(set) var line = TrackLine()
    private(set) var start: Fix?
    private(set) var end: Fix?

    private var latestSpeed: (value: Double, time: UTCTime)?

    /// Adds the next fix; one that states no speed has that of a moment before.
    mutating func add(_ fix: Fix, beginsPiece: Bool) {
        var fix = fix
        if beginsPiece { latestSpeed = nil }
        if let speed = fix.speedMetersPerSecond {
            latestSpeed = (speed, fix.timeOfFix)
        } else if let latestSpeed, latestSpeed.time.duration(to: fix.timeOfFix) <= TrackContinuity.longestInterval {
            fix.speedMetersPerSecond = latestSpeed.value
        }
        line.add(fix, beginsPiece: beginsPiece)
        start = start ?? fix
        end = fix
    }
}
