import LinuxPlatform

/// When a line that is missing or lost is tried again: at once and often at first, for a re-plugged receiver should be
/// back before anyone notices; then ever more rarely, up to every 5 seconds, for ever.
struct ReopenSchedule: Sendable, Hashable {
    private static let usualDelays: [Duration] = [
        .milliseconds(250), .milliseconds(250), .milliseconds(250), .milliseconds(250), .milliseconds(500), .seconds(1),
        .seconds(2), .seconds(5),
    ]

    private let delays: [Duration]
    private var attempt = 0

    /// The last of `delays` is for all further attempts.
    init(delays: [Duration] = usualDelays) { self.delays = delays }

    /// The wait before the next attempt; each call counts as one.
    mutating func nextDelay() -> Duration {
        defer { attempt = min(attempt + 1, delays.count - 1) }
        return delays[attempt]
    }

    /// The line has proved itself: after the next loss the schedule starts over.
    mutating func reset() { attempt = 0 }
}

/// The wait before a line is opened again: until its time is up, or until something appears where the line was.
struct ReopenWait {
    /// A moment in which udev sets owner and mode of a new device; and the least time between two looks, however much
    /// goes on in a folder.
    private static let settling = Duration.milliseconds(100)

    private var schedule: ReopenSchedule
    private var watch: DirectoryWatch?

    init(schedule: ReopenSchedule) { self.schedule = schedule }

    /// The line has proved itself: after the next loss the schedule starts over.
    mutating func lineProvedGood() {
        schedule.reset()
        watch = nil
    }

    /// Blocks until the line is worth another attempt; false when stopped.
    mutating func wait(for endpoint: any ReceiverEndpoint, unless stop: EventDescriptor) throws(SystemError) -> Bool {
        if watch == nil {
            watch = endpoint.watchForReturn()
            // It may have come back just before it was watched for.
            if watch != nil { return try settle(unless: stop) }
        }
        let deadline = MonotonicTime.now + schedule.nextDelay()
        while true {
            switch try poll(watch?.raw, within: deadline - MonotonicTime.now, unless: stop) {
            case .stopped: return false
            case .timedOut: return true
            case .ready:
                let isBack = watch?.takeArrival() ?? false
                guard try settle(unless: stop) else { return false }
                if isBack || MonotonicTime.now >= deadline { return true }
            }
        }
    }

    private func settle(unless stop: EventDescriptor) throws(SystemError) -> Bool {
        try poll(nil, within: Self.settling, unless: stop) != .stopped
    }
}
