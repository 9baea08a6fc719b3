import FleetEngine
import GNSS
import LinuxPlatform
package import LocationReporting
import TimeAndChance

/// How the decisions of a replay differ from those of the run that was recorded. Pure.
package struct FlightComparison: Sendable, Hashable {
    /// The decisions of one kind, side by side.
    package struct Kind: Sendable, Hashable {
        package let name: String
        package let recorded, replayed: Int
        /// Where they differ: at which one, what was recorded, what came; `nil` where there was none.
        package let differences: [Difference]
    }

    /// One decision that is not as recorded.
    package struct Difference: Sendable, Hashable {
        /// From 1.
        package let number: Int
        package let recorded, replayed: String?
    }

    package let kinds: [Kind]

    /// Decisions after `end` (milliseconds) are of no account: there the recording ends.
    package init(recorded: [FlightEntry], replayed: [FlightEntry], end: Int) {
        let counted = replayed.filter { $0.at <= end }
        kinds = [
            Self.compare(
                "updates", Self.updates(recorded), Self.updates(replayed), atLeast: Self.updates(counted).count),
            Self.compare("waits", Self.waits(recorded), Self.waits(replayed), atLeast: Self.waits(counted).count),
            Self.compare(
                "set aside", Self.setAside(recorded), Self.setAside(replayed), atLeast: Self.setAside(counted).count),
        ]
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
        _ name: String, _ recorded: [Decision], _ replayed: [Decision], atLeast count: Int
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

    private static func updates(_ entries: [FlightEntry]) -> [Decision] {
        entries.compactMap { entry in
            if entry.accepted != nil {
                return Decision(words: "accepted, fix of \(entry.timeOfFix ?? "an unknown time")")
            }
            return entry.notStored.map { Decision(words: "not stored (\($0))") }
        }
    }

    private static func waits(_ entries: [FlightEntry]) -> [Decision] {
        entries.compactMap { entry in
            entry.waiting.map { Decision(words: entry.reason ?? "unknown", delay: $0) }
        }
    }

    /// Numbers count from the run's first update: the replay's outbox is a new one.
    private static func setAside(_ entries: [FlightEntry]) -> [Decision] {
        let first = entries.compactMap(\.accepted).first ?? 1
        return entries.compactMap { entry in
            entry.quarantined.map { Decision(words: "update \($0 - first + 1)") }
        }
    }
}

/// From what happens in the pipeline to the decisions in a recording: the same words when it is made and when it is
/// played again. Pure.
package struct FlightWords: Sendable {
    /// Why the next wait is.
    private var reason = "outbox"

    package init() {}

    /// The entry for `event`; `nil` when it is no decision.
    package mutating func entry(for event: ReportingEvent, at now: Int) -> FlightEntry? {
        let entry = FlightEntry(at: now)
        switch event {
        case .accepted(let stored):
            return entry.with(\.accepted, stored.sequence).with(\.timeOfFix, stored.update.timeOfFix.description)
        case .notStored(let error): return entry.with(\.notStored, error.code.rawValue)
        case .uploading(let batch): return entry.with(\.uploading, batch.pending.count)
        case .waiting(let delay, _): return entry.with(\.waiting, delay.milliseconds).with(\.reason, reason)
        case .quarantined(let stored, _): return entry.with(\.quarantined, stored.sequence)
        case .failed(let outcome, _): reason = outcome.word
        case .noToken: reason = "token"
        case .outboxFailed: reason = "outbox"
        case .receiver, .receiverWarning, .progress, .fix, .refused, .delivered, .serverTime, .idle, .stateSent: break
        }
        return nil
    }
}

extension UploadOutcome {
    /// Its kind, without the other side's words.
    var word: String {
        switch self {
        case .delivered: "delivered"
        case .tokenRefused: "tokenRefused"
        case .retry: "retry"
        case .throttled: "throttled"
        case .unreachable: "unreachable"
        case .intercepted: "intercepted"
        case .hold: "hold"
        case .rejected: "rejected"
        }
    }
}

extension Duration {
    /// Whole milliseconds.
    var milliseconds: Int { Int(self / .milliseconds(1)) }
}

/// Keeps the decisions of a replay, in the words of a recording.
final class DecisionLog: ReportingObserver {
    private let clock: MonotonicClock
    private let state = Locked((words: FlightWords(), entries: [FlightEntry]()))

    init(clock: MonotonicClock) { self.clock = clock }

    var entries: [FlightEntry] { state.withLock { $0.entries } }

    func observe(_ event: ReportingEvent) {
        let now = clock.now.milliseconds
        state.withLock { state in
            if let entry = state.words.entry(for: event, at: now) { state.entries.append(entry) }
        }
    }
}
