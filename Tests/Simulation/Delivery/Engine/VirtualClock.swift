/// A clock that stands still while any job is ready, and otherwise jumps to the next deadline.
///
/// `@unchecked Sendable` is safe because only the simulation's thread uses the object.
@safe final class VirtualClock: Clock, @unchecked Sendable {
    typealias Duration = Swift.Duration

    struct Instant: InstantProtocol {
        var offset: Duration = .zero
        func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }
        func duration(to other: Self) -> Duration { other.offset - offset }
        static func < (lhs: Self, rhs: Self) -> Bool { lhs.offset < rhs.offset }
    }

    private(set) var now = Instant()
    let minimumResolution = Duration.nanoseconds(1)
    private var deadlines = DeadlineHeap()
    private var sleepers: [Int: UnsafeContinuation<Void, Never>] = unsafe [:]
    private var nextSleeper = 0

    var elapsed: Duration { now.offset }

    var sleeperCount: Int { unsafe sleepers.count }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let sleeper = nextSleeper
        nextSleeper += 1
        await withTaskCancellationHandler {
            unsafe await withUnsafeContinuation { continuation in
                if Task.isCancelled {
                    unsafe continuation.resume()
                } else {
                    unsafe sleepers[sleeper] = continuation
                    deadlines.insert(DeadlineHeap.Entry(deadline: max(deadline, now), sleeper: sleeper))
                }
            }
        } onCancel: {
            unsafe sleepers.removeValue(forKey: sleeper)?.resume()
        }
        try Task.checkCancellation()
    }

    /// Sleeps for `duration`, or until the task is cancelled.
    func wait(for duration: Duration) async { try? await sleep(for: duration) }

    /// The time at which the next sleeper is due; `nil` if there are no sleepers.
    var nextDeadline: Instant? {
        while let first = deadlines.first {
            if unsafe sleepers[first.sleeper] != nil { return first.deadline }
            deadlines.removeFirst()  // cancelled
        }
        return nil
    }

    /// Jumps to `deadline`. Wakes all sleepers that are due by then, in order of their deadlines.
    func jump(to deadline: Instant) {
        now = max(now, deadline)
        while let first = deadlines.first, first.deadline <= now {
            deadlines.removeFirst()
            unsafe sleepers.removeValue(forKey: first.sleeper)?.resume()
        }
    }
}
