import LinuxPlatform

/// The schedule for reopening a missing or lost line. Attempts are frequent at first, because a receiver may be
/// replugged, then less frequent, and finally every 5 seconds, forever.
struct ReopenSchedule: Sendable, Hashable {
    private static let usualDelays: [Duration] = [
        .milliseconds(250), .milliseconds(250), .milliseconds(250), .milliseconds(250), .milliseconds(500), .seconds(1),
        .seconds(2), .seconds(5),
    ]

    private let delays: [Duration]
    private var attempt = 0

    /// Creates a schedule that repeats the last of `delays` forever.
    init(delays: [Duration] = usualDelays) { self.delays = delays }

    /// Returns the delay before the next attempt. Each call advances the schedule.
    mutating func nextDelay() -> Duration {
        defer { attempt = min(attempt + 1, delays.count - 1) }
        return delays[attempt]
    }

    mutating func reset() { attempt = 0 }
}

/// The wait before a line is reopened. It ends after the scheduled delay, or as soon as the line's device appears.
struct ReopenWait {
    /// The time that udev needs to set the owner and mode of a new device. This time also limits how often a busy
    /// directory is checked.
    private static let settlingTime = Duration.milliseconds(100)

    private var schedule: ReopenSchedule
    private var watch: DirectoryWatch?

    init(schedule: ReopenSchedule) { self.schedule = schedule }

    /// Records that sentences arrived on the line, so that the schedule starts over after the next loss.
    mutating func recordGoodLine() {
        schedule.reset()
        watch = nil
    }

    /// Blocks until opening the line should be tried again. Returns `false` if stopped.
    mutating func wait(for endpoint: any ReceiverEndpoint, unless stop: EventDescriptor) throws(SystemError) -> Bool {
        if watch == nil {
            watch = endpoint.makeDeviceWatch()
            // The device may have appeared just before the watch began, so one attempt is made at once.
            if watch != nil { return try waitToSettle(unless: stop) }
        }
        let deadline = MonotonicTime.now + schedule.nextDelay()
        while true {
            switch try poll(watch?.raw, within: deadline - MonotonicTime.now, unless: stop) {
            case .stopped: return false
            case .timedOut: return true
            case .ready:
                let isBack = watch?.takeArrival() ?? false
                guard try waitToSettle(unless: stop) else { return false }
                if isBack || MonotonicTime.now >= deadline { return true }
            }
        }
    }

    private func waitToSettle(unless stop: EventDescriptor) throws(SystemError) -> Bool {
        try poll(nil, within: Self.settlingTime, unless: stop) != .stopped
    }
}
