import Conditions
import ReportedText
import Reporting
package import TimeAndChance

/// The summary with which `waypost why`, the page and the screen begin.
package struct Verdict: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        case well
        /// Positions arrive, and earlier ones are still pending.
        case catchingUp
        case trouble
    }

    /// A line with its part in the verdict.
    package struct Line: Sendable, Hashable {
        package enum Part: String, Sendable, Hashable { case title, cause, remedy, safety }

        package let part: Part
        package let text: String
    }

    package let kind: Kind
    /// The lines of each condition. If none needs attention, a summary of normal operation comes first.
    package let paragraphs: [[Line]]

    /// All lines, with an empty one between two paragraphs.
    package var text: String {
        paragraphs.map { $0.map(\.text).joined(separator: "\n") }.joined(separator: "\n\n")
    }
}

extension StatusReport {
    /// The minimum number of pending updates of a backlog, which needs more than the next upload.
    private static let backlog = 50
    /// The next attempt is mentioned if it is at least this many seconds away.
    private static let minimumWait = 60
    /// A heartbeat goes out every minute, and may fail twice.
    private static let longestSilence = 180

    /// Whether no condition needs attention.
    package var isWell: Bool { conditions.allSatisfy { $0.severity == .info } }

    /// Returns the summary for a person; `now` is the present, for the times in it.
    package func verdict(at now: UTCTime) -> Verdict {
        var paragraphs = conditions.map { lines(of: $0, at: now) }
        if isWell {
            // A private vehicle sends nothing, so its last delivery says nothing about its health.
            let isPrivate = conditions.contains { $0.code == ConditionCode.privateMode.rawValue }
            if !isPrivate { paragraphs.insert(wellness, at: 0) }
            return Verdict(kind: isCatchingUp ? .catchingUp : .well, paragraphs: paragraphs)
        }
        if let seconds = delivery.nextAttemptSeconds, seconds >= Self.minimumWait {
            let text = "The next attempt is in \(Duration.seconds(seconds).spoken)."
            paragraphs.append([Verdict.Line(part: .safety, text: text)])
        }
        return Verdict(kind: .trouble, paragraphs: paragraphs)
    }

    private func lines(of condition: ReportedCondition, at now: UTCTime) -> [Verdict.Line] {
        let since = Self.moment(condition.seconds, before: now)
        return [
            Verdict.Line(part: .title, text: "\(condition.title.capitalizedSentence), since \(since)"),
            Verdict.Line(part: .cause, text: condition.cause),
            Verdict.Line(part: .remedy, text: "\(condition.remedy.capitalizedSentence)."),
        ] + (condition.safe.map { [Verdict.Line(part: .safety, text: "\($0.capitalizedSentence).")] } ?? [])
    }

    private var isCatchingUp: Bool {
        ledger.pending >= Self.backlog && (delivery.secondsSinceDelivery ?? .max) <= Self.longestSilence
    }

    private var wellness: [Verdict.Line] {
        func lines(_ title: String, _ text: String) -> [Verdict.Line] {
            [Verdict.Line(part: .title, text: title), Verdict.Line(part: .cause, text: text)]
        }
        guard let delivered = delivery.secondsSinceDelivery else {
            let started = "The service started \(Duration.seconds(uptimeSeconds).spoken) ago"
            guard receiver.secondsSinceFix != nil else {
                return lines("Starting", "\(started), and has no position yet.")
            }
            return lines("Starting", "\(started), and its first update is on its way.")
        }
        let rest = ledger.pending == 0 ? "nothing is" : Self.subject(ledger.pending)
        let last = "The last delivery was \(Duration.seconds(delivered).spoken) ago, and \(rest) pending."
        guard isCatchingUp else { return lines("All is well", last) }
        return lines("Catching up", "\(last) The newest position goes first; the earlier ones follow by themselves.")
    }

    /// `1 update is`, `12 updates are`.
    static func subject(_ updates: Int64) -> String {
        "\(updates.counted("update")) \(updates == 1 ? "is" : "are")"
    }

    /// `09:14 UTC`, with its date when that is another day's.
    private static func moment(_ seconds: Int, before now: UTCTime) -> String {
        let time = now.advanced(by: .zero - .seconds(seconds))
        let text = time.description
        let date = text.prefix(10)
        let clock = text.dropFirst(11).prefix(5)
        return time.civilDate == now.civilDate ? "\(clock) UTC" : "\(date) \(clock) UTC"
    }
}

extension String {
    /// The text with a capital letter at its beginning.
    fileprivate var capitalizedSentence: String { prefix(1).uppercased() + dropFirst() }
}
