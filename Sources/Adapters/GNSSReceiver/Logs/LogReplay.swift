package import GNSS
import ReportedText
package import Reporting
package import TimeAndRandomness

/// A source of fixes that replays recorded logs as if the vehicle were driving now.
///
/// The logs are read twice: first quickly, to find out how long they last, then at the requested speed. For many
/// vehicles, they are read only once, into memory (`loadedIntoMemory`). `ReplayTimeline` determines when each fix is
/// due, and which time it carries.
package struct LogReplay: FixSource {
    package struct Options: Sendable, Hashable {
        package var speed: ReplaySpeed
        /// Whether fixes keep their times from the log. If not, they are dated as if they were made during the replay.
        package var keepsTime: Bool
        /// Whether to start over at the end of the logs, forever.
        package var loops: Bool
        /// Whether to keep waiting for more data at the end of the last log.
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

    /// The fixes of all logs in memory, decoded once for all vehicles.
    private struct LoadedFixes: Sendable {
        /// The maximum number of fixes: about 200 MB, or a drive of eleven days at one fix per second.
        static let maximum = 1_000_000

        var fixes: [Fix] = []
        var survey = LogSurvey()
        /// The error to throw after the fixes of a damaged log have been delivered; `nil` if no log is damaged.
        var failure: FixSourceError?
    }

    private let paths: [String]
    private let options: Options
    private let decoder: NMEADecoder
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> UTCTime
    private let report: @Sendable (LogRemark) -> Void
    private var loadedFixes: LoadedFixes?
    private var offset = DriveOffset.none

    /// Creates a replay of the logs at `paths`.
    ///
    /// - Parameters:
    ///   - paths: the logs, in chronological order.
    ///   - options: the user's choices.
    ///   - decoder: decodes the sentences.
    ///   - clock: paces the replay.
    ///   - now: returns the current time, from which fixes are dated.
    ///   - report: receives a remark about each log that is used despite a defect.
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

    private var name: String { LogReader.name(of: paths) }

    /// Whether one of the logs can be read only once, such as a pipe.
    private var isReadOnce: Bool { paths.contains(where: RecordedLog.isReadOnce) }

    /// Returns a replay with all fixes in memory, for many vehicles.
    ///
    /// - Throws: an error if there is no fix, or if there are too many fixes for memory.
    package func loadedIntoMemory() async throws(FixSourceError) -> LogReplay {
        var all = LoadedFixes()
        let (survey, failure) = try await surveyCurrentContent { fix throws(FixSourceError) in
            guard all.fixes.count < LoadedFixes.maximum else {
                throw FixSourceError(log: name, .tooManyFixes(maximum: LoadedFixes.maximum))
            }
            all.fixes.append(fix)
        }
        all.survey = survey
        all.failure = failure
        var loaded = self
        loaded.loadedFixes = all
        return loaded
    }

    /// Returns the same replay, offset in time and position.
    package func shifted(by offset: DriveOffset) -> LogReplay {
        var shifted = self
        shifted.offset = offset
        return shifted
    }

    /// Reads all logs once, and returns a survey of their fixes. A damaged log is surveyed up to the damage.
    ///
    /// - Throws: an error if there is no fix, unless a followed log may still receive one.
    package func survey() async throws(FixSourceError) -> LogSurvey {
        if let loadedFixes { return loadedFixes.survey }
        if options.follows, isReadOnce { return LogSurvey() }
        do throws(FixSourceError) { return try await surveyCurrentContent().survey } catch {
            guard options.follows, error.code != .cancelled else { throw error }
            return LogSurvey()
        }
    }

    /// Reads the current content of the logs and calls `onFix` with each fix. Returns the survey, and the error if
    /// reading ended early.
    private func surveyCurrentContent(
        onFix: (Fix) throws(FixSourceError) -> Void = { _ in }
    ) async throws(FixSourceError) -> (survey: LogSurvey, failure: FixSourceError?) {
        guard !isReadOnce else { throw FixSourceError(log: name, .readableOnce) }
        var survey = LogSurvey()
        var failure: FixSourceError?
        var outcomes: [LogOutcome] = []
        do throws(FixSourceError) {
            let reader = try LogReader(paths: paths, decoder: decoder)
            outcomes = try await reader.deliverAll { event throws(FixSourceError) in
                guard case .fix(let fix) = event else { return }
                try onFix(fix)
                survey.add(fix.timeOfFix)
            }
        } catch {
            guard survey.fixes > 0, error.code != .cancelled, error.code != .tooLong else { throw error }
            failure = error
        }
        guard survey.fixes > 0 else { throw LogOutcome.noFixError(of: outcomes) }
        for outcome in outcomes { outcome.checksumRemark.map(report) }
        if survey.backwardSteps > 0 {
            report(LogOutcome.outOfOrderRemark(for: outcomes) ?? .timeGoesBack(log: name, times: survey.backwardSteps))
        }
        return (survey, failure)
    }

    package func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        try await play(try await survey(), deliver: deliver)
        await deliver(.state(.ended(source: ReportedText(name))))
    }

    private func play(
        _ survey: LogSurvey, deliver: @Sendable (FixSourceEvent) async -> Void
    ) async throws(FixSourceError) {
        let clock = MonotonicClock(clock)
        if offset.delay > .zero { try await wait(until: offset.delay, on: clock) }
        var playback = Playback(options, survey: survey, offset: offset, start: now(), clock: clock)
        while true {
            if let loadedFixes {
                for index in loadedFixes.fixes.indices {
                    try await wait(until: playback.advance(to: loadedFixes.fixes[index]), on: clock)
                    await deliver(playback.event(for: loadedFixes.fixes[index], at: now()))
                }
                if let failure = loadedFixes.failure { throw failure }
            } else {
                try await playFromDisk(&playback, on: clock, deliver: deliver)
            }
            guard options.loops else { return }
            playback.beginNextPass(at: clock.now)
        }
    }

    /// Plays the logs from disk, once.
    @inline(never) private func playFromDisk(
        _ playback: inout Playback, on clock: MonotonicClock, deliver: @Sendable (FixSourceEvent) async -> Void
    ) async throws(FixSourceError) {
        let reader = try LogReader(paths: paths, decoder: decoder, follows: options.follows)
        try await reader.deliverAll { event throws(FixSourceError) in
            guard case .fix(let fix) = event else {
                // The state is delivered only in the first pass, because a further pass doesn't change it.
                if case .state = event, playback.timeline.pass > 1 { return }
                return await deliver(event)
            }
            let due = playback.advance(to: fix)
            if let reached = playback.newProgress(isWaiting: due > clock.now) {
                await deliver(.progress(reached: reached, of: playback.survey.length))
            }
            try await wait(until: due, on: clock)
            await deliver(playback.event(for: fix, at: now()))
        }
        if playback.hasEnd { await deliver(.progress(reached: playback.survey.length, of: playback.survey.length)) }
    }

    private func wait(until moment: Duration, on clock: MonotonicClock) async throws(FixSourceError) {
        if moment > clock.now { await clock.sleep(until: moment) }
        if Task.isCancelled { throw FixSourceError(log: name, .stopped) }
    }
}

/// The progress of one replay. Functions that handle a fix aren't inlined, so that fixes don't enlarge the frames of
/// asynchronous functions. With many vehicles, there may be ten thousand of these frames.
private struct Playback {
    /// The minimum number of progress events per pass.
    private static let progressSteps = 500

    private let options: LogReplay.Options
    let survey: LogSurvey
    private let offset: DriveOffset
    /// The UTC time at which the replay began.
    private let start: UTCTime
    /// The time of the clock at which the replay began.
    private let clockStart: Duration
    private(set) var timeline: ReplayTimeline
    private var keptTimeOffset = Duration.zero
    /// The log time (see `ReplayTimeline`) of the last progress event.
    private var lastProgress: Duration

    /// Begins a playback. `start` is the current time in UTC. Read `start` before `clock`, so that a fix that is due
    /// isn't dated in the future.
    init(
        _ options: LogReplay.Options, survey: LogSurvey, offset: DriveOffset, start: UTCTime,
        clock: MonotonicClock
    ) {
        self.options = options
        self.survey = survey
        self.offset = offset
        self.start = start
        clockStart = clock.now
        timeline = ReplayTimeline(speed: options.speed, survey: survey)
        lastProgress = .zero - survey.length
    }

    var hasEnd: Bool { !options.loops && !options.follows }

    /// Advances to `fix`, the next one in the log. Returns the time of the clock at which it is due.
    @inline(never) mutating func advance(to fix: Fix) -> Duration {
        timeline.advance(to: fix.timeOfFix)
        return clockStart + timeline.due
    }

    /// Returns the log time that has been reached, including earlier passes, if a progress event is due; otherwise
    /// `nil`.
    mutating func newProgress(isWaiting: Bool) -> Duration? {
        let reached = survey.length * (timeline.pass - 1) + timeline.logTime
        let isStepDone = reached >= lastProgress + survey.length / Self.progressSteps
        guard !options.follows, isWaiting || isStepDone else { return nil }
        lastProgress = reached
        return reached
    }

    /// Returns the event that delivers `fix` at `now`, with its new position and time.
    @inline(never) func event(for fix: Fix, at now: UTCTime) -> FixSourceEvent {
        var fix = offset.moved(fix)
        if options.keepsTime {
            fix.timeOfFix = fix.timeOfFix.advanced(by: keptTimeOffset)
        } else {
            // A fix is never dated later than `now`, even if the system clock has been set back.
            fix.timeOfFix = min(timeline.carriedTime.map { start.advanced(by: $0) } ?? now, now)
        }
        return .fix(fix)
    }

    mutating func beginNextPass(at now: Duration) {
        timeline.beginNextPass(at: now - clockStart)
        keptTimeOffset += survey.span + .seconds(1)
    }
}

/// The result of the first, quick reading of logs for a replay.
package struct LogSurvey: Sendable, Hashable {
    package private(set) var fixes = 0
    /// The duration of the replay at speed 1, from the first fix to the last, with long gaps shortened (see
    /// `ReplayTimeline`).
    package private(set) var length = Duration.zero

    /// The number of fixes whose time is earlier than that of the previous fix.
    private(set) var backwardSteps = 0

    private var last: UTCTime?
    /// The earliest time of any fix; `nil` before the first fix. If the logs aren't in order, it isn't the time of the
    /// first fix.
    private var earliest: UTCTime?
    /// The latest time of any fix; `nil` before the first fix. If the logs aren't in order, it isn't the time of the
    /// last fix.
    private var latest: UTCTime?

    /// The time from `earliest` to `latest`.
    var span: Duration {
        guard let earliest, let latest else { return .zero }
        return earliest.duration(to: latest)
    }

    mutating func add(_ timeOfFix: UTCTime) {
        fixes += 1
        if let last {
            length += ReplayTimeline.step(from: last, to: timeOfFix)
            if timeOfFix < last { backwardSteps += 1 }
        }
        last = timeOfFix
        earliest = min(earliest ?? timeOfFix, timeOfFix)
        latest = max(latest ?? timeOfFix, timeOfFix)
    }
}

package enum ReplaySpeed: Sendable, Hashable {
    /// A multiple of the speed at which the log was recorded. It is greater than zero.
    case times(Double)
    /// No waiting between fixes: they are delivered as fast as they are consumed.
    case maximum

    /// The number of seconds of replay per second of log.
    package var stretch: Double {
        switch self {
        case .times(let factor): 1 / factor
        case .maximum: 0
        }
    }
}

/// The schedule of a replay: when each fix of a log is due, and which time it carries.
///
/// *Log time* is zero at the first fix and never decreases. From one fix to the next, it advances by the difference
/// between their times, with two exceptions. A gap of more than 5 minutes is shortened to 10 seconds, so that a log of
/// several trips doesn't stall. A zero or negative step becomes one millisecond.
///
/// A fix at log time `t` of a log with length `T` is due at `t / speed`. When it is due, the time that it carries is
/// `(T - t) * (1 - 1 / speed)` ago: zero at speed 1, the whole rest of the log at `max`. So the intervals between the
/// carried times are those of the log. The last fix carries the time at which it is due, and no fix carries a time
/// after it is due. The times of the fixes come from the schedule, not from the moment at which a busy machine reads a
/// fix. Two replays of a log are therefore equal.
///
/// Below speed 1, and from the second pass on, each fix carries the time at which it is due. Any other time would be in
/// the future, or earlier than fixes already sent. Fixes added to a log after its survey aren't scheduled and carry the
/// current time.
struct ReplayTimeline: Sendable, Hashable {
    static let maximumGap = Duration.seconds(300)
    private static let shortenedGap = Duration.seconds(10)
    /// The minimum step of log time, because the times of fixes are whole milliseconds.
    private static let minimumStep = Duration.milliseconds(1)

    /// Returns the time by which log time advances from one fix to the next.
    static func step(from earlier: UTCTime, to later: UTCTime) -> Duration {
        let step = earlier.duration(to: later)
        return step > maximumGap ? shortenedGap : max(step, minimumStep)
    }

    private let speed: ReplaySpeed
    /// The age of the first fix when the replay starts, according to the time that the fix carries. It is in whole
    /// milliseconds, so that rounding doesn't change the intervals between fixes.
    private let initialAge: Duration
    /// The number of surveyed fixes that remain in the first pass. It is negative for fixes that were added to the log
    /// after the survey.
    private var plannedFixes: Int
    private var previous: UTCTime?
    /// The log time of the current fix.
    private(set) var logTime = Duration.zero
    /// The number of the current pass, from 1.
    private(set) var pass = 1
    /// The time from the start of the replay until the current fix is due.
    private(set) var due = Duration.zero

    init(speed: ReplaySpeed, survey: LogSurvey) {
        self.speed = speed
        // The subtraction removes the nanosecond that a rounding error may add.
        let milliseconds = survey.length * max(0, 1 - speed.stretch) / .milliseconds(1) - 1e-6
        initialAge = .milliseconds(Int64(max(0, milliseconds.rounded(.up))))
        plannedFixes = survey.fixes
    }

    /// Advances to the next fix. `timeOfFix` is its time in the log.
    mutating func advance(to timeOfFix: UTCTime) {
        let step = previous.map { Self.step(from: $0, to: timeOfFix) } ?? .zero
        previous = timeOfFix
        logTime += step
        plannedFixes -= 1
        let wait = step * speed.stretch
        due += pass == 1 ? wait : max(wait, Self.minimumStep)
    }

    /// The time that the current fix carries, relative to the start of the replay; `nil` for a fix that wasn't
    /// surveyed.
    var carriedTime: Duration? {
        guard pass == 1 else { return due }
        guard plannedFixes >= 0 else { return nil }
        return speed.stretch > 1 ? due : logTime - initialAge
    }

    /// Begins the next pass one second of log time after the last fix, but not before `now`, which is also relative to
    /// the start of the replay. At full speed `now` is later, because reading takes longer than planned.
    mutating func beginNextPass(at now: Duration) {
        previous = nil
        logTime = .zero
        pass += 1
        due = max(due + .seconds(1) * speed.stretch, now)
    }
}
