import Reporting
import TimeAndRandomness

/// The simulation's own account of every update that the outbox accepted or Fleet Engine received.
///
/// The account judges the laws about numbers, and passes events to `LatenessWatch`, which judges the laws about time. A
/// judgement is `nil` if no law is broken.
struct DeliveryAccount {
    typealias Breach = (law: Law, detail: String)

    /// The fate of an update, or of several equal updates: a receiver whose clock was set back repeats the positions of
    /// a parked vehicle.
    private struct Fate {
        /// The number of times that the outbox has accepted the update.
        var accepted: Int64 = 0
        /// The number of times that Fleet Engine has received the update.
        var received: Int64 = 0
        /// Whether the update was sent from memory. If it is stored later, it is sent again.
        var wasSentUnstored = false
        /// The number of overruling updates that preceded this one.
        var overrules: Int
    }

    private var updates: [UpdateKey: Fate] = [:]
    /// The outbox's last sequence number.
    private(set) var accepted: Int64 = 0
    /// The number of updates that may be on the disk although their appends failed or were cut off.
    private(set) var doubtful: Int64 = 0
    /// The number of accepted updates that Fleet Engine has.
    private var received: Int64 = 0
    /// The number of updates that Fleet Engine has although they may not be stored.
    private var receivedDoubtful: Int64 = 0
    /// The number of shape points in the current append that the outbox had failed to store earlier.
    private var lateShapePoints: Int64 = 0
    private var duplicates = 0
    /// The number of updates that may be sent twice after lost answers, power cuts and disk failures.
    private var allowedDuplicates = 0
    /// The time of the newest last location; `nil` after an overruling update.
    private var newestTime: UTCTime?
    /// Whether the newest last location was sent from memory, so that a new process can't know it.
    private var isNewestTimeDoubtful = false
    /// The number of overruling updates, and the time of the last one.
    private var overrules = (count: 0, time: UTCTime(millisecondsSince1970: 0))
    private var lateness = LatenessWatch()
    private(set) var ledger = Ledger()
    private let mayEvict: Bool
    private var rejected: Set<UpdateKey> = []

    /// - Parameter mayEvict: whether the outbox is small enough to become full.
    init(mayEvict: Bool) { self.mayEvict = mayEvict }

    // MARK: The vehicle's side

    /// Records the start of an append, which may fail or be cut off.
    mutating func beginAppend(of update: LocationUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool) {
        doubtful += Int64(shapePoints.count + 1)
        lateShapePoints = Int64(shapePoints.count { updates[UpdateKey($0)] != nil })
        if overrulingEarlier { (newestTime, overrules) = (nil, (overrules.count + 1, update.timeOfFix)) }
        for key in (shapePoints + [update]).map(UpdateKey.init) where updates[key] == nil {
            updates[key] = Fate(overrules: overrules.count)
        }
    }

    mutating func accept(
        _ stored: StoredUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool, at now: Duration
    ) -> Breach? {
        let range = (accepted + Int64(shapePoints.count + 1))...(accepted + doubtful)
        defer { (accepted, doubtful) = (stored.sequence, 0) }
        for key in (shapePoints + [stored.update]).map(UpdateKey.init) {
            if let fate = updates[key], fate.received > 0, fate.accepted == 0 {
                (received, receivedDoubtful) = (received + 1, receivedDoubtful - 1)
            }
            updates[key]?.accepted += 1
        }
        if lateShapePoints > 0 { lateness.storeLate(lateShapePoints, at: now) }
        lateness.accept(stored.update.timeOfFix, isStored: true, overrules: overrulingEarlier, at: now)
        return range.contains(stored.sequence)
            ? nil : (.acceptedSurvives, "update \(stored.sequence) was accepted after \(accepted)")
    }

    /// Records that the outbox could not store the update, which is sent from memory once.
    mutating func recordNotStored(_ update: LocationUpdate, overrulingEarlier: Bool = false, at now: Duration) {
        let key = UpdateKey(update)
        if updates[key] == nil { updates[key] = Fate(overrules: overrules.count) }
        lateness.accept(update.timeOfFix, isStored: false, overrules: overrulingEarlier, at: now)
    }

    /// Judges the ledger that a new process finds.
    mutating func open(_ found: Ledger, at now: Duration) -> Breach? {
        let range = accepted...(accepted + doubtful)
        guard range.contains(found.accepted) else {
            return (.acceptedSurvives, "\(accepted) updates were accepted, but the store has \(found.accepted)")
        }
        (accepted, doubtful) = (found.accepted, 0)
        if isNewestTimeDoubtful { newestTime = nil }
        lateness.start(at: now)
        return check(found, at: now)
    }

    mutating func stop() { lateness.stop() }

    mutating func check(_ found: Ledger, at now: Duration) -> Breach? {
        ledger = found
        lateness.recordPending(found.pending, of: found.accepted, at: now)
        guard found.balances else { return (.ledgerBalances, "\(found)") }
        guard found.delivered <= received + receivedDoubtful else {
            return (
                .deliveredWasSeen,
                "\(found.delivered) count as delivered, but Fleet Engine has \(received + receivedDoubtful)"
            )
        }
        guard found.accepted >= accepted, found.accepted <= accepted + doubtful else {
            return (.acceptedSurvives, "\(accepted) updates were accepted, but the ledger has \(found.accepted)")
        }
        guard found.quarantined <= Int64(rejected.count) else {
            return (
                .quarantineIsRefused,
                "\(found.quarantined) are quarantined, but Fleet Engine has rejected \(rejected.count)"
            )
        }
        guard found.evicted == 0 || mayEvict else {
            return (.evictionNeedsFullStore, "\(found.evicted) were evicted from a store with room")
        }
        return nil
    }

    // MARK: Fleet Engine's side

    /// Records that Fleet Engine has accepted a request with these locations.
    mutating func receive(last: UpdateKey, past: [UpdateKey], at now: Duration) -> Breach? {
        for (index, key) in (past + [last]).enumerated() {
            guard var fate = updates[key] else {
                return (.onlyWhatWasAccepted, "the position of \(key.time) was never accepted")
            }
            if fate.received < max(1, fate.accepted) {
                if fate.accepted > 0 { received += 1 } else { receivedDoubtful += 1 }
                fate.received += 1
                fate.wasSentUnstored = fate.accepted == 0
                updates[key] = fate
            } else if index < past.count, fate.wasSentUnstored, fate.accepted > 0 {
                updates[key]?.wasSentUnstored = false
            } else if index < past.count, fate.accepted > 0 {
                duplicates += 1
            }
        }
        lateness.receive(last.time, at: now)
        // The request was in progress when its position was overruled.
        if let fate = updates[last], fate.overrules < overrules.count, last.time > overrules.time { return nil }
        if let newestTime, last.time < newestTime {
            return (.neverBackwards, "the last location is of \(last.time), but the previous one was of \(newestTime)")
        }
        if newestTime.map({ $0 < last.time }) ?? true {
            (newestTime, isNewestTimeDoubtful) = (last.time, updates[last]?.accepted == 0)
        }
        guard duplicates <= allowedDuplicates else {
            return (.fewDuplicates, "\(duplicates) past locations came twice, but only \(allowedDuplicates) may")
        }
        return nil
    }

    /// Records that Fleet Engine rejects the update permanently.
    mutating func reject(_ key: UpdateKey, at now: Duration) {
        rejected.insert(key)
        lateness.reject(key.time, at: now)
    }

    func isRejected(_ key: UpdateKey) -> Bool { rejected.contains(key) }

    /// Records an event after which `count` updates may be sent twice.
    mutating func allowDuplicates(_ count: Int) { allowedDuplicates += count }

    // MARK: Time

    mutating func allowDelay(until time: Duration) { lateness.allowDelay(until: time) }

    mutating func beginPrivateTime(until end: Duration) { lateness.beginPrivateTime(until: end) }

    /// Returns the law about time that will be broken before `next`, the time of the next event.
    func overdue(before next: Duration) -> Breach? { lateness.overdue(before: next) }

    /// Whether every accepted update is delivered or quarantined.
    var isDrained: Bool { ledger.pending == 0 && lateness.isCaughtUp }

    /// The number of accepted updates that Fleet Engine has never received, and that are neither evicted nor
    /// quarantined.
    var missing: Int64 {
        let notReceived = updates.values.reduce(Int64(0)) { $0 + max(0, $1.accepted - $1.received) }
        return notReceived - ledger.evicted - ledger.quarantined
    }
}
