import GNSS
import TimeAndChance

/// Speed and altitude over time in bounded memory: lows and highs in slots of time that grow as the track gets longer.
struct TrackProfile: Sendable {
    /// The lowest and the highest of some values.
    struct Extent: Sendable, Hashable {
        private(set) var low: Double
        private(set) var high: Double

        mutating func include(_ other: Self) {
            low = min(low, other.low)
            high = max(high, other.high)
        }
    }

    struct Slot: Sendable, Hashable {
        /// Slots since 1970.
        var number: Int64
        /// Where its first fix is, in degrees.
        let latitude: Double
        let longitude: Double
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
            number: Self.quotient(time.millisecondsSince1970, slotMilliseconds), latitude: fix.latitude,
            longitude: fix.longitude,
            speed: fix.speedMetersPerSecond.map { Extent(low: $0, high: $0) },
            altitude: fix.altitudeMeters.map { Extent(low: $0, high: $0) })
        if beginsRun || runs.isEmpty {
            runs.append(Run(from: time, to: time, slots: [slot]))
            slotCount += 1
        } else {
            slotCount += runs[runs.count - 1].append(slot, at: time)
        }
        if slotCount > capacity { shorten() }
    }

    /// Runs that are nearer to each other than a slot become one; where that is not enough, slots become twice as long.
    ///
    /// A quarter of the room is free then, so that what a fix costs stays small. Slots as long as the whole track need
    /// no room: so they never get much longer than that, however often it breaks.
    private mutating func shorten() {
        join(halvingNumbers: false)
        while slotCount > capacity - capacity / 4 {
            slotMilliseconds *= 2
            join(halvingNumbers: true)
        }
    }

    private mutating func join(halvingNumbers isCoarser: Bool) {
        var joined: [Run] = []
        for run in runs {
            var run = run
            if isCoarser { for index in run.slots.indices { run.slots[index].number >>= 1 } }
            let pause = joined.last.map { $0.to.duration(to: run.from) } ?? .seconds(Int64.max / 2)
            if pause < .milliseconds(slotMilliseconds), pause > .milliseconds(-slotMilliseconds) {
                joined[joined.count - 1].takeIn(run)
            } else {
                joined.append(run)
            }
        }
        for index in joined.indices { joined[index].settle() }
        runs = joined
        slotCount = joined.reduce(0) { $0 + $1.slots.count }
    }

    private static func quotient(_ number: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension TrackProfile.Run {
    /// Adds a slot, whose time may lie among these; tells how many more there are.
    fileprivate mutating func append(_ slot: TrackProfile.Slot, at time: UTCTime) -> Int {
        from = min(from, time)
        to = max(to, time)
        var low = 0
        var place = slots.count
        if let last = slots.last, last.number >= slot.number {
            while low < place {
                let middle = (low + place) / 2
                if slots[middle].number < slot.number { low = middle + 1 } else { place = middle }
            }
        }
        guard place < slots.count, slots[place].number == slot.number else {
            slots.insert(slot, at: place)
            return 1
        }
        slots[place].include(slot)
        return 0
    }

    /// Takes in another run, whose times may lie among these; to be settled once all have been taken in.
    fileprivate mutating func takeIn(_ other: Self) {
        from = min(from, other.from)
        to = max(to, other.to)
        slots += other.slots
    }

    /// Puts the slots in order, each number once.
    fileprivate mutating func settle() {
        let isInOrder = zip(slots, slots.dropFirst()).allSatisfy { $0.number <= $1.number }
        let ordered = isInOrder ? slots : slots.sorted { $0.number < $1.number }
        slots = ordered.reduce(into: []) { settled, slot in
            if settled.last?.number == slot.number {
                settled[settled.count - 1].include(slot)
            } else {
                settled.append(slot)
            }
        }
    }
}
