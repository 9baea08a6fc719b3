import TimeAndRandomness

/// The world of one vehicle: its time, its faults, and the laws that must hold.
///
/// `@unchecked Sendable` is safe because only the simulation's thread uses the object.
final class World: @unchecked Sendable {
    let scenario: Scenario
    let clock = VirtualClock()
    let queue: RunQueue
    private var weather: Weather
    private var trace: Trace
    var account: DeliveryAccount
    /// The first breach of a law, which ends the run.
    private(set) var violation: Violation?
    /// The UTC time of the start of the run.
    let origin = UTCTime(year: 2026, month: 6, day: 1, millisecondOfDay: 6 * 3_600_000)

    init(_ scenario: Scenario, output: ((String) -> Void)? = nil) {
        self.scenario = scenario
        weather = Weather(scenario)
        var dice = Dice(seed: scenario.seed, stream: .climate)
        queue = RunQueue(
            seed: scenario.seed, disorder: weather.has(.disorder) ? dice.uniform(0.05...0.9) : 0)
        trace = Trace(output: output)
        account = DeliveryAccount(mayEvict: weather.has(.smallStore))
    }

    var now: Duration { clock.elapsed }
    var utc: UTCTime { origin.advanced(by: now) }
    var faultsEnd: Duration { weather.end }
    var traceHash: UInt64 { trace.hash }
    var eventCount: Int { trace.count }
    var faultKinds: [FaultKind] { weather.kinds }
    var faultCounts: [Int] { weather.counts }
    var markCounts: [Int] { trace.counts }

    // MARK: Faults

    func has(_ kind: FaultKind) -> Bool { weather.has(kind, at: now) }
    func strikes(_ kind: FaultKind) -> Bool { weather.strikes(kind, at: now) }
    func isActive(_ kind: FaultKind) -> Bool { weather.currentSpell(kind, at: now) != nil }
    func nextSpell(_ kind: FaultKind) -> Range<Duration>? { weather.nextSpell(kind, after: now) }

    /// The time for which the vehicle has been private; `nil` if it isn't.
    var privateFor: Duration? { weather.currentSpell(.privateTime, at: now).map { now - $0.lowerBound } }

    /// Whether the reporter has had time to notice that the vehicle is private.
    var isKnownPrivate: Bool { privateFor.map { $0 >= .seconds(1) } ?? false }

    /// Records a fault's effect, which may delay updates for `duration`.
    func allowDelay(for duration: Duration) { account.allowDelay(until: now + duration) }

    // MARK: Events

    func note(
        _ mark: Trace.Mark, _ one: Int64 = 0, _ other: Int64 = 0, _ text: @autoclosure () -> String
    ) {
        trace.note(mark, at: now, one, other, text())
    }

    func recordBreach(_ law: Law, _ detail: @autoclosure () -> String) {
        guard violation == nil else { return }
        violation = Violation(law: law, time: now, detail: detail())
        trace.output?("\(now.clockText)  BROKEN: \(law.rawValue): \(detail())")
    }

    /// Records a breach of `law` unless `condition` is true.
    func require(_ law: Law, _ condition: Bool, _ detail: @autoclosure () -> String) {
        if !condition { recordBreach(law, detail()) }
    }

    // MARK: Time

    /// Runs `body` and all tasks that it starts, until `body` has ended or a law is broken.
    func run(_ body: @escaping @Sendable () async -> Void) {
        queue.run {
            let done = Flag()
            // The first task of the run, which starts all others.
            _ = Task {
                await body()
                done.isSet = true
            }
            while !done.isSet, violation == nil {
                if queue.runNext() { continue }
                guard let next = clock.nextDeadline else {
                    recordBreach(.neverStuck, "no job is ready and no task sleeps, but the run has not ended")
                    break
                }
                checkBounds()
                if let late = account.overdue(before: next.offset) { recordBreach(late.law, late.detail) }
                clock.jump(to: next)
            }
        }
    }

    private func checkBounds() {
        require(.bounded, clock.sleeperCount <= 48, "\(clock.sleeperCount) tasks sleep at once")
        require(.bounded, queue.maximumLength <= 256, "\(queue.maximumLength) jobs were ready at once")
    }

    /// `@unchecked Sendable` is safe because only the simulation's thread uses the object.
    private final class Flag: @unchecked Sendable { var isSet = false }
}
