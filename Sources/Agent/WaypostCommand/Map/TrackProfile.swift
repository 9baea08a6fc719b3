import GNSS

/// Speed and altitude over time in bounded memory: lows and highs in slots of time that grow as the track gets longer.
struct TrackProfile: Sendable {
    /// The lowest and the highest of some values.
    struct Extent: Sendable, Hashable {
        private(set) var low: Double
        private(set) var high: Double

        init(_ value: Double) { (low, high) = (value, value) }

        mutating func include(_ other: Self) { (low, high) = (min(low, other.low), max(high, other.high)) }
    }

    struct Slot: Sendable, Hashable {
        /// Slots since 1970.
        var number: Int64
        /// Metres per second.
        var speed: Extent?
        /// Metres above mean sea level.
        var altitude: Extent?

        mutating func include(_ other: Self) {
            speed = Self.joined(speed, other.speed)
            altitude = Self.joined(altitude, other.altitude)
        }

        private static func joined(_ one: Extent?, _ other: Extent?) -> Extent? {
            guard var joined = one, let other else { return one ?? other }
            joined.include(other)
            return joined
        }
    }

    /// A time without a break.
    struct Run: Sendable, Hashable {
        var from: UTCTime
        var to: UTCTime
        /// In order of time.
        var slots: [Slot]
    }

    private(set) var runs: [Run] = []
    private(set) var slotMilliseconds: Int64 = 100
    private var slotCount = 0
    private let capacity: Int

    /// `capacity` is how many slots are kept at most.
    init(capacity: Int = 8192) { self.capacity = capacity }

    /// Adds the next fix; `beginsRun` where it does not follow the one before.
    mutating func add(_ fix: Fix, beginsRun: Bool) {
        let time = fix.timeOfFix
        let slot = Slot(
            number: Self.quotient(time.millisecondsSince1970, slotMilliseconds),
            speed: fix.speedMetersPerSecond.map { Extent($0) }, altitude: fix.altitudeMeters.map { Extent($0) })
        if beginsRun || runs.isEmpty {
            runs.append(Run(from: time, to: time, slots: [slot]))
            slotCount += 1
        } else {
            slotCount += runs[runs.count - 1].append(slot, at: time)
        }
        while slotCount > capacity { coarsen() }
    }

    /// Makes slots twice as long; runs that are nearer to each other than a slot become one.
    private mutating func coarsen() {
        slotMilliseconds *= 2
        var joined: [Run] = []
        for run in runs {
            var run = run
            run.slots = run.slots.reduce(into: []) { slots, slot in
                var slot = slot
                slot.number >>= 1
                if slots.last?.number == slot.number {
                    slots[slots.count - 1].include(slot)
                } else {
                    slots.append(slot)
                }
            }
            let pause = joined.last.map { $0.to.duration(to: run.from) } ?? .seconds(Int64.max / 2)
            if pause < .milliseconds(slotMilliseconds), pause > .milliseconds(-slotMilliseconds) {
                joined[joined.count - 1].merge(run)
            } else {
                joined.append(run)
            }
        }
        runs = joined
        slotCount = joined.reduce(0) { $0 + $1.slots.count }
    }

    private static func quotient(_ number: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension TrackProfile.Run {
    /// Adds a slot; tells how many more there are.
    fileprivate mutating func append(_ slot: TrackProfile.Slot, at time: UTCTime) -> Int {
        let count = slots.count
        if let last = slots.last, last.number > slot.number {
            merge(Self(from: time, to: time, slots: [slot]))
        } else if slots.last?.number == slot.number {
            slots[count - 1].include(slot)
        } else {
            slots.append(slot)
        }
        to = max(to, time)
        return slots.count - count
    }

    /// Takes in another run, whose times may lie among these.
    fileprivate mutating func merge(_ other: Self) {
        (from, to) = (min(from, other.from), max(to, other.to))
        var merged: [TrackProfile.Slot] = []
        for slot in (slots + other.slots).sorted(by: { $0.number < $1.number }) {
            if merged.last?.number == slot.number {
                merged[merged.count - 1].include(slot)
            } else {
                merged.append(slot)
            }
        }
        slots = merged
    }
}
