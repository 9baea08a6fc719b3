/// An explanation of an epoch's outcome, written for one of the epoch's sentences.
struct EpochExplanation {
    let epoch: TracedEpoch
    let place: SentencePlace

    /// The fix and the event that released it, or the reason why there is no fix.
    var outcome: String {
        if let fix = epoch.fix {
            guard let releasedBy = epoch.releasedBy else {
                return "gave the fix of \(fix.timeOfFix), which was released \(endingDescription)"
            }
            return "gave the fix of \(fix.timeOfFix), which waited for a date until \(name(of: releasedBy))"
        }
        return switch epoch.completion {
        case .fix?: "gave a fix"
        case .undated?: "no fix: no sentence contains a date"
        case .void?: "no fix: void according to \(vetoDescription)"
        case .excluded?: "no fix: simulated or entered by hand, according to \(vetoDescription)"
        case .nullIsland?: "no fix: its position is 0, 0, which gateways send when they have no data"
        case .repeated?: "no fix: one of the last fixes has the same time (a frozen clock, or a repeated epoch)"
        case .nothing?: "no fix: none of its sentences confirms a position"
        case nil: "no fix: the epoch is not complete"
        }
    }

    /// Returns the source of the date and of each value, with one line per source. `statedParts` lists the values that
    /// the explained sentence contains.
    func lines(statedParts: [EpochPart], isLate: Bool) -> [String] {
        if isLate { return ["it arrived after its epoch was complete: none of its values was used"] }
        guard epoch.fix != nil else { return [] }
        var lines: [String] = []
        if let dateDescription { lines.append("date: \(dateDescription)") }
        let bySource = Dictionary(grouping: EpochPart.allCases.filter { $0 != .date && epoch.sources[$0] != nil }) {
            epoch.sources[$0]
        }
        if let own = bySource[place] {
            lines.append("\(Self.joinedNames(of: own)) from this sentence")
        } else if epoch.dateSource != place {
            lines.append("none of its values was needed")
        }
        let others = bySource.compactMap { source, parts in source.map { ($0, parts) } }.filter { $0.0 != place }
        for (source, parts) in others.sorted(by: { ($0.0.line, $0.0.ordinal) < ($1.0.line, $1.0.ordinal) }) {
            let isOvertaken = parts.contains { statedParts.contains($0) }
            let note = isOvertaken ? precedenceNote(for: source) : ""
            lines.append("\(Self.joinedNames(of: parts)) from \(source.description)\(note)")
        }
        if epoch.sources[.accuracy] == nil, let source = epoch.sources[.hdop] {
            lines.append("accuracy from the HDOP of \(name(of: source))")
        }
        return lines
    }

    private var endingDescription: String {
        switch epoch.completionEvent {
        case .learnedLastSentence(let source): "at \(name(of: source)), the last sentence of this receiver's epochs"
        case .nextEpoch(let source): "at \(name(of: source)), where another epoch begins"
        case .endOfLog, nil: "at the end of the log"
        }
    }

    private var dateDescription: String? {
        let source = epoch.dateSource.map(name(of:)) ?? "an earlier sentence"
        return switch epoch.basis {
        case .ownEpoch?: "from \(source)"
        case .dateSentence?: "from \(source), which is close to the fix in time"
        case .lastDate?: "from \(source), the last date before the fix"
        case .voidSentence?: "from \(source), which has no position: no other sentence contains a date"
        case .hostClock?: "from this machine's clock: no sentence contains a date"
        case .tagBlock?: "from the time of transmission in \(source): no earlier sentence contains a date"
        case nil: nil
        }
    }

    private var vetoDescription: String {
        epoch.vetoes.map { veto in name(of: veto.place) + (veto.flags.isEmpty ? "" : " (\(veto.flags))") }
            .joined(separator: " and ")
    }

    private func precedenceNote(for source: SentencePlace) -> String {
        let theirs = source.address.suffix(3)
        let ours = place.address.suffix(3)
        return theirs == ours ? " (an epoch keeps its first \(ours))" : " (\(theirs) has precedence over \(ours))"
    }

    private func name(of source: SentencePlace) -> String { source == place ? "this sentence" : source.description }

    private static func joinedNames(of parts: [EpochPart]) -> String { parts.map(\.rawValue).joined(separator: ", ") }
}

extension Epoch {
    /// The state of one value of an epoch. If a sentence changes the state, the value is from that sentence.
    struct PartState: Equatable {
        var rank = 0
        var value: Double?
    }

    /// Returns the state of `part`. The state of the body heading never changes, because an epoch doesn't store the
    /// heading.
    func state(of part: EpochPart) -> PartState {
        switch part {
        case .position: PartState(values.latitude)
        case .date: PartState(value: latestDate.map { Double($0.date) })
        case .speed: PartState(values.speed)
        case .course: PartState(values.course)
        case .altitude: PartState(value: values.altitudeMeters)
        case .geoidSeparation: PartState(value: values.geoidSeparationMeters)
        case .accuracy: PartState(values.accuracy)
        case .hdop: PartState(values.hdop)
        case .satellitesUsed: PartState(value: values.satellitesUsed.map(Double.init))
        case .quality: PartState(rank: Int(values.qualityRank) + (values.isEstimated ? 256 : 0))
        case .mode:
            PartState(
                rank: values.mode != nil ? 2 : values.ubloxMode != nil ? 1 : 0,
                value: values.mode == .threeDimensional ? 3 : 2)
        case .bodyHeading: PartState()
        }
    }
}

extension Epoch.PartState {
    fileprivate init(_ ranked: RankedValue) { self.init(rank: Int(ranked.rank), value: ranked.value) }
}

/// A value of a fix, or the fix's date. Each may be from a different sentence of the epoch.
enum EpochPart: String, CaseIterable {
    case position, date, speed, course, altitude, accuracy, hdop = "HDOP"
    case geoidSeparation = "geoid separation"
    case satellitesUsed = "satellites used"
    case quality
    case mode = "solution mode"
    case bodyHeading = "body heading"
}
