import TimeAndChance

/// Puts the sentences of an epoch together and decides when it is complete.
///
/// An epoch gives its fix once: when the learned last sentence has come, when the line falls quiet, when another time
/// begins, or at the end of input.
struct EpochAssembler {
    private(set) var epoch = Epoch()
    /// What became of the current epoch; `nil` while it is not complete.
    private(set) var completion: EpochCompletion?
    /// What became of the epoch before it; `nil` when that never had a time.
    private(set) var previousCompletion: EpochCompletion?
    /// Counts the epochs begun.
    private(set) var serial = 0
    /// Whether the line has been quiet since: what has no time of its own then belongs to the next epoch.
    private var isClosed = false
    private var cycle = CycleLearner()
    private(set) var calendar: FixCalendar
    /// The heading stated last, until a fix takes it: a compass goes at its own pace, beside the epochs.
    private(set) var bodyHeadingDegrees: Double?
    private var earlierHDOP = EarlierHDOP()
    /// Fixes from before the first date.
    private var undated: [Fix] = []
    private var recent = RecentInstants()
    private(set) var rhythm = EpochRhythm()
    private(set) var counts = EpochCounts()
    /// The kinds of warning that the decoder has not taken yet.
    var warnings = WarningSet()

    /// No receiver sends a sentence so late.
    private static let maximumDelayMilliseconds: Int32 = 1000
    /// Sentences that state one position with more or fewer decimals differ by less, in degrees: a unit in the fourth
    /// decimal of a minute.
    private static let rounding = 2e-6
    /// Fixes kept until the first date comes; the oldest go first.
    private static let undatedCapacity = 256

    init(dates: NMEADecoderOptions.Dates) {
        calendar = FixCalendar(dates: dates)
    }

    /// Fixes that still wait for a date.
    var undatedCount: Int { undated.count }
    /// Whether a quiet line would complete an epoch.
    var isWaiting: Bool { completion == nil && epoch.hasPosition }

    @inline(__always)
    mutating func take(
        _ sentence: PositionSentence, _ type: SentenceType, _ talker: TalkerGroup, _ emit: (Fix) -> Void
    ) {
        if let time = sentence.timeOfDay {
            if !epoch.isTime(time), epoch.has(type) || !joins(sentence, type, at: time) { enter(time, emit) }
        } else if sentence.status == .valid || sentence.status == .unstated {
            if isClosed { return }
        } else if !epoch.lacksTime {
            begin(emit)
            epoch.lacksTime = true
        }
        epoch.take(sentence, type, talker)
        if sentence.status == .void, let date = sentence.date, let time = sentence.timeOfDay {
            calendar.considerVoid(DateSentence(timeOfDay: time, date: date))
        }
        advance(type, emit)
    }

    @inline(__always)
    mutating func take(_ sentence: MotionSentence, _ emit: (Fix) -> Void) {
        guard enterUntimed(emit) else { return }
        if sentence.status != .void, sentence.status != .excluded { epoch.take(sentence) }
        advance(.vtg, emit)
    }

    @inline(__always)
    mutating func take(_ sentence: SatellitesSentence, _ emit: (Fix) -> Void) {
        guard enterUntimed(emit) else { return }
        epoch.take(sentence)
        advance(.gsa, emit)
    }

    mutating func take(_ sentence: AccuracySentence, _ type: SentenceType, _ emit: (Fix) -> Void) {
        if let time = sentence.timeOfDay {
            if !epoch.isTime(time) {
                if let current = epoch.timeOfDay, time.milliseconds(since: current) < 0 {
                    return  // about an epoch that is over
                }
                enter(time, emit)
            }
        } else {
            guard enterUntimed(emit) else { return }
        }
        epoch.take(sentence, type)
        advance(type, emit)
    }

    mutating func take(_ sentence: HeadingSentence) {
        bodyHeadingDegrees = sentence.headingDegrees ?? bodyHeadingDegrees
    }

    /// The time of transmission that a tag block states: it dates fixes while nothing better does.
    ///
    /// It is about the sentence to come, which may begin another epoch.
    mutating func noteTransmission(at time: UTCTime) {
        calendar.noteTransmission(at: time, ofNextEpoch: epoch.lastPlace != nil)
    }

    /// A date from a sentence that does not vouch for a fix.
    mutating func take(_ sentence: DateSentence, _ emit: (Fix) -> Void) {
        calendar.consider(sentence)
        guard !undated.isEmpty, let time = rhythm.previousTime else { return }
        if calendar.instant(of: time, dated: nil) != nil { releaseUndated(emit) }
    }

    /// Completes the epoch because the line is quiet: what comes next begins another.
    mutating func lineIsQuiet(_ emit: (Fix) -> Void) {
        guard epoch.hasPosition else { return }  // what is said so far may still become a fix
        complete(emit)
        isClosed = true
    }

    /// Completes the epoch because nothing more will come; fixes that never got a date are dropped.
    mutating func finish(_ emit: (Fix) -> Void) {
        begin(emit)
        counts.undated += undated.count
        undated.removeAll(keepingCapacity: true)
    }

    /// Goes to the epoch of `time`, which is not the current one.
    @inline(__always)
    private mutating func enter(_ time: TimeOfDay, _ emit: (Fix) -> Void) {
        if epoch.timeOfDay != nil || epoch.lacksTime { begin(emit) }
        epoch.timeOfDay = time
    }

    /// Whether `sentence` belongs to the current epoch although it states another time: a sentence stamped with its
    /// time of sending, or in local time.
    ///
    /// Of two times within one interval the earlier is the solution's. Of two time zones that of the dated sentence
    /// counts, or else that of GGA.
    @inline(never)
    private mutating func joins(_ sentence: PositionSentence, _ type: SentenceType, at time: TimeOfDay) -> Bool {
        guard let current = epoch.timeOfDay else { return false }
        let difference = time.milliseconds(since: current)
        if abs(difference) < min(rhythm.intervalMilliseconds, Self.maximumDelayMilliseconds) - TimeOfDay.tolerance {
            // The next solution of a parked receiver may be as near as its last digit.
            guard epoch.isSameBurst(sentence, within: 0) else { return false }
            epoch.add(otherTime: time, isBetter: difference < 0)
            return true
        }
        guard TimeOfDay.isZoneOffset(difference), epoch.isSameBurst(sentence, within: Self.rounding) else {
            return false
        }
        warnings.insert(.localTime)
        let rank: UInt8 = sentence.date != nil && sentence.status == .valid ? 3 : type == .gga || type == .gns ? 2 : 0
        epoch.add(otherTime: time, isBetter: rank > epoch.clockRank)
        return true
    }

    /// Whether a sentence without a time is of use: the rest of an epoch that a pause has cut short is not, and must
    /// not be taken for the beginning of the next.
    @inline(__always)
    private mutating func enterUntimed(_ emit: (Fix) -> Void) -> Bool {
        guard isClosed else { return true }
        if cycle.isEnding(missingAfter: epoch.lastPlace) { return false }
        begin(emit)
        return true
    }

    /// Counts a sentence; completes the epoch when it is the learned last one of those that add something.
    @inline(__always)
    private mutating func advance(_ type: SentenceType, _ emit: (Fix) -> Void) {
        guard let place = epoch.count(type) else { return }
        if completion == nil, cycle.endsEpoch(place) { complete(emit) }
    }

    /// Completes the epoch, learns from it, and begins the next.
    private mutating func begin(_ emit: (Fix) -> Void) {
        complete(emit)
        if epoch.timeOfDay != nil, let place = epoch.lastPlace, epoch.hasPosition {
            cycle.epochEnded(with: place, byPause: isClosed)
        }
        if let hdop = epoch.values.hdop.value, let time = epoch.timeOfDay {
            earlierHDOP = EarlierHDOP(value: hdop, time: time)
        }
        epoch = Epoch()
        previousCompletion = completion
        completion = nil
        isClosed = false
        serial += 1
        calendar.epochBegan()
    }

    /// Gives the epoch's fix, once.
    private mutating func complete(_ emit: (Fix) -> Void) {
        guard completion == nil, let time = epoch.timeOfDay else { return }
        counts.all += 1
        switch epoch.verdict(earlierHDOP: earlierHDOP.value(at: time)) {
        case .nothing: completion = .nothing
        case .void:
            counts.void += 1
            completion = epoch.claims.isExcluded ? .excluded : .void
            if epoch.claims.isExcluded { warnings.insert(.simulatedOrManual) }
        case .fix(let fix) where fix.latitude == 0 && fix.longitude == 0:
            counts.void += 1
            completion = .nullIsland
            warnings.insert(.nullIsland)
        case .fix(var fix):
            fix.bodyHeadingDegrees = bodyHeadingDegrees
            completion = date(fix, at: time, emit)
        }
        bodyHeadingDegrees = nil
    }

    /// Gives `fix` its date and hands it out, or keeps it until there is a date.
    private mutating func date(_ fix: Fix, at time: TimeOfDay, _ emit: (Fix) -> Void) -> EpochCompletion {
        rhythm.note(time)
        var fix = fix
        let instant = calendar.instant(of: time, dated: epoch.dated)
        if let warning = calendar.takeWarning() { warnings.insert(warning) }
        guard let instant else {
            if undated.count == Self.undatedCapacity {
                undated.removeFirst()
                counts.undated += 1
            }
            undated.append(fix)
            return .undated
        }
        if !undated.isEmpty { releaseUndated(emit) }
        fix.timeOfFix = instant
        return deliver(fix, emit)
    }

    private mutating func releaseUndated(_ emit: (Fix) -> Void) {
        for index in undated.indices {
            var fix = undated[index]
            let time = TimeOfDay(milliseconds: Int32(fix.timeOfFix.millisecondsSince1970))
            guard let instant = calendar.instant(ofEarlier: time) else { return }
            fix.timeOfFix = instant
            deliver(fix, emit)
        }
        undated.removeAll(keepingCapacity: true)
    }

    @discardableResult
    private mutating func deliver(_ fix: Fix, _ emit: (Fix) -> Void) -> EpochCompletion {
        guard recent.add(fix.timeOfFix) else {
            counts.repeated += 1
            return .repeated
        }
        counts.fixes += 1
        emit(fix)
        return .fix
    }
}

/// The HDOP stated last before the current epoch: many receivers don't state it in each.
private struct EarlierHDOP {
    /// 0 if none was stated.
    private(set) var value = 0.0
    private(set) var time = TimeOfDay(milliseconds: 0)

    /// For how long an HDOP holds; the constellation changes slowly, obstacles beside the road don't.
    private static let lifeMilliseconds: Int32 = 10_000

    /// The value that still holds at `now`; 0 if none does.
    func value(at now: TimeOfDay) -> Double {
        abs(now.milliseconds(since: time)) <= Self.lifeMilliseconds ? value : 0
    }
}

/// The times of the fixes that went out last: a time that comes again is a frozen clock or a repeated epoch.
private struct RecentInstants {
    private var milliseconds = InlineArray<8, Int64>(repeating: .min)
    private var next = 0

    /// Adds the time of a fix. Returns whether it is new.
    mutating func add(_ instant: UTCTime) -> Bool {
        for index in milliseconds.indices where milliseconds[index] == instant.millisecondsSince1970 { return false }
        milliseconds[next] = instant.millisecondsSince1970
        next = (next + 1) % milliseconds.count
        return true
    }
}

/// How often a receiver's epochs come.
struct EpochRhythm {
    private(set) var previousTime: TimeOfDay?
    /// Time between the last two epochs with a position.
    private(set) var intervalMilliseconds: Int32 = 1000

    mutating func note(_ time: TimeOfDay) {
        if let previousTime {
            let interval = abs(time.milliseconds(since: previousTime))
            if (20...60_000).contains(interval) { intervalMilliseconds = interval }
        }
        previousTime = time
    }
}

/// Learns with which sentence a receiver's epochs end, so that a fix need not wait for the next epoch to begin.
struct CycleLearner {
    /// A sentence's place in an epoch: the `ordinal`th of its type, as receivers repeat GSA and GGA by constellation.
    struct Place: Hashable {
        let type: SentenceType
        let ordinal: UInt8
    }

    private var candidate: Place?
    private var agreements = 0
    /// Epochs in a row that a pause has ended before the trusted sentence came.
    private var pauses = 0
    /// Epochs in a row that must end alike before the ending is trusted.
    private static let needed = 2

    /// Whether an epoch of this receiver is complete with the sentence at `place`.
    @inline(__always)
    func endsEpoch(_ place: Place) -> Bool { agreements >= Self.needed && place == candidate }

    /// Whether the trusted ending is still to come when `place` came last.
    func isEnding(missingAfter place: Place?) -> Bool { agreements >= Self.needed && place != candidate }

    /// Tells with which useful sentence an epoch really ended; one that ends differently unlearns. A pause within an
    /// epoch, as a busy machine makes one, cuts it short and says nothing about the receiver, unless it comes again.
    mutating func epochEnded(with place: Place, byPause: Bool = false) {
        if place == candidate {
            agreements = min(agreements + 1, Self.needed)
            pauses = 0
        } else if byPause, agreements >= Self.needed, pauses < Self.needed {
            pauses += 1
        } else {
            candidate = place
            agreements = 1
            pauses = 0
        }
    }
}
