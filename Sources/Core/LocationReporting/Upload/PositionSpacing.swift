import TimeAndChance

/// When a new position of a vehicle may follow the last one: not within Fleet Engine's least time between two, however
/// long that one had to wait for a token or an answer. Pure.
///
/// What counts is the arrival, which lies between request and answer: as long before the answer as the quickest answer
/// took, so that requests which all take alike may follow each other from start to start. What got no answer counts
/// from its start.
///
/// Where positions come as fast as they may go, one that was late would make all after it late. So one that has to
/// wait as long as the one before it leaves its turn to the next, which need not wait then, and goes behind that.
///
/// A drive that is played faster than it was driven is not held up: its positions go as far apart as it is played.
struct PositionSpacing: Sendable {
    /// The least time between two.
    private static let least = ReportingPolicy.shortestInterval
    /// What the ways of two requests may differ by.
    private static let margin = Duration.milliseconds(20)
    /// A shorter wait matters to nobody.
    private static let tolerance = Duration.seconds(1)
    /// How far times of fix may get ahead of the clock before they are those of a recording.
    private static let liveliness = Duration.milliseconds(500)
    /// So many in step with the clock are live ones again: a recording may pause.
    private static let stepsOfLife = 6

    /// What arrived last, or may have, and whether that is certain.
    private var latest: (update: LocationUpdate, isCertain: Bool)?
    /// When another one may go out.
    private var dueAt = Duration.zero
    /// The shortest time that an answer took on this network; zero while it is unknown.
    private var quickestAnswer = Duration.zero
    /// What waits, since when, and until when.
    private var held: (update: LocationUpdate, since: Duration, until: Duration)?
    /// How long the last one that went out had waited.
    private var lastHold = Duration.zero
    /// The least age at which an update was accepted, on a scale of its own.
    private var leastAge: Duration?
    /// How many updates in a row, as far as that matters, have passed as the clock did.
    private var steps = stepsOfLife

    /// Notes that `update` has been accepted.
    mutating func accepted(_ update: LocationUpdate, at now: Duration) {
        let age = now - .milliseconds(update.timeOfFix.millisecondsSince1970)
        let isAhead = leastAge.map { age < $0 - Self.liveliness } ?? false
        steps = isAhead ? 0 : min(steps + 1, Self.stepsOfLife)
        leastAge = leastAge.map { min($0, age) } ?? age
    }

    /// How long `update` has to wait still; zero for one that has been sent before.
    mutating func timeToSend(_ update: LocationUpdate, at now: Duration) -> Duration {
        guard leastAge != nil, steps == Self.stepsOfLife, latest?.update != update else { return .zero }
        if held?.update != update {
            let rest = dueAt - now
            let isAsLate = rest >= Self.tolerance && lastHold >= Self.tolerance && rest >= lastHold * 0.9
            held = (update, now, isAsLate ? dueAt + Self.least : dueAt)
        }
        return held.map { max(.zero, $0.until - now) } ?? .zero
    }

    /// Until when a position waits; `nil` when none does.
    var heldUntil: Duration? { held?.until }

    /// Notes that `update` goes out.
    mutating func willSend(_ update: LocationUpdate, at now: Duration) {
        guard latest?.update != update else { return }
        lastHold = held.map { $0.update == update && $0.until > $0.since ? now - $0.since : .zero } ?? .zero
        held = nil
    }

    /// Notes that `update` has arrived, or may have where no answer came; the exchange `took` so long.
    mutating func arrived(_ update: LocationUpdate, isCertain: Bool, took: Duration, at now: Duration) {
        let isRepetition = latest.map { $0.update == update && $0.isCertain } ?? false
        if !isRepetition {
            latest = (update, isCertain)
            dueAt = now - (isCertain ? min(took, quickestAnswer) : took) + Self.least + Self.margin
        }
        if isCertain { quickestAnswer = quickestAnswer > .zero ? min(quickestAnswer, took) : took }
    }

    /// Notes that the network has changed: what an answer takes is to be learned again.
    mutating func networkReturned() { quickestAnswer = .zero }
}
