import TimeAndRandomness

/// An assembler that combines the sentences of each epoch and decides when the epoch is complete.
///
/// Each epoch emits at most one fix, at the first of these events:
/// - The sentence arrives that is known to be the last of this receiver's epochs.
/// - The line goes quiet.
/// - A sentence arrives that has the time of another epoch.
/// - The input ends.
struct EpochAssembler {
    private(set) var epoch = Epoch()
    /// The outcome of the current epoch; `nil` until it is complete.
    private(set) var completion: EpochCompletion?
    /// The outcome of the previous epoch; `nil` if that epoch had no time.
    private(set) var previousCompletion: EpochCompletion?
    /// The number of epochs that have begun.
    private(set) var serial = 0
    /// Whether the current epoch was completed because the line went quiet. If so, a sentence without a time belongs to
    /// the next epoch.
    private var isClosed = false
    private var cycle = CycleLearner()
    private(set) var calendar: FixCalendar
    /// The latest heading (HDT, THS); `nil` once a fix has used it. A compass sends headings at its own rate, whatever
    /// the rate of the epochs.
    private(set) var bodyHeadingDegrees: Double?
    private var earlierHDOP = EarlierHDOP()
    /// The fixes that can't be emitted until the first date is known.
    private var undatedFixes: [Fix] = []
    private var recentInstants = RecentInstants()
    private(set) var rhythm = EpochRhythm()
    private(set) var counts = EpochCounts()
    /// The kinds of warning that have occurred, but that the decoder hasn't counted yet.
    var warnings = WarningSet()

    /// The maximum difference between the time of a solution and the time at which a receiver sends it.
    private static let maximumDelayMilliseconds: Int32 = 1000
    /// The maximum rounding difference, in degrees, between the coordinates of one position in two sentences. The
    /// difference is one unit in the fourth decimal of a minute.
    private static let maximumRoundingDegrees = 2e-6
    /// The maximum number of fixes kept until the first date is known. If there are more, the oldest is dropped.
    private static let undatedCapacity = 256

    init(dates: NMEADecoderOptions.Dates) {
        calendar = FixCalendar(dates: dates)
    }

    /// The number of fixes that wait for the first date.
    var undatedCount: Int { undatedFixes.count }
    /// Whether the current epoch has a position and isn't complete yet. If so, silence on the line completes it.
    var isWaiting: Bool { completion == nil && epoch.hasPosition }

    @inline(__always)
    mutating func add(
        _ sentence: PositionSentence, of type: SentenceType, from talker: TalkerGroup, _ emit: (Fix) -> Void
    ) {
        if let time = sentence.timeOfDay {
            if !epoch.hasTime(time), epoch.contains(type) || !addToBurst(sentence, of: type, at: time) {
                enterEpoch(at: time, emit)
            }
        } else if sentence.status == .valid || sentence.status == .unconfirmed {
            if isClosed { return }
        } else if !epoch.lacksTime {
            beginNextEpoch(emit)
            epoch.lacksTime = true
        }
        epoch.add(sentence, of: type, from: talker)
        if sentence.status == .void, let date = sentence.date, let time = sentence.timeOfDay {
            calendar.recordVoidDate(DateSentence(timeOfDay: time, date: date))
        }
        countSentence(of: type, emit)
    }

    @inline(__always)
    mutating func add(_ sentence: MotionSentence, _ emit: (Fix) -> Void) {
        guard admitUntimedSentence(emit) else { return }
        if sentence.status != .void, sentence.status != .excluded { epoch.add(sentence) }
        countSentence(of: .vtg, emit)
    }

    @inline(__always)
    mutating func add(_ sentence: SatellitesSentence, _ emit: (Fix) -> Void) {
        guard admitUntimedSentence(emit) else { return }
        epoch.add(sentence)
        countSentence(of: .gsa, emit)
    }

    mutating func add(_ sentence: AccuracySentence, of type: SentenceType, _ emit: (Fix) -> Void) {
        if let time = sentence.timeOfDay {
            if !epoch.hasTime(time) {
                if let current = epoch.timeOfDay, time.milliseconds(since: current) < 0 {
                    return  // the sentence belongs to a past epoch
                }
                enterEpoch(at: time, emit)
            }
        } else {
            guard admitUntimedSentence(emit) else { return }
        }
        epoch.add(sentence, of: type)
        countSentence(of: type, emit)
    }

    mutating func add(_ sentence: HeadingSentence) {
        bodyHeadingDegrees = sentence.headingDegrees ?? bodyHeadingDegrees
    }

    /// Records a time of transmission from a tag block. It dates fixes if there is no better source of the date.
    ///
    /// The time applies to the sentence after the tag block, which may begin the next epoch.
    mutating func recordTransmission(at time: UTCTime) {
        calendar.recordTransmission(at: time, ofNextEpoch: epoch.lastPlace != nil)
    }

    /// Adds a date from a sentence without a position (ZDA or PUBX,04). Emits the fixes that have waited for a date if
    /// they can now be dated.
    mutating func add(_ sentence: DateSentence, _ emit: (Fix) -> Void) {
        calendar.recordDate(sentence)
        guard !undatedFixes.isEmpty, let time = rhythm.previousTime else { return }
        if calendar.instant(of: time, ownDate: nil) != nil { releaseUndatedFixes(emit) }
    }

    /// Completes the epoch because the line has gone quiet, so the next sentence will begin another epoch.
    mutating func completeQuietEpoch(_ emit: (Fix) -> Void) {
        guard epoch.hasPosition else { return }  // a later sentence may still contain the position
        completeEpoch(emit)
        isClosed = true
    }

    /// Completes the epoch at the end of input. Drops the fixes that still have no date.
    mutating func finish(_ emit: (Fix) -> Void) {
        beginNextEpoch(emit)
        counts.undated += undatedFixes.count
        undatedFixes.removeAll(keepingCapacity: true)
    }

    /// Begins an epoch at `time`. If the current epoch has no time yet and didn't begin with an empty time field, sets
    /// its time instead.
    @inline(__always)
    private mutating func enterEpoch(at time: TimeOfDay, _ emit: (Fix) -> Void) {
        if epoch.timeOfDay != nil || epoch.lacksTime { beginNextEpoch(emit) }
        epoch.timeOfDay = time
    }

    /// Adds the time of `sentence` to the current epoch if the sentence is in the same burst, although its time
    /// differs. Returns whether the sentence is in the burst. The different time may be the time of sending or local
    /// time.
    ///
    /// If the two times differ by less than the interval between epochs, the earlier one is the time of the solution.
    /// If they are from two time zones, the dated sentence's time is used. If neither sentence has a date, GGA's time
    /// is used.
    @inline(never)
    private mutating func addToBurst(_ sentence: PositionSentence, of type: SentenceType, at time: TimeOfDay) -> Bool {
        guard let current = epoch.timeOfDay else { return false }
        let difference = time.milliseconds(since: current)
        if abs(difference) < min(rhythm.intervalMilliseconds, Self.maximumDelayMilliseconds) - TimeOfDay.tolerance {
            // The positions must be equal, because a parked receiver's next position may differ only in its last digit.
            guard epoch.sharesBurst(with: sentence, toleranceDegrees: 0) else { return false }
            epoch.add(otherTime: time, isBetter: difference < 0)
            return true
        }
        guard TimeOfDay.isZoneOffset(milliseconds: difference),
            epoch.sharesBurst(with: sentence, toleranceDegrees: Self.maximumRoundingDegrees)
        else { return false }
        warnings.insert(.localTime)
        let isDated = sentence.date != nil && sentence.status == .valid
        let rank: UInt8 = isDated ? 3 : type == .gga || type == .gns ? 2 : 0
        epoch.add(otherTime: time, isBetter: rank > epoch.clockRank)
        return true
    }

    /// Returns whether a sentence without a time can be used. If a pause has closed the current epoch, begins the next
    /// epoch. If the closed epoch's trusted last sentence is still missing, the sentence is a late part of that epoch
    /// and isn't used.
    @inline(__always)
    private mutating func admitUntimedSentence(_ emit: (Fix) -> Void) -> Bool {
        guard isClosed else { return true }
        if cycle.isLastSentence(missingAfter: epoch.lastPlace) { return false }
        beginNextEpoch(emit)
        return true
    }

    /// Counts a sentence. Completes the epoch if the sentence has changed it and is known to be the last that changes
    /// this receiver's epochs.
    @inline(__always)
    private mutating func countSentence(of type: SentenceType, _ emit: (Fix) -> Void) {
        guard let place = epoch.countSentence(of: type) else { return }
        if completion == nil, cycle.endsEpoch(place) { completeEpoch(emit) }
    }

    /// Completes the epoch, records which sentence was its last, and begins the next epoch.
    private mutating func beginNextEpoch(_ emit: (Fix) -> Void) {
        completeEpoch(emit)
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

    /// Completes the epoch and emits its fix, unless the epoch is already complete or has no time.
    private mutating func completeEpoch(_ emit: (Fix) -> Void) {
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
            completion = dateAndEmit(fix, at: time, emit)
        }
        bodyHeadingDegrees = nil
    }

    /// Dates `fix` and emits it, and returns the epoch's outcome. If no date is known yet, keeps the fix until a date
    /// is known.
    private mutating func dateAndEmit(_ fix: Fix, at time: TimeOfDay, _ emit: (Fix) -> Void) -> EpochCompletion {
        rhythm.add(time)
        var fix = fix
        let instant = calendar.instant(of: time, ownDate: epoch.latestDate)
        if let warning = calendar.takeWarning() { warnings.insert(warning) }
        guard let instant else {
            if undatedFixes.count == Self.undatedCapacity {
                undatedFixes.removeFirst()
                counts.undated += 1
            }
            undatedFixes.append(fix)
            return .undated
        }
        if !undatedFixes.isEmpty { releaseUndatedFixes(emit) }
        fix.timeOfFix = instant
        return emitUnlessRepeated(fix, emit)
    }

    private mutating func releaseUndatedFixes(_ emit: (Fix) -> Void) {
        for index in undatedFixes.indices {
            var fix = undatedFixes[index]
            let time = TimeOfDay(milliseconds: Int32(fix.timeOfFix.millisecondsSince1970))
            guard let instant = calendar.instant(ofEarlierFixAt: time) else { return }
            fix.timeOfFix = instant
            emitUnlessRepeated(fix, emit)
        }
        undatedFixes.removeAll(keepingCapacity: true)
    }

    @discardableResult
    private mutating func emitUnlessRepeated(_ fix: Fix, _ emit: (Fix) -> Void) -> EpochCompletion {
        guard recentInstants.add(fix.timeOfFix) else {
            counts.repeated += 1
            return .repeated
        }
        counts.fixes += 1
        emit(fix)
        return .fix
    }
}

/// The HDOP of the last epoch that had one. Many receivers don't report HDOP in every epoch.
private struct EarlierHDOP {
    /// The HDOP; 0 if none has been reported.
    private(set) var value = 0.0
    private(set) var time = TimeOfDay(milliseconds: 0)

    /// The time for which an HDOP remains valid. The satellites move slowly, but obstacles along the road change the
    /// view of them quickly.
    private static let lifetimeMilliseconds: Int32 = 10_000

    /// Returns the HDOP if it is still valid at `now`, otherwise 0.
    func value(at now: TimeOfDay) -> Double {
        abs(now.milliseconds(since: time)) <= Self.lifetimeMilliseconds ? value : 0
    }
}

/// The times of the last few fixes. If a time repeats, the receiver's clock is frozen or an epoch was sent again.
private struct RecentInstants {
    private var milliseconds = InlineArray<8, Int64>(repeating: .min)
    private var nextIndex = 0

    /// Adds the time of a fix, unless a recent fix has the same time. Returns whether it was added.
    mutating func add(_ instant: UTCTime) -> Bool {
        for index in milliseconds.indices where milliseconds[index] == instant.millisecondsSince1970 { return false }
        milliseconds[nextIndex] = instant.millisecondsSince1970
        nextIndex = (nextIndex + 1) % milliseconds.count
        return true
    }
}

/// The interval between a receiver's epochs.
struct EpochRhythm {
    private(set) var previousTime: TimeOfDay?
    /// The time between the last two epochs that had a position.
    private(set) var intervalMilliseconds: Int32 = 1000

    mutating func add(_ time: TimeOfDay) {
        if let previousTime {
            let interval = abs(time.milliseconds(since: previousTime))
            if (20...60_000).contains(interval) { intervalMilliseconds = interval }
        }
        previousTime = time
    }
}

/// A record of the sentence with which a receiver's epochs end. With it, a fix can be emitted before the next epoch
/// begins.
struct CycleLearner {
    /// A sentence's place in an epoch: its type and the number of earlier sentences of that type. Receivers repeat GSA
    /// and GGA for each constellation.
    struct Place: Hashable {
        let type: SentenceType
        let ordinal: UInt8
    }

    private var candidate: Place?
    private var agreements = 0
    /// The number of consecutive epochs in which the line went quiet before the trusted last sentence arrived.
    private var pauses = 0
    /// The number of consecutive epochs that must end with the same sentence before that sentence is trusted to be the
    /// last.
    private static let requiredEpochs = 2

    /// Whether the sentence at `place` is known to be the last of this receiver's epochs.
    @inline(__always)
    func endsEpoch(_ place: Place) -> Bool { agreements >= Self.requiredEpochs && place == candidate }

    /// Whether the trusted last sentence hasn't arrived yet. `place` is the place of the latest sentence.
    func isLastSentence(missingAfter place: Place?) -> Bool { agreements >= Self.requiredEpochs && place != candidate }

    /// Records which sentence was the last to change an epoch. A different sentence replaces the trusted one. If a
    /// pause ended the epoch, the replacement takes several epochs, because a busy machine also causes pauses.
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
