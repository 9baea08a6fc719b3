import Glibc

/// When a service that may cost a tenth of a processor core rests: a decision, without a clock of its own.
///
/// Whoever may ask may ask without end, in many ways: so it is not requests or bytes that are counted but the
/// processor's time, once it is spent. During a rest nothing is accepted, read or handed on; answers go out. All times
/// are on one monotonic scale.
struct ServicePace: Sendable, Hashable {
    /// For each millisecond of work, so many must have gone by; beside what is measured there is what is not.
    private static let timePerWork = 12
    /// So much may be worked ahead of that, as time: what people and monitors ask at once is answered at once.
    private static let credit = Duration.milliseconds(600)
    /// A turn ends when it owes so much rest; whoever waits then comes first in the next.
    static let usualRest = Duration.milliseconds(50)
    /// However much one piece of work has cost, the next waits no longer than this.
    private static let longestRest = Duration.milliseconds(300)

    /// When everything up to now is made up for.
    private var settled: Duration

    init(startedAt now: Duration) { settled = now }

    /// It has worked for so long, up to `now`.
    mutating func took(_ work: Duration, until now: Duration) {
        settled = min(max(settled, now - work) + work * Self.timePerWork, now + Self.credit + Self.longestRest)
    }

    /// How long to rest; zero when there may be work.
    func rest(at now: Duration) -> Duration { max(.zero, settled - Self.credit - now) }
}

/// What the service's own thread has worked, and its handlers on others.
struct WorkMeter {
    private var thread = Duration.zero
    private var process = Duration.zero
    private var handlers = 0
    private var hadHandlers = false

    mutating func handlerBegan() {
        handlers += 1
        hadHandlers = true
    }

    /// Since the last time, in time of the processor. The threads of a handler are not known: while one runs, it
    /// is that of the whole process.
    mutating func work(handlersEnded: Int) -> Duration {
        let thread = time(CLOCK_THREAD_CPUTIME_ID)
        let process = time(CLOCK_PROCESS_CPUTIME_ID)
        handlers -= handlersEnded
        defer {
            self.thread = thread
            self.process = process
            hadHandlers = handlers > 0
        }
        return hadHandlers ? process - self.process : thread - self.thread
    }

    private func time(_ clock: clockid_t) -> Duration {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
