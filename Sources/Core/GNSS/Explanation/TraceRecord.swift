import TimeAndChance

/// The wanted sentences with their epochs, and the sentences from which dates were taken.
struct TraceRecord {
    private(set) var sentences: [TracedSentence] = []
    private(set) var epochs: [Int: TracedEpoch] = [:]
    private var current = TracedEpoch(serial: 0)
    /// The epochs whose fixes wait for a date, oldest first.
    private var waiting: [TracedEpoch] = []
    /// The sentence from which the last fix's date was taken.
    private var lastDate: SentencePlace?
    /// The sentence that set `FixCalendar.candidate`.
    private var candidate: SentencePlace?
    /// The sentence that set `FixCalendar.voidDate`.
    private var voidDate: SentencePlace?
    private var tagBlock: SentencePlace?
    /// The tag block that contains the current time of transmission.
    private var transmission: SentencePlace?
    private var transmitted: UTCTime?
    private var heading: SentencePlace?

    /// Whether the outcomes of all kept sentences are final.
    var isSettled: Bool {
        sentences.allSatisfy { sentence in
            if let epoch = sentence.epoch { return epochs[epoch]?.isSettled ?? false }
            return sentence.dated != nil || sentence.place != candidate
        }
    }

    /// Keeps the sentence of the last recorded step, together with its epoch.
    mutating func keep(_ sentence: TracedSentence) {
        sentences.append(sentence)
        if sentence.epoch == current.serial { epochs[current.serial] = current }
    }

    mutating func recordTagBlock(at place: SentencePlace) { tagBlock = place }

    /// Records what one step of the decoder has changed. The step is the sentence at `place`, or the end of the log if
    /// `place` is `nil`.
    ///
    /// `flags` describes the flags of the sentence's position. `emitted` contains the fixes that the step has emitted.
    mutating func addStep(
        _ place: SentencePlace?, flags: String = "", before: EpochAssembler, after: EpochAssembler, _ emitted: [Fix]
    ) {
        var earlier = before.epoch
        if after.calendar.candidate != before.calendar.candidate { candidate = place }
        if after.calendar.voidDate != before.calendar.voidDate { voidDate = place }
        if after.serial != before.serial {
            if before.completion == nil {
                complete(after.previousCompletion, by: place.map { .next($0) } ?? .endOfLog, after, emitted)
            }
            storeCurrentEpoch()
            current = TracedEpoch(serial: after.serial)
            earlier = Epoch()
        }
        // A tag block takes effect with the epoch of the sentence that follows the block.
        if after.calendar.transmitted != transmitted {
            transmitted = after.calendar.transmitted
            transmission = tagBlock
        }
        current.timeOfDay = after.epoch.timeOfDay
        for part in EpochPart.allCases where earlier.state(of: part) != after.epoch.state(of: part) {
            current.sources[part] = place
        }
        if let place, after.epoch.claims.void != earlier.claims.void {
            current.vetoes.removeAll { !after.epoch.claims.void.contains($0.source) }
            let source = after.epoch.claims.void.subtracting(earlier.claims.void)
            if !source.isEmpty { current.vetoes.append(TracedEpoch.Veto(source: source, place: place, flags: flags)) }
        }
        if after.bodyHeadingDegrees != before.bodyHeadingDegrees, after.bodyHeadingDegrees != nil { heading = place }
        if let place, let completion = after.completion, before.completion == nil || after.serial != before.serial {
            complete(completion, by: .learned(place), after, emitted)
        }
        release(by: place, before: before, after: after, emitted)
        storeCurrentEpoch()
    }

    /// Handles the end of the log. Epochs whose outcome isn't final remain so.
    mutating func finish() { storeCurrentEpoch() }

    private mutating func storeCurrentEpoch() {
        if epochs[current.serial] != nil { epochs[current.serial] = current }
    }

    private mutating func complete(
        _ completion: EpochCompletion?, by ending: TracedEpoch.Ending, _ after: EpochAssembler, _ emitted: [Fix]
    ) {
        guard let completion else { return }
        current.completion = completion
        current.ending = ending
        if completion == .undated { waiting.append(current) }
        if completion == .fix, let fix = emitted.last(where: { current.hasTime(of: $0) }) {
            current.sources[.bodyHeading] = fix.bodyHeadingDegrees == nil ? nil : heading
            current = recordDate(of: current, with: fix, after)
        }
        heading = nil
    }

    /// Records which waiting fixes were released because a date has arrived.
    private mutating func release(
        by place: SentencePlace?, before: EpochAssembler, after: EpochAssembler, _ emitted: [Fix]
    ) {
        waiting.removeFirst(min(waiting.count, after.counts.undated - before.counts.undated))
        guard after.undatedCount == 0, !waiting.isEmpty else { return }
        // Fixes are released in the order of their epochs. If a waiting fix isn't in `emitted`, it was dropped because
        // it repeats a recent time.
        var emitted = emitted
        for var epoch in waiting {
            if let index = emitted.firstIndex(where: { epoch.hasTime(of: $0) }) {
                epoch.releasedBy = place
                epoch = recordDate(of: epoch, with: emitted.remove(at: index), after)
            } else {
                epoch.completion = .repeated
            }
            if epoch.serial == current.serial {
                current = epoch
            } else if epochs[epoch.serial] != nil {
                epochs[epoch.serial] = epoch
            }
        }
        waiting.removeAll()
    }

    private mutating func recordDate(of epoch: TracedEpoch, with fix: Fix, _ after: EpochAssembler) -> TracedEpoch {
        var epoch = epoch
        epoch.fix = fix
        epoch.basis = after.calendar.basis
        switch after.calendar.basis {
        case .ownEpoch: epoch.dateSource = epoch.sources[.date] ?? lastDate
        case .dateSentence: epoch.dateSource = candidate
        case .lastDate: epoch.dateSource = lastDate
        case .voidSentence: epoch.dateSource = voidDate
        case .tagBlock: epoch.dateSource = transmission
        case .hostClock: break
        }
        if after.calendar.basis == .tagBlock { return epoch }
        lastDate = epoch.dateSource
        for index in sentences.indices where sentences[index].place == candidate && candidate == epoch.dateSource {
            sentences[index].dated = sentences[index].dated ?? fix.timeOfFix
        }
        return epoch
    }
}

extension TracedEpoch {
    /// Whether `fix` has this epoch's time of day.
    fileprivate func hasTime(of fix: Fix) -> Bool {
        Int64(fix.timeOfFix.millisecondOfDay) == timeOfDay?.posixMilliseconds
    }
}
