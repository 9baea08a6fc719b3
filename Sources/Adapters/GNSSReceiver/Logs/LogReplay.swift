package import GNSS
import ReportedText
package import Reporting
package import TimeAndChance

/// Recorded logs, delivered as if the vehicle were driving now.
///
/// The logs are read twice: once quickly to learn how long they are, then at the wanted speed; for many vehicles once
/// into memory (`loaded`). What the times become is `ReplayTimeline`'s affair.
package struct LogReplay: FixSource {
    /// What the user may choose.
    package struct Options: Sendable, Hashable {
        package var speed: ReplaySpeed
        /// Fixes carry the times that the log states.
        package var keepsTime: Bool
        /// Begin again at the end, for ever.
        package var loops: Bool
        /// Wait for more at the end of the last log, for ever.
        package var follows: Bool

        package init(
            speed: ReplaySpeed = .times(1), keepsTime: Bool = false, loops: Bool = false, follows: Bool = false
        ) {
            self.speed = speed
            self.keepsTime = keepsTime
            self.loops = loops
            self.follows = follows
        }
    }

    /// A log in memory, decoded once for all who drive it.
    private struct Drive: Sendable {
        /// Some 200 MB; a drive of eleven days at one fix a second.
        static let mostFixes = 1_000_000

        var fixes: [Fix] = []
        var survey = LogSurvey()
        /// What ended the reading of a log that is damaged further on.
        var failure: FixSourceError?
    }

    private let paths: [String]
    private let options: Options
    private let decoder: NMEADecoder
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> UTCTime
    private let report: @Sendable (LogRemark) -> Void
    private var drive: Drive?
    private var offset = DriveOffset.none

    /// Creates a replay of the logs at `paths`.
    ///
    /// - Parameters:
    ///   - paths: the logs, in the order of their times.
    ///   - options: the user's choices.
    ///   - decoder: decodes the sentences.
    ///   - clock: paces the replay.
    ///   - now: dates the fixes.
    ///   - report: receives a remark about each log that is used although something is wrong with it.
    package init(
        paths: [String], options: Options = Options(), decoder: NMEADecoder = NMEADecoder(),
        clock: any Clock<Duration>, now: @escaping @Sendable () -> UTCTime,
        report: @escaping @Sendable (LogRemark) -> Void = { _ in }
    ) {
        self.paths = paths
        self.options = options
        self.decoder = decoder
        self.clock = clock
        self.now = now
        self.report = report
    }

    /// What the operator calls the logs.
    private var name: String { LogReader.name(of: paths) }

    /// Whether one of the logs is a pipe.
    private var isReadOnce: Bool { paths.contains(where: RecordedLog.isReadOnce) }

    /// The same with every fix in memory, so that many vehicles drive what was decoded once.
    ///
    /// - Throws: when there is no fix to be replayed, or when there are too many to be kept.
    package func loaded() async throws(FixSourceError) -> LogReplay {
        var drive = Drive()
        (drive.survey, drive.failure) = try await surveyPresent { fix throws(FixSourceError) in
            guard drive.fixes.count < Drive.mostFixes else {
                throw FixSourceError(log: name, .tooManyFixes(maximum: Drive.mostFixes))
            }
            drive.fixes.append(fix)
        }
        var loaded = self
        loaded.drive = drive
        return loaded
    }

    /// The same as a vehicle drives it that begins later, or elsewhere.
    package func driven(with offset: DriveOffset) -> LogReplay {
        var driven = self
        driven.offset = offset
        return driven
    }

    /// Reads everything once; a log that is damaged further on counts up to there.
    ///
    /// - Throws: when there is no fix to be replayed, unless there may yet be one in a log that is followed.
    package func survey() async throws(FixSourceError) -> LogSurvey {
        if let drive { return drive.survey }
        if options.follows, isReadOnce { return LogSurvey() }
        do throws(FixSourceError) { return try await surveyPresent().survey } catch {
            guard options.follows, error.code != .cancelled else { throw error }
            return LogSurvey()
        }
    }

    /// The same of what the logs hold by now, and what ended the reading too early; `keep` gets each fix.
    private func surveyPresent(
        keep: (Fix) throws(FixSourceError) -> Void = { _ in }
    ) async throws(FixSourceError) -> (survey: LogSurvey, failure: FixSourceError?) {
        guard !isReadOnce else { throw FixSourceError(log: name, .readableOnce) }
        var survey = LogSurvey()
        var failure: FixSourceError?
        var outcomes: [LogOutcome] = []
        do throws(FixSourceError) {
            let reader = try LogReader(paths: paths, decoder: decoder)
            outcomes = try await reader.deliverAll { event throws(FixSourceError) in
                guard case .fix(let fix) = event else { return }
                try keep(fix)
                survey.add(fix.timeOfFix)
            }
        } catch {
            guard survey.fixes > 0, error.code != .cancelled, error.code != .tooLong else { throw error }
            failure = error
        }
        guard survey.fixes > 0 else { throw LogOutcome.absence(of: outcomes) }
        for outcome in outcomes { outcome.loss.map(report) }
        if survey.stepsBack > 0 {
            report(LogOutcome.disorder(of: outcomes) ?? .timeGoesBack(log: name, times: survey.stepsBack))
        }
        return (survey, failure)
    }

    package func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        try await play(try await survey(), deliver: deliver)
        await deliver(.state(.ended(source: name)))
    }

    private func play(
        _ survey: LogSurvey, deliver: @Sendable (FixSourceEvent) async -> Void
    ) async throws(FixSourceError) {
        let clock = MonotonicClock(clock)
        if offset.delay > .zero { try await wait(until: offset.delay, clock) }
        var playback = Playback(options, survey, offset, start: now(), clock)
        while true {
            if let drive {
                for index in drive.fixes.indices {
                    try await wait(until: playback.due(drive.fixes[index]), clock)
                    await deliver(playback.event(drive.fixes[index], at: now()))
                }
                if let failure = drive.failure { throw failure }
            } else {
                try await readOnce(&playback, clock, deliver)
            }
            guard options.loops else { return }
            playback.startAgain(at: clock.now)
        }
    }

    /// Plays the logs from the disk.
    @inline(never) private func readOnce(
        _ playback: inout Playback, _ clock: MonotonicClock, _ deliver: @Sendable (FixSourceEvent) async -> Void
    ) async throws(FixSourceError) {
        let reader = try LogReader(paths: paths, decoder: decoder, follows: options.follows)
        try await reader.deliverAll { event throws(FixSourceError) in
            guard case .fix(let fix) = event else {
                // That the log is read again is no change of state.
                if case .state = event, playback.timeline.pass > 1 { return }
                return await deliver(event)
            }
            let due = playback.due(fix)
            if let reached = playback.newProgress(isWaiting: due > clock.now) {
                await deliver(.progress(reached: reached, of: playback.survey.length))
            }
            try await wait(until: due, clock)
            await deliver(playback.event(fix, at: now()))
        }
        if playback.hasEnd { await deliver(.progress(reached: playback.survey.length, of: playback.survey.length)) }
    }

    private func wait(until moment: Duration, _ clock: MonotonicClock) async throws(FixSourceError) {
        if moment > clock.now { await clock.sleep(until: moment) }
        if Task.isCancelled { throw FixSourceError(log: name, .stopped) }
    }
}

/// How far one replay of a log is. Functions of its own keep fixes out of the frame that waits, of which there may be
/// ten thousand.
private struct Playback {
    /// How often progress is told at least, whatever the speed.
    private static let progressSteps = 500

    private let options: LogReplay.Options
    let survey: LogSurvey
    private let offset: DriveOffset
    /// When it began, by the calendar and by the clock.
    private let start: UTCTime
    private let begun: Duration
    private(set) var timeline: ReplayTimeline
    private var keptTimeOffset = Duration.zero
    /// The log time that progress was told of last.
    private var told: Duration

    /// `start` is the present, taken before that of `clock`: what is planned for a moment of the clock has then come by
    /// the calendar, too.
    init(
        _ options: LogReplay.Options, _ survey: LogSurvey, _ offset: DriveOffset, start: UTCTime,
        _ clock: MonotonicClock
    ) {
        self.options = options
        self.survey = survey
        self.offset = offset
        self.start = start
        begun = clock.now
        timeline = ReplayTimeline(speed: options.speed, survey)
        told = .zero - survey.length
    }

    var hasEnd: Bool { !options.loops && !options.follows }

    /// Goes on to `fix` of the log; when it is due, by the clock.
    @inline(never) mutating func due(_ fix: Fix) -> Duration {
        timeline.advance(to: fix.timeOfFix)
        return begun + timeline.due
    }

    /// The log time that is reached, with that of earlier passes, when it is time to tell.
    mutating func newProgress(isWaiting: Bool) -> Duration? {
        let reached = survey.length * (timeline.pass - 1) + timeline.logTime
        guard !options.follows, isWaiting || reached >= told + survey.length / Self.progressSteps else { return nil }
        told = reached
        return told
    }

    /// What the vehicle receives at `now` of that fix.
    @inline(never) func event(_ fix: Fix, at now: UTCTime) -> FixSourceEvent {
        var fix = offset.moved(fix)
        if options.keepsTime {
            fix.timeOfFix = fix.timeOfFix.advanced(by: keptTimeOffset)
        } else {
            // A system clock that was set back has the last word.
            fix.timeOfFix = min(timeline.planned.map { start.advanced(by: $0) } ?? now, now)
        }
        return .fix(fix)
    }

    /// The log begins once more.
    mutating func startAgain(at now: Duration) {
        timeline.startAgain(at: now - begun)
        keptTimeOffset += survey.span + .seconds(1)
    }
}

/// What a first quick reading finds out about logs that are to be replayed.
package struct LogSurvey: Sendable, Hashable {
    package private(set) var fixes = 0
    /// From the first fix to the last at speed 1, long gaps skipped (see `ReplayTimeline`).
    package private(set) var length = Duration.zero

    /// How often a fix is dated before the one in front of it.
    private(set) var stepsBack = 0

    private var last: UTCTime?
    /// The earliest and the latest time in the logs; they need not be the first and the last.
    private var earliest: UTCTime?
    private var latest: UTCTime?

    /// From the earliest time of fix to the latest.
    var span: Duration {
        guard let earliest, let latest else { return .zero }
        return earliest.duration(to: latest)
    }

    mutating func add(_ timeOfFix: UTCTime) {
        fixes += 1
        if let last {
            length += ReplayTimeline.step(from: last, to: timeOfFix)
            if timeOfFix < last { stepsBack += 1 }
        }
        last = timeOfFix
        earliest = min(earliest ?? timeOfFix, timeOfFix)
        latest = max(latest ?? timeOfFix, timeOfFix)
    }
}

/// How fast a recorded log is replayed.
package enum ReplaySpeed: Sendable, Hashable {
    /// So many times as fast as it was recorded; above zero.
    case times(Double)
    /// As fast as its fixes are taken.
    case maximum

    /// Seconds of replay for one second of log.
    package var stretch: Double {
        switch self {
        case .times(let factor): 1 / factor
        case .maximum: 0
        }
    }
}

/// The arithmetic of a replay: how long each fix of a log is waited for, and which time it carries.
///
/// The log is laid out on a time of its own, *log time*, that begins with zero at its first fix and only ever grows.
/// Between two fixes it grows as their times say, with two exceptions, so that a log of several trips does not stall:
/// a gap of more than 5 minutes counts as 10 seconds, and a step backwards, or none, as one millisecond.
///
/// A fix at log time `t` of a log that is `T` long is due at `t / speed`, and is then `(T - t) * (1 - 1 / speed)` old:
/// nothing at speed 1, the whole rest of the log at `max`. So distances in time between fixes are those of the log, the
/// last fix carries the moment at which it is due, and no fix is ever later than that. It is the plan that dates a fix
/// and not the moment at which a busy machine comes to read it: two replays of a log are alike. Below speed 1, and from
/// the second pass on, each fix carries the moment at which it is due: anything else would be in the future, or before
/// what has already been sent. What a log has gained since it was surveyed has no plan, and happens now.
struct ReplayTimeline: Sendable, Hashable {
    static let longestGap = Duration.seconds(300)
    private static let skippedGap = Duration.seconds(10)
    /// The least distance between two fixes: times of fix are whole milliseconds.
    private static let shortestStep = Duration.milliseconds(1)

    /// How much log time passes from a fix to the next.
    static func step(from earlier: UTCTime, to later: UTCTime) -> Duration {
        let step = earlier.duration(to: later)
        return step > longestGap ? skippedGap : max(step, shortestStep)
    }

    private let speed: ReplaySpeed
    /// How long before the replay the log begins, in whole milliseconds, so that its own distances stay as they are.
    private let lead: Duration
    /// Fixes that are still planned in the first pass.
    private var plannedFixes: Int
    private var previous: UTCTime?
    /// How far into the log the present fix is.
    private(set) var logTime = Duration.zero
    /// How often the log has been begun, this time included.
    private(set) var pass = 1
    /// When the present fix is read, since the replay began.
    private(set) var due = Duration.zero

    init(speed: ReplaySpeed, _ survey: LogSurvey) {
        self.speed = speed
        // A nanosecond is what floating point may add.
        let milliseconds = survey.length * max(0, 1 - speed.stretch) / .milliseconds(1) - 1e-6
        lead = .milliseconds(Int64(max(0, milliseconds.rounded(.up))))
        plannedFixes = survey.fixes
    }

    /// Moves on to the fix that the log dates `timeOfFix`; `due` and `planned` then speak of it.
    mutating func advance(to timeOfFix: UTCTime) {
        let step = previous.map { Self.step(from: $0, to: timeOfFix) } ?? .zero
        previous = timeOfFix
        logTime += step
        plannedFixes -= 1
        let wait = step * speed.stretch
        due += pass == 1 ? wait : max(wait, Self.shortestStep)
    }

    /// When the present fix happens, since the replay began; `nil` for one that the survey has not seen.
    var planned: Duration? {
        guard pass == 1 else { return due }
        guard plannedFixes >= 0 else { return nil }
        return speed.stretch > 1 ? due : logTime - lead
    }

    /// Begins the log once more, a second of log time after its last fix, and not before `now`, the time since the
    /// replay began: at full speed reading takes longer than planned.
    mutating func startAgain(at now: Duration) {
        previous = nil
        logTime = .zero
        pass += 1
        due = max(due + .seconds(1) * speed.stretch, now)
    }
}
