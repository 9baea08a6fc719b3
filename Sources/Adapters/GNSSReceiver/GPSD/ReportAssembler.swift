import GNSS
import TimeAndChance

/// Makes one fix per epoch from gpsd's reports, as early as possible. It has no clock.
///
/// Until gpsd knows a receiver's cycle, it sends several reports per epoch, each with more values; for some receivers,
/// it always sends several. The first report may contain a speed that gpsd computed from two positions and that the
/// receiver corrects later. So the last report of an epoch is used. It is recognised by counting, if the epoch has as
/// many reports as the previous one, or else by a pause or by the next epoch. Later reports of the same epoch produce
/// no fix.
struct ReportAssembler: Sendable {
    /// The maximum difference between times of one epoch, as for sentences.
    private static let toleranceMilliseconds: Int64 = 10
    private static let maximumPause = Duration.milliseconds(250)
    /// The number of remembered times: a clock that stops or jumps back produces no new fix.
    private static let rememberedTimes = 8

    /// The newest report of the current epoch until it is emitted.
    private var pending: Fix?
    private var epoch: UTCTime?
    /// The number of reports of the current epoch.
    private var count = 0
    /// The number of reports of the previous epoch.
    private var usualCount: Int?
    private var isEmitted = false
    private var interval = Duration.seconds(1)
    private var lastReportAt = Duration.zero
    private var recent: [UTCTime] = []

    /// Adds a report with a position.
    mutating func take(_ fix: Fix, at now: Duration, _ emit: (Fix) -> Void) {
        if isOfThisEpoch(fix.timeOfFix) {
            count += 1
        } else {
            begin(fix.timeOfFix, emit)
        }
        guard !isEmitted else { return }
        pending = fix
        lastReportAt = now
        if let usualCount, count >= usualCount { complete(emit) }
    }

    /// Adds a report without a position, which retracts earlier reports of the same epoch.
    mutating func retract(at time: UTCTime?, _ emit: (Fix) -> Void) {
        if let time, !isOfThisEpoch(time) { complete(emit) } else { pending = nil }
    }

    /// The time at which a quiet line completes the current epoch; `nil` if no epoch is pending.
    var idleDeadline: Duration? {
        pending == nil ? nil : lastReportAt + min(Self.maximumPause, interval * 3 / 10)
    }

    /// Called when nothing has arrived until `now`. Completes the epoch if its deadline has passed.
    mutating func lineIsIdle(at now: Duration, _ emit: (Fix) -> Void) {
        if let idleDeadline, idleDeadline <= now { complete(emit) }
    }

    mutating func complete(_ emit: (Fix) -> Void) {
        guard let fix = pending else { return }
        pending = nil
        isEmitted = true
        if recent.count == Self.rememberedTimes { recent.removeFirst() }
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
        isEmitted = recent.contains(time)
    }
}
