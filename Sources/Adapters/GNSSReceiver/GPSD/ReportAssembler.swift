import GNSS
import TimeAndRandomness

/// An assembler that makes one fix per epoch from gpsd's reports, as early as possible. It reads no clock; the caller
/// passes the time.
///
/// Until gpsd has learned a receiver's cycle, it sends several reports per epoch, each with more values. For some
/// receivers, gpsd always sends several. The first report may contain a speed that gpsd computed from two positions,
/// and that a later report replaces with the receiver's own speed. So the last report of an epoch is used. A report
/// counts as the last one if the previous epoch had as many reports, or if a pause or the next epoch follows it. Later
/// reports of the same epoch produce no fix.
struct ReportAssembler: Sendable {
    /// The maximum difference between the times of two reports of the same epoch. The same maximum applies to
    /// sentences.
    private static let toleranceMilliseconds: Int64 = 10
    private static let maximumPause = Duration.milliseconds(250)
    /// The number of recent epochs whose times are remembered. If a receiver's clock stops or jumps back, a time is
    /// repeated, and its reports produce no fix.
    private static let rememberedTimes = 8

    /// The newest report of the current epoch; `nil` once it has been emitted.
    private var pending: Fix?
    private var epoch: UTCTime?
    /// The number of reports in the current epoch so far.
    private var count = 0
    /// The number of reports in the previous epoch; `nil` during the first epoch.
    private var previousCount: Int?
    private var isEmitted = false
    private var interval = Duration.seconds(1)
    private var lastReportAt = Duration.zero
    private var recentEpochs: [UTCTime] = []

    /// Adds a report with a position.
    mutating func add(_ fix: Fix, at now: Duration, _ emit: (Fix) -> Void) {
        if isOfThisEpoch(fix.timeOfFix) {
            count += 1
        } else {
            beginEpoch(at: fix.timeOfFix, emit)
        }
        guard !isEmitted else { return }
        pending = fix
        lastReportAt = now
        if let previousCount, count >= previousCount { complete(emit) }
    }

    /// Adds a report without a position. It retracts earlier reports of the same epoch.
    mutating func retract(at time: UTCTime?, _ emit: (Fix) -> Void) {
        if let time, !isOfThisEpoch(time) { complete(emit) } else { pending = nil }
    }

    /// The time at which the current epoch is complete if nothing more arrives; `nil` if no epoch is pending.
    var idleDeadline: Duration? {
        pending == nil ? nil : lastReportAt + min(Self.maximumPause, interval * 3 / 10)
    }

    /// Completes the current epoch if its deadline has passed. Called if nothing has arrived by `now`.
    mutating func handleIdleLine(at now: Duration, _ emit: (Fix) -> Void) {
        if let idleDeadline, idleDeadline <= now { complete(emit) }
    }

    mutating func complete(_ emit: (Fix) -> Void) {
        guard let fix = pending else { return }
        pending = nil
        isEmitted = true
        if recentEpochs.count == Self.rememberedTimes { recentEpochs.removeFirst() }
        recentEpochs.append(fix.timeOfFix)
        emit(fix)
    }

    private func isOfThisEpoch(_ time: UTCTime) -> Bool {
        epoch.map { abs(time.millisecondsSince1970 - $0.millisecondsSince1970) <= Self.toleranceMilliseconds } ?? false
    }

    private mutating func beginEpoch(at time: UTCTime, _ emit: (Fix) -> Void) {
        complete(emit)
        if let epoch {
            previousCount = count
            let step = epoch.duration(to: time)
            if step >= .milliseconds(20), step <= .seconds(60) { interval = step }
        }
        epoch = time
        count = 1
        isEmitted = recentEpochs.contains(time)
    }
}
