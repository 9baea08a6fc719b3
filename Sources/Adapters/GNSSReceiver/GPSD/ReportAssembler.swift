import GNSS
import TimeAndChance

/// Makes one fix an epoch of gpsd's reports, as early as can be: a decision, without a clock of its own.
///
/// Until it knows a receiver's cycle gpsd reports several times an epoch, each time with more; of some receivers it
/// always does, and the first report may hold a speed that gpsd worked out from two positions and the receiver then
/// corrects. So the last report of an epoch counts. It is known by its number: as many as in the epoch before;
/// otherwise by a pause, or by the next epoch. What comes after it is not another fix.
struct ReportAssembler: Sendable {
    /// Times this close belong to one epoch (as with sentences).
    private static let toleranceMilliseconds: Int64 = 10
    private static let longestPause = Duration.milliseconds(250)
    /// As many times are known again: a clock that stops or jumps back gives no new fix.
    private static let memory = 8

    /// The newest report of the current epoch, while it is not out.
    private var pending: Fix?
    private var epoch: UTCTime?
    /// Reports of the current epoch, and of the one before.
    private var count = 0
    private var usualCount: Int?
    private var isOut = false
    private var interval = Duration.seconds(1)
    private var lastReportAt = Duration.zero
    private var recent: [UTCTime] = []

    /// Takes a report with a position.
    mutating func take(_ fix: Fix, at now: Duration, _ emit: (Fix) -> Void) {
        if isOfThisEpoch(fix.timeOfFix) {
            count += 1
        } else {
            begin(fix.timeOfFix, emit)
        }
        guard !isOut else { return }
        pending = fix
        lastReportAt = now
        if let usualCount, count >= usualCount { complete(emit) }
    }

    /// Takes a report without a position: what has been said of the same epoch no longer holds.
    mutating func takeBack(at time: UTCTime?, _ emit: (Fix) -> Void) {
        if let time, !isOfThisEpoch(time) { complete(emit) } else { pending = nil }
    }

    /// When a quiet line completes the current epoch; `nil` when none is.
    var idleDeadline: Duration? {
        pending == nil ? nil : lastReportAt + min(Self.longestPause, interval * 3 / 10)
    }

    /// Nothing has come until `now`: completes the epoch once its deadline has passed.
    mutating func lineIsIdle(at now: Duration, _ emit: (Fix) -> Void) {
        if let idleDeadline, idleDeadline <= now { complete(emit) }
    }

    /// Completes the current epoch.
    mutating func complete(_ emit: (Fix) -> Void) {
        guard let fix = pending else { return }
        pending = nil
        isOut = true
        if recent.count == Self.memory { recent.removeFirst() }
        recent.append(fix.timeOfFix)
        emit(fix)
    }

    private func isOfThisEpoch(_ time: UTCTime) -> Bool {
        epoch.map { abs(time.millisecondsSince1970 - $0.millisecondsSince1970) <= Self.toleranceMilliseconds } ?? false
    }

    private mutating func begin(_ time: UTCTime, _ emit: (Fix) -> Void) {
        complete(emit)
        if let epoch {
            usualCount = count
            let step = epoch.duration(to: time)
            if step >= .milliseconds(20), step <= .seconds(60) { interval = step }
        }
        epoch = time
        count = 1
        isOut = recent.contains(time)
    }
}
