import GNSS

/// The arithmetic of a replay: how long each fix of a log is waited for, and which time it carries.
///
/// The log is laid out on a time of its own, *log time*, that begins with zero at its first fix and only ever grows.
/// Between two fixes it grows as their times say, with two exceptions, so that a log of several trips does not stall:
/// a gap of more than 5 minutes counts as 10 seconds, and a step backwards, or none, as one millisecond.
///
/// A fix at log time `t` of a log that is `T` long is read at `t / speed`, and is then `(T - t) * (1 - 1 / speed)` old:
/// nothing at speed 1, the whole rest of the log at `max`. So distances in time between fixes are those of the log, the
/// last fix carries the moment at which it is read, and no fix is ever later than that. Below speed 1, and from the
/// second pass on, each fix carries the moment at which it is read: anything else would be in the future, or before
/// what has already been sent.
struct ReplayTimeline: Sendable, Hashable {
    static let longestGap = Duration.seconds(300)
    static let skippedGap = Duration.seconds(10)
    /// The least distance between two fixes: times of fix are whole milliseconds.
    static let shortestStep = Duration.milliseconds(1)

    /// How much log time passes from a fix to the next.
    static func step(from earlier: UTCTime, to later: UTCTime) -> Duration {
        let step = earlier.duration(to: later)
        return step > longestGap ? skippedGap : max(step, shortestStep)
    }

    private let speed: ReplaySpeed
    private let length: Duration
    private var previous: UTCTime?
    private var logTime = Duration.zero
    /// How often the log has been begun, this time included.
    private(set) var pass = 1
    /// When the next fix is read, since the replay began.
    private(set) var due = Duration.zero

    /// `length` is the log time of the whole log, as `LogSurvey` finds it.
    init(speed: ReplaySpeed, length: Duration) {
        (self.speed, self.length) = (speed, length)
    }

    /// Moves on to the fix that the log dates `timeOfFix`; `due` and `age` then speak of it.
    mutating func advance(to timeOfFix: UTCTime) {
        let step = previous.map { Self.step(from: $0, to: timeOfFix) } ?? .zero
        previous = timeOfFix
        logTime += step
        let wait = step * speed.stretch
        due += pass == 1 ? wait : max(wait, Self.shortestStep)
    }

    /// How old the present fix is when it is read at its due time.
    var age: Duration {
        pass == 1 ? max(.zero, (length - logTime) * (1 - speed.stretch)) : .zero
    }

    /// Begins the log once more, a second of log time after its last fix.
    mutating func startAgain() {
        (previous, logTime) = (nil, .zero)
        pass += 1
        due += .seconds(1) * speed.stretch
    }
}
