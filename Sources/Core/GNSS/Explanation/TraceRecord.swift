import TimeAndRandomness

/// The sentences on the requested lines with their epochs, and the sentences from which dates were taken.
struct TraceRecord {
    private(set) var sentences: [TracedSentence] = []
    private(set) var epochs: [Int: TracedEpoch] = [:]
    private var currentEpoch = TracedEpoch(serial: 0)
    /// The epochs whose fixes wait for a date, oldest first.
    private var waitingEpochs: [TracedEpoch] = []
    /// The sentence from which the last fix's date was taken; `nil` before the first dated fix.
    private var lastDateSource: SentencePlace?
    /// The sentence that set `FixCalendar.candidate`; `nil` while that is `nil`.
    private var candidateSource: SentencePlace?
    /// The sentence that set `FixCalendar.voidDate`; `nil` while that is `nil`.
    private var voidDateSource: SentencePlace?
    private var tagBlockPlace: SentencePlace?
    /// The tag block that contains the current time of transmission; `nil` while there is none.
    private var transmissionSource: SentencePlace?
    private var transmissionTime: UTCTime?
    private var headingSource: SentencePlace?

    /// Whether the outcomes of all added sentences are final.
    var isSettled: Bool {
        sentences.allSatisfy { sentence in
            if let epoch = sentence.epoch { return epochs[epoch]?.isSettled ?? false }
            return sentence.firstDatedFixTime != nil || sentence.place != candidateSource
        }
    }

    /// Adds the sentence of the last recorded step, together with its epoch.
    mutating func add(_ sentence: TracedSentence) {
        sentences.append(sentence)
        if sentence.epoch == currentEpoch.serial { epochs[currentEpoch.serial] = currentEpoch }
    }

    mutating func recordTagBlock(at place: SentencePlace) { tagBlockPlace = place }

    /// Records what one step of the decoder has changed. The step is the sentence at `place`, or the end of the log if
    /// `place` is `nil`.
    ///
    /// `flags` describes the flags of the sentence's position. `emitted` contains the fixes that the step has emitted.
    mutating func recordStep(
        at place: SentencePlace?, flags: String = "", before: EpochAssembler, after: EpochAssembler, emitted: [Fix]
    ) {
        var earlier = before.epoch
        if after.calendar.candidate != before.calendar.candidate { candidateSource = place }
        if after.calendar.voidDate != before.calendar.voidDate { voidDateSource = place }
        if after.serial != before.serial {
            if before.completion == nil {
                completeCurrentEpoch(
                    as: after.previousCompletion, by: place.map { .nextEpoch($0) } ?? .endOfLog, after: after,
                    emitted: emitted)
            }
            storeCurrentEpoch()
            currentEpoch = TracedEpoch(serial: after.serial)
            earlier = Epoch()
        }
        // A tag block takes effect with the epoch of the sentence that follows the block.
        if after.calendar.transmissionTime != transmissionTime {
            transmissionTime = after.calendar.transmissionTime
            transmissionSource = tagBlockPlace
        }
        currentEpoch.timeOfDay = after.epoch.timeOfDay
        for part in EpochPart.allCases where earlier.state(of: part) != after.epoch.state(of: part) {
            currentEpoch.sources[part] = place
        }
        if let place, after.epoch.claims.void != earlier.claims.void {
            currentEpoch.vetoes.removeAll { !after.epoch.claims.void.contains($0.source) }
            let source = after.epoch.claims.void.subtracting(earlier.claims.void)
            if !source.isEmpty {
                currentEpoch.vetoes.append(TracedEpoch.Veto(source: source, place: place, flags: flags))
            }
        }
        if after.bodyHeadingDegrees != before.bodyHeadingDegrees, after.bodyHeadingDegrees != nil {
            headingSource = place
        }
        if let place, let completion = after.completion, before.completion == nil || after.serial != before.serial {
            completeCurrentEpoch(
                as: completion, by: .learnedLastSentence(place), after: after, emitted: emitted)
        }
        releaseWaitingEpochs(by: place, before: before, after: after, emitted: emitted)
        storeCurrentEpoch()
    }

    /// Handles the end of the log. An epoch whose outcome isn't final keeps its outcome.
    mutating func finish() { storeCurrentEpoch() }

    private mutating func storeCurrentEpoch() {
        if epochs[currentEpoch.serial] != nil { epochs[currentEpoch.serial] = currentEpoch }
    }

    private mutating func completeCurrentEpoch(
        as completion: EpochCompletion?, by event: TracedEpoch.CompletionEvent, after: EpochAssembler, emitted: [Fix]
    ) {
        guard let completion else { return }
        currentEpoch.completion = completion
        currentEpoch.completionEvent = event
        if completion == .undated { waitingEpochs.append(currentEpoch) }
        if completion == .fix, let fix = emitted.last(where: { currentEpoch.hasTime(of: $0) }) {
            currentEpoch.sources[.bodyHeading] = fix.bodyHeadingDegrees == nil ? nil : headingSource
            currentEpoch = recordDate(of: currentEpoch, with: fix, after: after)
        }
        headingSource = nil
    }

    /// Records which waiting fixes were released because a date has arrived.
    private mutating func releaseWaitingEpochs(
        by place: SentencePlace?, before: EpochAssembler, after: EpochAssembler, emitted: [Fix]
    ) {
        waitingEpochs.removeFirst(min(waitingEpochs.count, after.counts.undated - before.counts.undated))
        guard after.undatedCount == 0, !waitingEpochs.isEmpty else { return }
        // Fixes are released in the order of their epochs. If a waiting fix isn't in `emitted`, it was dropped because
        // it repeats a recent time.
        var emitted = emitted
        for var epoch in waitingEpochs {
            if let index = emitted.firstIndex(where: { epoch.hasTime(of: $0) }) {
                epoch.releasedBy = place
                epoch = recordDate(of: epoch, with: emitted.remove(at: index), after: after)
            } else {
                epoch.completion = .repeated
            }
            if epoch.serial == currentEpoch.serial {
                currentEpoch = epoch
            } else if epochs[epoch.serial] != nil {
                epochs[epoch.serial] = epoch
            }
        }
        waitingEpochs.removeAll()
    }

    private mutating func recordDate(of epoch: TracedEpoch, with fix: Fix, after: EpochAssembler) -> TracedEpoch {
        var epoch = epoch
        epoch.fix = fix
        epoch.basis = after.calendar.basis
        switch after.calendar.basis {
        case .ownEpoch: epoch.dateSource = epoch.sources[.date] ?? lastDateSource
        case .dateSentence: epoch.dateSource = candidateSource
        case .lastDate: epoch.dateSource = lastDateSource
        case .voidSentence: epoch.dateSource = voidDateSource
        case .tagBlock: epoch.dateSource = transmissionSource
        case .hostClock: break
        }
        if after.calendar.basis == .tagBlock { return epoch }
        lastDateSource = epoch.dateSource
        for index in sentences.indices
        where sentences[index].place == candidateSource && candidateSource == epoch.dateSource {
            sentences[index].firstDatedFixTime = sentences[index].firstDatedFixTime ?? fix.timeOfFix
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
