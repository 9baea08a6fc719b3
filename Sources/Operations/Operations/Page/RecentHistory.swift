package import Conditions
import GNSS
import LinuxPlatform
import ReportedText
package import Reporting
import TimeAndRandomness
import TrackDrawing

/// The events of the last hour that the technician's page shows: positions, deliveries, failures and log lines. They
/// take at most about 100 KiB.
///
/// Times are monotonic and begin with the service, so that a change of the host's clock doesn't shift earlier events.
struct RecentHistory: Sendable {
    /// The numbers of events in one minute.
    struct Minute: Sendable, Hashable {
        /// The number of delivered updates.
        var delivered = 0
        /// The number of uploads and token requests that have failed.
        var failed = 0
        /// The last reported number of pending updates in the minute; `nil` if none was reported.
        var pending: Int64?
    }

    struct Line: Sendable, Hashable {
        let at: Duration
        let level: LogLevel
        var text: String
        /// The code of the condition that the line reports; `nil` if the line reports none, or the end of one.
        let failure: ConditionCode?
    }

    /// A fix compressed to 24 bytes. Its coordinates are precise to about a centimetre.
    private struct CompressedFix: Sendable {
        let arrivalSeconds: Int32
        let timeOfFix: Int64
        let latitude: Int32
        let longitude: Int32
        /// The speed in metres per second; NaN if the receiver doesn't send it.
        let speed: Float

        private static let unitsPerDegree = 1e7

        /// Compresses a fix. Returns `nil` if the coordinates are out of range.
        init?(_ fix: Fix, at now: Duration) {
            guard let latitude = Int32(exactly: (fix.latitude * Self.unitsPerDegree).rounded()),
                let longitude = Int32(exactly: (fix.longitude * Self.unitsPerDegree).rounded())
            else { return nil }
            arrivalSeconds = Int32(clamping: now.components.seconds)
            timeOfFix = fix.timeOfFix.millisecondsSince1970
            self.latitude = latitude
            self.longitude = longitude
            speed = fix.speedMetersPerSecond.map { Float($0) } ?? .nan
        }

        var fix: Fix {
            var fix = Fix(
                timeOfFix: UTCTime(millisecondsSince1970: timeOfFix),
                latitude: Double(latitude) / Self.unitsPerDegree, longitude: Double(longitude) / Self.unitsPerDegree)
            fix.speedMetersPerSecond = speed.isNaN ? nil : Double(speed)
            return fix
        }
    }

    static let period = Duration.seconds(3600)
    /// The number of minutes that the chart shows.
    static let minuteCount = 60
    /// The minimum time between two stored fixes. It limits an hour to 900 fixes, which take 21 KiB.
    private static let spacing = Duration.seconds(4)
    private static let maximumOutages = 100
    private static let maximumLines = 50
    private static let maximumLineBytes = 1500
    /// The maximum age of a fix that is shown as the current position. An older fix is shown as the last known
    /// position.
    private static let maximumCurrentAge = Duration.seconds(30)
    /// The minimum duration of an outage. Shorter interruptions, which end with the next attempt, aren't shown.
    private static let minimumOutage = Duration.seconds(5)

    /// The newest accepted fix, and the time at which it arrived; `nil` before the first one.
    private(set) var newestFix: (fix: Fix, at: Duration)?
    private var isPrivate = false
    private var storedFixes: [CompressedFix] = []
    /// The minutes in which an event has occurred. Each has its number, counted from the start.
    private var minutes: [(number: Int, minute: Minute)] = []
    private var pastOutages: [ClosedRange<Duration>] = []
    private var outageSince: Duration?
    /// The latest lines of the log, the oldest first.
    private(set) var lines: [Line] = []

    /// Records an event that has occurred at `now`.
    mutating func note(_ event: ReportingEvent, at now: Duration) {
        switch event {
        case .fix(let fix): note(fix, at: now)
        case .privateModeBegan:
            isPrivate = true
            // The track is removed, because it leads to the place where private mode began and would reveal it.
            newestFix = nil
            storedFixes = []
        case .privateModeEnded: isPrivate = false
        case .delivered(let batch, _, _):
            changeMinute(at: now) { $0.delivered += batch.pending.count }
            endOutage(at: now)
        case .failed, .notPrepared:
            changeMinute(at: now) { $0.failed += 1 }
            outageSince = outageSince ?? now
        default: break
        }
    }

    mutating func note(pending: Int64, at now: Duration) { changeMinute(at: now) { $0.pending = pending } }

    mutating func note(_ level: LogLevel, _ text: String, _ failure: ConditionCode?, at now: Duration) {
        if lines.count >= Self.maximumLines { lines.removeFirst(lines.count - Self.maximumLines + 1) }
        let text = ReportedText.cut(text, to: Self.maximumLineBytes)
        lines.append(Line(at: now, level: level, text: text, failure: failure))
    }

    /// Returns the stored fixes of the last hour, the oldest first.
    func track(at now: Duration) -> [Fix] {
        let oldest = (now - Self.period).components.seconds
        return storedFixes.lazy.filter { Int64($0.arrivalSeconds) >= oldest }.map(\.fix)
    }

    /// Returns the track that the map shows: the stored fixes of the last hour, and the newest fix.
    func survey(at now: Duration) -> TrackSurvey {
        var survey = TrackSurvey()
        let track = track(at: now)
        for fix in track { survey.add(fix) }
        if let newestFix, let last = track.last, newestFix.fix.timeOfFix > last.timeOfFix { survey.add(newestFix.fix) }
        return survey
    }

    /// Returns the map as a section of the technician's page.
    func map(at now: Duration) -> Markup {
        guard let newestFix, now - newestFix.at <= Self.period,
            let map = TrackMap(survey(at: now), newest: newestFix.fix, isCurrent: isCurrent(at: now))
        else {
            let period = now < Self.period ? "since the service started" : "in the last hour"
            let reason = isPrivate ? "The position is private." : "There was no position \(period)."
            return "<section><h2>Map</h2><p>\(reason)</p></section>"
        }
        return map.section
    }

    /// Returns whether the newest fix is recent enough to be shown as the current position.
    func isCurrent(at now: Duration) -> Bool { newestFix.map { now - $0.at <= Self.maximumCurrentAge } ?? false }

    /// Returns the minutes of the last hour. The oldest minute comes first and the current one last. A minute before
    /// the service started is `nil`.
    func minutes(at now: Duration) -> [Minute?] {
        let last = Self.minuteNumber(of: now)
        let noted = Dictionary(minutes.map { ($0.number, $0.minute) }) { $1 }
        return (last - Self.minuteCount + 1...last).map { number -> Minute? in
            number < 0 ? nil : noted[number] ?? Minute()
        }
    }

    /// Returns the position of `moment` in the list that `minutes(at:)` returns, counted from 0 with fractions.
    static func minutePosition(of moment: Duration, at now: Duration) -> Double {
        moment / .seconds(60) - Double(minuteNumber(of: now) - minuteCount + 1)
    }

    /// Returns the outages of the last hour: periods in which attempts failed and none succeeded. The last one may
    /// still be going on.
    func outages(at now: Duration) -> [ClosedRange<Duration>] {
        let start = now - Self.period
        var outages = pastOutages
        if let since = outageSince, now - since >= Self.minimumOutage { outages.append(since...now) }
        return outages.filter { $0.upperBound >= start }.map { max(start, $0.lowerBound)...$0.upperBound }
    }

    /// Returns the outages as ranges of positions in the list that `minutes(at:)` returns. An outage that is still
    /// going on extends to the end of the list.
    func outageMinutes(at now: Duration) -> [ClosedRange<Double>] {
        outages(at: now).map { outage in
            let begin = max(0, Self.minutePosition(of: outage.lowerBound, at: now))
            let isOver = outageSince == nil || outage.upperBound < now
            return
                begin...(isOver
                ? max(begin, Self.minutePosition(of: outage.upperBound, at: now)) : Double(Self.minuteCount))
        }
    }

    private mutating func note(_ fix: Fix, at now: Duration) {
        newestFix = (fix, now)
        let second = now.components.seconds
        if let last = storedFixes.last, second - Int64(last.arrivalSeconds) < Self.spacing.components.seconds { return }
        guard let compressed = CompressedFix(fix, at: now) else { return }
        let oldest = (now - Self.period).components.seconds
        storedFixes.removeFirst(storedFixes.prefix { Int64($0.arrivalSeconds) < oldest }.count)
        storedFixes.append(compressed)
    }

    private mutating func endOutage(at now: Duration) {
        guard let since = outageSince else { return }
        outageSince = nil
        guard now - since >= Self.minimumOutage else { return }
        if pastOutages.count >= Self.maximumOutages { pastOutages.removeFirst() }
        pastOutages.append(since...now)
    }

    private mutating func changeMinute(at now: Duration, _ body: (inout Minute) -> Void) {
        let number = Self.minuteNumber(of: now)
        if minutes.last?.number != number {
            minutes.append((number, Minute()))
            minutes.removeAll { $0.number <= number - Self.minuteCount }
        }
        body(&minutes[minutes.count - 1].minute)
    }

    private static func minuteNumber(of moment: Duration) -> Int { Int(moment.components.seconds / 60) }
}

/// An observer that records the history of a running service.
package final class HistoryKeeper: ReportingObserver {
    private let clock: MonotonicClock
    private let history = Locked(RecentHistory())

    package init(clock: MonotonicClock) { self.clock = clock }

    package func observe(_ event: ReportingEvent) {
        let now = clock.now
        history.withLock { $0.note(event, at: now) }
    }

    package func note(pending: Int64) {
        let now = clock.now
        history.withLock { $0.note(pending: pending, at: now) }
    }

    package func note(_ level: LogLevel, _ text: String, _ failure: ConditionCode?) {
        let now = clock.now
        history.withLock { $0.note(level, text, failure, at: now) }
    }

    /// The history, and the current time on its monotonic clock.
    var current: (history: RecentHistory, now: Duration) { (history.withLock { $0 }, clock.now) }
}
