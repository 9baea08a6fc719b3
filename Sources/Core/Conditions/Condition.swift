package import Reporting
package import ReportedText

/// A condition with its cause.
package struct Condition: Sendable, Hashable {
    /// The facts that distinguish the causes of one code. Conditions with the same code and equal facts are the same
    /// condition, so details that change with every attempt, such as a time, aren't included.
    package enum Facts: Sendable, Hashable {
        case none
        case answer(status: Int)
        case lost(LostExchange.Cause)
        case aborted(AbortReason)
        case outbox(OutboxError.Code)
        /// The label of a `FixRejection`.
        case rejection(String)
        /// A number that distinguishes several events of the same kind.
        case number(Int64)
    }

    package let code: ConditionCode
    package let facts: Facts
    /// The cause, in one sentence without a full stop.
    package let cause: ReportedText
    /// The remedy for this cause; the code's remedy if the cause has none.
    package let remedy: ReportedText

    package init(_ code: ConditionCode, _ cause: ReportedText, facts: Facts = .none) {
        self.init(code, Wording(cause, ""), facts: facts)
    }

    /// Creates a condition from a cause with its own remedy.
    package init(_ code: ConditionCode, _ wording: Wording, facts: Facts = .none) {
        self.code = code
        self.facts = facts
        cause = wording.cause
        remedy = wording.remedy.isEmpty ? "\(text: code.remedy)" : wording.remedy
    }

    /// Cause and remedy in one line.
    package var explanation: ReportedText { "\(cause); \(remedy)" }

    /// The text for the log.
    package var line: ReportedText { "\(text: code.title): \(explanation)" }
}

extension ReportedText.StringInterpolation {
    /// Appends text from the catalog, which contains nothing from outside.
    mutating func appendInterpolation(text: String) { appendLiteral(text) }
}

/// An active condition with its start.
package struct ActiveCondition: Sendable, Hashable {
    package let condition: Condition
    package let since: Duration

    package var code: ConditionCode { condition.code }
}
