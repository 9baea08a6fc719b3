import TimeAndChance

/// Combines the sentences of an epoch and decides when it is complete.
///
/// An epoch emits its fix once: after the sentence that is known to be the last of this receiver's epochs, when the
/// line goes quiet, when a sentence has another time, or at the end of input.
struct EpochAssembler {
    private(set) var epoch = Epoch()
    /// The outcome of the current epoch; `nil` until it is complete.
    private(set) var completion: EpochCompletion?
    /// The outcome of the previous epoch; `nil` if it had no time.
    private(set) var previousCompletion: EpochCompletion?
    /// The number of epochs that have begun.
    private(set) var serial = 0
    /// Whether the line has gone quiet after the epoch. Sentences without a time then belong to the next epoch.
    private var isClosed = false
    private var cycle = CycleLearner()
    private(set) var calendar: FixCalendar
    /// The last heading that no fix has used yet. A compass sends at its own rate, independent of epochs.
    private(set) var bodyHeadingDegrees: Double?
    private var earlierHDOP = EarlierHDOP()
    /// Fixes that wait for the first date.
    private var undated: [Fix] = []
    private var recent = RecentInstants()
    private(set) var rhythm = EpochRhythm()
    private(set) var counts = EpochCounts()
    /// The kinds of warning that the decoder hasn't counted yet.
    var warnings = WarningSet()

    /// The maximum delay with which receivers send a sentence.
    private static let maximumDelayMilliseconds: Int32 = 1000
    /// The maximum difference in degrees due to rounding between sentences: a unit of the fourth decimal of a minute.
    private static let rounding = 2e-6
    /// The maximum number of fixes that wait for the first date; the oldest are dropped.
    private static let undatedCapacity = 256

    init(dates: NMEADecoderOptions.Dates) {
        calendar = FixCalendar(dates: dates)
    }

    /// The number of fixes that wait for a date.
    var undatedCount: Int { undated.count }
    /// Whether the epoch has a position and will be complete when the line goes quiet.
    var isWaiting: Bool { completion == nil && epoch.hasPosition }

    @inline(__always)
    mutating func take(
        _ sentence: PositionSentence, _ type: SentenceType, _ talker: TalkerGroup, _ emit: (Fix) -> Void
    ) {
        if let time = sentence.timeOfDay {
            if !epoch.hasTime(time), epoch.has(type) || !join(sentence, type, at: time) { enter(time, emit) }
        } else if sentence.status == .valid || sentence.status == .unconfirmed {
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
            if !epoch.hasTime(time) {
                if let current = epoch.timeOfDay, time.milliseconds(since: current) < 0 {
                    return  // the sentence belongs to a past epoch
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

    /// Records the time of transmission from a tag block, which dates fixes if there is no better date.
    ///
    /// The time applies to the next sentence, which may begin another epoch.
    mutating func recordTransmission(at time: UTCTime) {
        calendar.recordTransmission(at: time, ofNextEpoch: epoch.lastPlace != nil)
    }

    /// Adds a date from a sentence without a position.
    mutating func take(_ sentence: DateSentence, _ emit: (Fix) -> Void) {
        calendar.consider(sentence)
        guard !undated.isEmpty, let time = rhythm.previousTime else { return }
        if calendar.instant(of: time, dated: nil) != nil { releaseUndated(emit) }
    }

    /// Completes the epoch because the line is quiet: the next sentence begins another one.
    mutating func completeQuietEpoch(_ emit: (Fix) -> Void) {
        guard epoch.hasPosition else { return }  // the epoch may still become a fix
        complete(emit)
        isClosed = true
    }

    /// Completes the epoch at the end of input. Fixes that still wait for a date are dropped.
    mutating func finish(_ emit: (Fix) -> Void) {
        begin(emit)
        counts.undated += undated.count
        undated.removeAll(keepingCapacity: true)
    }

    /// Begins the epoch of `time`, or sets the current epoch's time if that is still unknown.
    @inline(__always)
    private mutating func enter(_ time: TimeOfDay, _ emit: (Fix) -> Void) {
        if epoch.timeOfDay != nil || epoch.lacksTime { begin(emit) }
        epoch.timeOfDay = time
    }

    /// Adds the time of `sentence` if the sentence belongs to the current epoch despite its different time, which may
    /// be the time of sending or local time. Returns whether the sentence belongs to the epoch.
    ///
    /// If two times are within one interval, the earlier is the time of the solution. If they are from two time zones,
    /// the time of the dated sentence is used, or else GGA's.
    @inline(never)
    private mutating func join(_ sentence: PositionSentence, _ type: SentenceType, at time: TimeOfDay) -> Bool {
        guard let current = epoch.timeOfDay else { return false }
        let difference = time.milliseconds(since: current)
        if abs(difference) < min(rhythm.intervalMilliseconds, Self.maximumDelayMilliseconds) - TimeOfDay.tolerance {
            // The next position of a parked receiver may differ only in its last digit.
            guard epoch.isSameBurst(sentence, within: 0) else { return false }
            epoch.add(otherTime: time, isBetter: difference < 0)
            return true
        }
        guard TimeOfDay.isZoneOffset(difference), epoch.isSameBurst(sentence, within: Self.rounding) else {
            return false
        }
        warnings.insert(.localTime)
        let isDated = sentence.date != nil && sentence.status == .valid
        let rank: UInt8 = isDated ? 3 : type == .gga || type == .gns ? 2 : 0
        epoch.add(otherTime: time, isBetter: rank > epoch.clockRank)
        return true
    }

    /// Returns whether to use a sentence without a time. If so, begins the next epoch if the current one is closed. The
    /// rest of an epoch that was ended by a pause isn't used, because it isn't the start of the next epoch.
    @inline(__always)
    private mutating func enterUntimed(_ emit: (Fix) -> Void) -> Bool {
        guard isClosed else { return true }
        if cycle.isLastSentence(missingAfter: epoch.lastPlace) { return false }
        begin(emit)
        return true
    }

    /// Counts a sentence. Completes the epoch if the sentence has changed it and is known to be the last that does.
    @inline(__always)
    private mutating func advance(_ type: SentenceType, _ emit: (Fix) -> Void) {
        guard let place = epoch.count(type) else { return }
        if completion == nil, cycle.endsEpoch(place) { complete(emit) }
    }

    /// Completes the epoch, learns its last sentence, and begins the next epoch.
    private mutating func begin(_ emit: (Fix) -> Void) {
        complete(emit)
        if epoch.timeOfDay != nil, let place = epoch.lastPlace, epoch.hasPosition {
            cycle.recordEpoch(endingWith: place, byPause: isClosed)
        }
        if let hdop = epoch.values.hdop.value, let time = epoch.timeOfDay {
            earlierHDOP = EarlierHDOP(value: hdop, time: time)
        }
        epoch = Epoch()
        previousCompletion = completion
        completion = nil
        isClosed = false
        serial += 1
        calendar.beginEpoch()
    }

    /// Completes the epoch and emits its fix. Does nothing when called again.
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

    /// Dates `fix` and emits it, or keeps it until there is a date.
    private mutating func date(_ fix: Fix, at time: TimeOfDay, _ emit: (Fix) -> Void) -> EpochCompletion {
        rhythm.add(time)
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

/// The last HDOP before the current epoch, because many receivers don't report it in every epoch.
private struct EarlierHDOP {
    /// The HDOP; 0 if there has been none.
    private(set) var value = 0.0
    private(set) var time = TimeOfDay(milliseconds: 0)

    /// The time for which an HDOP is valid. The constellation changes slowly, but obstacles along the road don't.
    private static let lifetimeMilliseconds: Int32 = 10_000

    /// Returns the value if it is valid at `now`, otherwise 0.
    func value(at now: TimeOfDay) -> Double {
        abs(now.milliseconds(since: time)) <= Self.lifetimeMilliseconds ? value : 0
    }
}

/// The times of the last fixes. A repeated time means a frozen clock or a repeated epoch.
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

/// The interval of a receiver's epochs.
struct EpochRhythm {
    private(set) var previousTime: TimeOfDay?
    /// The time between the last two epochs with a position.
    private(set) var intervalMilliseconds: Int32 = 1000

    mutating func add(_ time: TimeOfDay) {
        if let previousTime {
            let interval = abs(time.milliseconds(since: previousTime))
            if (20...60_000).contains(interval) { intervalMilliseconds = interval }
        }
        previousTime = time
    }
}

/// Learns which sentence is the last of a receiver's epochs, so that a fix needn't wait for the next epoch to begin.
struct CycleLearner {
    /// A sentence's place in an epoch: its type and ordinal, because receivers repeat GSA and GGA per constellation.
    struct Place: Hashable {
        let type: SentenceType
        let ordinal: UInt8
    }

    private var candidate: Place?
    private var agreements = 0
    /// The number of consecutive epochs that were ended by a pause before the trusted sentence.
    private var pauses = 0
    /// The number of consecutive epochs that must end with the same sentence before it is trusted.
    private static let requiredEpochs = 2

    /// Whether the sentence at `place` completes an epoch of this receiver.
    @inline(__always)
    func endsEpoch(_ place: Place) -> Bool { agreements >= Self.requiredEpochs && place == candidate }

    /// Whether the trusted last sentence is still missing if `place` was the last one so far.
    func isLastSentence(missingAfter place: Place?) -> Bool { agreements >= Self.requiredEpochs && place != candidate }

    /// Records the last useful sentence of an epoch. A sentence other than the trusted one replaces it, but only after
    /// several epochs if a pause ended the epoch, because a busy machine also causes pauses.
    mutating func recordEpoch(endingWith place: Place, byPause: Bool = false) {
        if place == candidate {
            agreements = min(agreements + 1, Self.requiredEpochs)
            pauses = 0
        } else if byPause, agreements >= Self.requiredEpochs, pauses < Self.requiredEpochs {
            pauses += 1
        } else {
            candidate = place
            agreements = 1
            pauses = 0
        }
    }
}
