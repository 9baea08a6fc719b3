import Reporting
import TimeAndChance

/// What the world knows of every update: accepted by the outbox, seen by Fleet Engine, and how long it may take.
///
/// The laws that need no more than counting are judged here; each judgement is `nil` when all is well.
struct DeliveryAccount {
    typealias Breach = (law: Law, detail: String)

    /// Of an update, or of several alike: a receiver whose clock was set back says the same of a parked vehicle again.
    private struct Fate {
        /// How often it was accepted, and how many of these Fleet Engine has.
        var accepted: Int64 = 0
        var seen: Int64 = 0
        /// Whether Fleet Engine has it from memory: when it is stored later, it comes once more.
        var wasSentUnstored = false
        /// How many updates had overruled earlier ones when it was made.
        var overrules: Int
    }

    private var updates: [UpdateKey: Fate] = [:]
    /// The last sequence that the outbox gave.
    private(set) var accepted: Int64 = 0
    /// Appends that failed or were cut off: they may have reached the disk all the same.
    private(set) var doubtful: Int64 = 0
    /// Accepted updates that Fleet Engine has.
    private var seen: Int64 = 0
    /// Updates that were not stored for sure, and that Fleet Engine has.
    private var seenDoubtful: Int64 = 0
    /// How many updates of the append in progress the outbox did not accept at their time.
    private var late: Int64 = 0
    private var duplicates = 0
    /// How many updates may be sent twice: answers that were lost, cuts, failures of the disk.
    private var allowedDuplicates = 0
    /// The newest last location so far; an overruling update begins anew.
    private var floor: UTCTime?
    /// Whether the newest last location was sent from memory, and a new process cannot know it.
    private var isFloorDoubtful = false
    /// How many updates have overruled earlier ones, and the time of the last one that did.
    private var overrules = (count: 0, time: UTCTime(millisecondsSince1970: 0))
    private var lateness = LatenessWatch()
    private(set) var ledger = Ledger()
    private let mayEvict: Bool
    private var refused: Set<UpdateKey> = []

    /// `mayEvict`: the store is small enough to be full one day.
    init(mayEvict: Bool) { self.mayEvict = mayEvict }

    // MARK: The vehicle's side

    /// An append has begun that may come to its end or not.
    mutating func begin(_ update: LocationUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool) {
        doubtful += Int64(shapePoints.count + 1)
        late = Int64(shapePoints.count { updates[UpdateKey($0)] != nil })
        if overrulingEarlier { (floor, overrules) = (nil, (overrules.count + 1, update.timeOfFix)) }
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
            if let fate = updates[key], fate.seen > 0, fate.accepted == 0 {
                (seen, seenDoubtful) = (seen + 1, seenDoubtful - 1)
            }
            updates[key]?.accepted += 1
        }
        if late > 0 { lateness.storeLate(late, at: now) }
        lateness.accept(stored.update.timeOfFix, isStored: true, overrules: overrulingEarlier, at: now)
        return range.contains(stored.sequence)
            ? nil : (.acceptedSurvives, "update \(stored.sequence) was accepted after \(accepted)")
    }

    /// The outbox did not accept the update; it goes out from memory, once.
    mutating func offer(_ update: LocationUpdate, overrulingEarlier: Bool = false, at now: Duration) {
        let key = UpdateKey(update)
        if updates[key] == nil { updates[key] = Fate(overrules: overrules.count) }
        lateness.accept(update.timeOfFix, isStored: false, overrules: overrulingEarlier, at: now)
    }

    /// The store was opened by a new process.
    mutating func open(_ found: Ledger, at now: Duration) -> Breach? {
        let range = accepted...(accepted + doubtful)
        guard range.contains(found.accepted) else {
            return (.acceptedSurvives, "\(accepted) updates were accepted, the store knows of \(found.accepted)")
        }
        (accepted, doubtful) = (found.accepted, 0)
        if isFloorDoubtful { floor = nil }
        lateness.start(at: now)
        return check(found, at: now)
    }

    /// The process has ended, however it did.
    mutating func stop() { lateness.stop() }

    mutating func check(_ found: Ledger, at now: Duration) -> Breach? {
        ledger = found
        lateness.pending(found.pending, of: found.accepted, at: now)
        guard found.balances else { return (.ledgerBalances, "\(found)") }
        guard found.delivered <= seen + seenDoubtful else {
            return (.deliveredWasSeen, "\(found.delivered) count as delivered, Fleet Engine has \(seen + seenDoubtful)")
        }
        guard found.accepted >= accepted, found.accepted <= accepted + doubtful else {
            return (.acceptedSurvives, "\(accepted) updates were accepted, the ledger says \(found.accepted)")
        }
        guard found.quarantined <= Int64(refused.count) else {
            return (
                .quarantineIsRefused,
                "\(found.quarantined) are in quarantine, Fleet Engine has refused \(refused.count)"
            )
        }
        guard found.evicted == 0 || mayEvict else {
            return (.evictionNeedsFullStore, "\(found.evicted) were evicted from a store with room")
        }
        return nil
    }

    // MARK: Fleet Engine's side

    /// Fleet Engine has taken an update with these locations.
    mutating func receive(last: UpdateKey, past: [UpdateKey], at now: Duration) -> Breach? {
        for (index, key) in (past + [last]).enumerated() {
            guard var fate = updates[key] else {
                return (.onlyWhatWasAccepted, "the position of \(key.time) was never accepted")
            }
            if fate.seen < max(1, fate.accepted) {
                if fate.accepted > 0 { seen += 1 } else { seenDoubtful += 1 }
                fate.seen += 1
                fate.wasSentUnstored = fate.accepted == 0
                updates[key] = fate
            } else if index < past.count, fate.wasSentUnstored, fate.accepted > 0 {
                updates[key]?.wasSentUnstored = false
            } else if index < past.count, fate.accepted > 0 {
                duplicates += 1
            }
        }
        lateness.receive(last.time, at: now)
        // On its way when it was overruled.
        if let fate = updates[last], fate.overrules < overrules.count, last.time > overrules.time { return nil }
        if let floor, last.time < floor {
            return (.neverBackwards, "the last location is of \(last.time), the one before was of \(floor)")
        }
        if floor.map({ $0 < last.time }) ?? true {
            (floor, isFloorDoubtful) = (last.time, updates[last]?.accepted == 0)
        }
        guard duplicates <= allowedDuplicates else {
            return (.fewDuplicates, "\(duplicates) past locations came twice, \(allowedDuplicates) may have")
        }
        return nil
    }

    /// Fleet Engine refuses the update for good.
    mutating func refuse(_ key: UpdateKey, at now: Duration) {
        refused.insert(key)
        lateness.refuse(key.time, at: now)
    }

    /// Whether Fleet Engine has refused the update for good.
    func isRefused(_ key: UpdateKey) -> Bool { refused.contains(key) }

    /// Something has happened after which so many updates may be sent once more.
    mutating func allowDuplicates(_ count: Int) { allowedDuplicates += count }

    // MARK: Time

    mutating func trouble(until time: Duration) { lateness.trouble(until: time) }

    mutating func privateTime(until end: Duration) { lateness.privateTime(until: end) }

    /// A law on time that will be broken before the next thing happens, at `next`.
    func overdue(before next: Duration) -> Breach? { lateness.overdue(before: next) }

    /// Everything accepted is delivered or quarantined.
    var isDrained: Bool { ledger.pending == 0 && lateness.isCaughtUp }

    /// Accepted updates that Fleet Engine has never seen and that are not accounted for otherwise.
    var missing: Int64 {
        let unseen = updates.values.reduce(Int64(0)) { $0 + max(0, $1.accepted - $1.seen) }
        return unseen - ledger.evicted - ledger.quarantined
    }
}
