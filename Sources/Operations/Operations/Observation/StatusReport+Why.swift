import Conditions
import ReportedText
import Reporting
package import TimeAndRandomness

/// The verdict on the service's health, which `waypost why`, the technician's page and the screen show first.
package struct Verdict: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        case well
        /// Current positions are delivered, but older ones are still pending.
        case catchingUp
        case trouble
    }

    /// A line of the verdict, and its role in the verdict.
    package struct Line: Sendable, Hashable {
        package enum Part: String, Sendable, Hashable { case title, cause, remedy, safety }

        package let part: Part
        package let text: String
        /// The time at which the condition began, according to the host's clock; `nil` if the line isn't a condition's
        /// title. `text` contains it as a time of day in UTC.
        package var since: UTCTime?
    }

    package let kind: Kind
    /// The paragraphs of the verdict, one for each condition. If no condition needs attention, a summary of normal
    /// operation comes first.
    package let paragraphs: [[Line]]

    /// The paragraphs as text, separated by empty lines.
    package var text: String {
        paragraphs.map { $0.map(\.text).joined(separator: "\n") }.joined(separator: "\n\n")
    }
}

extension StatusReport {
    /// The minimum number of pending updates that the verdict calls a backlog. They don't fit into one upload.
    private static let minimumBacklog = 50
    /// The minimum time until the next attempt, in seconds, for which the verdict mentions the attempt.
    private static let minimumWait = 60
    /// The maximum time without a delivery in normal operation, in seconds. A heartbeat is sent every minute, and two
    /// may fail.
    private static let maximumSilence = 180

    /// Whether no active condition needs attention.
    package var isWell: Bool { conditions.allSatisfy { $0.severity == .info } }

    /// Returns the verdict. `now` is the host's time, from which the times of day in the verdict are calculated.
    package func verdict(at now: UTCTime) -> Verdict {
        var paragraphs = conditions.map { lines(of: $0, at: now) }
        if isWell {
            // A private vehicle delivers nothing, so the time of its last delivery would be misleading.
            let isPrivate = conditions.contains { $0.code == ConditionCode.privateMode.rawValue }
            if !isPrivate { paragraphs.insert(healthySummary, at: 0) }
            return Verdict(kind: isCatchingUp ? .catchingUp : .well, paragraphs: paragraphs)
        }
        if let seconds = delivery.nextAttemptSeconds, seconds >= Self.minimumWait {
            let text = "The next attempt is in \(Duration.seconds(seconds).humanReadable)."
            paragraphs.append([Verdict.Line(part: .safety, text: text)])
        }
        return Verdict(kind: .trouble, paragraphs: paragraphs)
    }

    private func lines(of condition: ReportedCondition, at now: UTCTime) -> [Verdict.Line] {
        let since = now.advanced(by: .zero - .seconds(condition.seconds))
        let title = "\(condition.title.capitalizedSentence), since \(Self.timeOfDay(since, asOf: now))"
        var lines = [Verdict.Line(part: .title, text: title, since: since)]
        for (index, cause) in condition.causes.enumerated() {
            lines.append(Verdict.Line(part: .cause, text: cause.cause))
            // If the next cause has the same remedy, the remedy is written only once, after that cause.
            if condition.causes.dropFirst(index + 1).first?.remedy != cause.remedy {
                lines.append(Verdict.Line(part: .remedy, text: "\(cause.remedy.capitalizedSentence)."))
            }
        }
        if let safe = condition.safe { lines.append(Verdict.Line(part: .safety, text: "\(safe.capitalizedSentence).")) }
        return lines
    }

    private var isCatchingUp: Bool {
        ledger.pending >= Self.minimumBacklog && (delivery.secondsSinceDelivery ?? .max) <= Self.maximumSilence
    }

    private var healthySummary: [Verdict.Line] {
        func lines(_ title: String, _ text: String) -> [Verdict.Line] {
            [Verdict.Line(part: .title, text: title), Verdict.Line(part: .cause, text: text)]
        }
        guard let delivered = delivery.secondsSinceDelivery else {
            let started = "The service started \(Duration.seconds(uptimeSeconds).humanReadable) ago"
            guard receiver.secondsSinceFix != nil else {
                return lines("Starting", "\(started) and has no position yet.")
            }
            return lines("Starting", "\(started), and its first update is being delivered.")
        }
        let rest = ledger.pending == 0 ? "nothing is" : Self.subjectAndVerb(for: ledger.pending)
        let last = "The last delivery was \(Duration.seconds(delivered).humanReadable) ago, and \(rest) pending."
        guard isCatchingUp else { return lines("All is well", last) }
        return lines("Catching up", "\(last) The newest position goes first; the earlier ones follow by themselves.")
    }

    /// Returns the start of a sentence about updates, such as `1 update is` or `12 updates are`.
    static func subjectAndVerb(for updates: Int64) -> String {
        "\(updates.counted("update")) \(updates == 1 ? "is" : "are")"
    }

    /// Returns the time of day of `time`, such as `09:14 UTC`. If it is on an earlier day than `now`, the result
    /// includes the date.
    private static func timeOfDay(_ time: UTCTime, asOf now: UTCTime) -> String {
        let text = time.description
        let date = text.prefix(10)
        let clock = text.dropFirst(11).prefix(5)
        return time.civilDate == now.civilDate ? "\(clock) UTC" : "\(date) \(clock) UTC"
    }
}

extension String {
    /// The text with its first letter in upper case.
    fileprivate var capitalizedSentence: String { prefix(1).uppercased() + dropFirst() }
}
