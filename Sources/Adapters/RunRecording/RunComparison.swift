import LinuxPlatform
package import LocationReporting

/// How the decisions of a re-enacted run differ from those that were recorded. Pure.
package struct RunComparison: Sendable, Hashable {
    /// The decisions of one kind, side by side.
    package struct Kind: Sendable, Hashable, Encodable {
        package enum Name: String, Sendable, Encodable { case updates, waits, quarantined }

        package let name: Name
        package let recorded, replayed: Int
        package let differences: [Difference]
    }

    /// One decision that is not as recorded; `nil` where there was none.
    package struct Difference: Sendable, Hashable, Encodable {
        /// From 1.
        package let number: Int
        package let recorded, replayed: String?
    }

    package let kinds: [Kind]

    /// Decisions after `end` do not count: the recording ends there.
    package init(recorded: [RecordingEntry], replayed: [RecordingEntry], end: Duration) {
        let decisions: [(Kind.Name, ([RecordingEntry]) -> [Decision])] = [
            (.updates, Self.updates), (.waits, Self.waits), (.quarantined, Self.quarantined),
        ]
        kinds = decisions.map { name, decisions in
            let counted = decisions(replayed.filter { $0.at.duration <= end })
            return Self.compare(name, decisions(recorded), decisions(replayed), atLeast: counted.count)
        }
    }

    /// Whether every decision is as recorded.
    package var isEqual: Bool { kinds.allSatisfy(\.differences.isEmpty) }

    /// One decision in words, and the length of a wait in milliseconds.
    private struct Decision {
        var words: String
        var delay: Int?

        /// What is left of a wait that began before depends on how fast the threads are.
        static let tolerance = 250

        func isSame(as other: Decision) -> Bool {
            guard let delay, let otherDelay = other.delay else { return words == other.words }
            return words == other.words && abs(delay - otherDelay) <= max(Self.tolerance, delay / 10)
        }

        var text: String { delay.map { "\($0) ms (\(words))" } ?? words }
    }

    /// `atLeast`: what came in time; what came too late counts only where it stands for a recorded one.
    private static func compare(
        _ name: Kind.Name, _ recorded: [Decision], _ replayed: [Decision], atLeast count: Int
    ) -> Kind {
        let replayed = replayed.prefix(max(count, min(recorded.count, replayed.count)))
        let differences = (0..<max(recorded.count, replayed.count)).compactMap { index -> Difference? in
            let one = index < recorded.count ? recorded[index] : nil
            let other = index < replayed.count ? replayed[index] : nil
            if let one, let other, one.isSame(as: other) { return nil }
            return Difference(number: index + 1, recorded: one?.text, replayed: other?.text)
        }
        return Kind(name: name, recorded: recorded.count, replayed: replayed.count, differences: differences)
    }

    private static func updates(_ entries: [RecordingEntry]) -> [Decision] {
        entries.compactMap { entry in
            switch entry.event {
            case .accepted(_, let timeOfFix): Decision(words: "accepted, fix of \(timeOfFix)")
            case .notStored(let error): Decision(words: "not stored (\(error))")
            default: nil
            }
        }
    }

    private static func waits(_ entries: [RecordingEntry]) -> [Decision] {
        entries.compactMap { entry in
            guard case .waiting(let delay, let reason) = entry.event else { return nil }
            return Decision(words: reason, delay: delay.value)
        }
    }

    /// Numbers count from the run's first update: the outbox of a re-enacted run is a new one.
    private static func quarantined(_ entries: [RecordingEntry]) -> [Decision] {
        let accepted = entries.compactMap { if case .accepted(let update, _) = $0.event { update.value } else { nil } }
        return entries.compactMap { entry in
            guard case .quarantined(let update) = entry.event else { return nil }
            return Decision(words: "update \(update.value - (accepted.first ?? 1) + 1)")
        }
    }
}

/// Keeps the decisions of a re-enacted run, in the words of a recording.
package final class DecisionLog: ReportingObserver {
    private let clock: MonotonicClock
    private let state = Locked((decisions: PipelineDecisions(), entries: [RecordingEntry]()))

    package init(clock: MonotonicClock) { self.clock = clock }

    package var entries: [RecordingEntry] { state.withLock { $0.entries } }

    package func observe(_ event: ReportingEvent) {
        let now = RecordedNumber(clock.now)
        state.withLock { state in
            guard let decision = state.decisions.decision(in: event) else { return }
            state.entries.append(RecordingEntry(at: now, decision))
        }
    }
}
