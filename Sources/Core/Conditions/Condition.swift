package import Reporting
package import ReportedText
package import VehicleAuthorization

/// A condition with its cause.
package struct Condition: Sendable, Hashable {
    /// The facts that distinguish the causes of one code. Conditions with the same code and equal facts are the same
    /// condition, so a change of facts is logged. Details that may change with every attempt, such as a time or a
    /// server's message, aren't included.
    package indirect enum Facts: Sendable, Hashable {
        case none
        case answer(status: Int)
        case lost(LostExchange.Cause)
        case aborted(AbortReason)
        /// `number` is the `errno` or SQLite's code.
        case outbox(OutboxError.Code, number: Int32? = nil)
        case receiver(ReceiverFault)
        /// Whether any satellite has a signal.
        case sky(hasSignal: Bool)
        /// The label of a `FixRejection`.
        case rejection(String)
        case token(TokenFault)
        case tokenWarning(AuthorizationWarning)
        /// The direction in which a clock is wrong, and the clock that it was compared with, if that matters.
        case clock(ClockSource?, isAhead: Bool)
        case zones([Int])
        case bug(InternalError)
        /// The consequence of a failure with this code and these facts.
        case consequence(ConditionCode, Facts)
        /// A number that distinguishes several events of the same kind.
        case number(Int64)
    }

    package let code: ConditionCode
    package let facts: Facts
    /// The causes, of which there is at least one. Each is one sentence without a full stop, with its own remedy or the
    /// code's.
    package let causes: [Wording]

    package init(_ code: ConditionCode, _ cause: ReportedText, facts: Facts = .none) {
        self.init(code, Wording(cause, ""), facts: facts)
    }

    /// Creates a condition from a cause with its own remedy, and `others` if it has several causes at once.
    package init(_ code: ConditionCode, _ cause: Wording, and others: [Wording] = [], facts: Facts = .none) {
        self.code = code
        self.facts = facts
        causes = ([cause] + others).map { $0.remedy.isEmpty ? Wording($0.cause, "\(text: code.remedy)") : $0 }
    }

    /// The first cause.
    package var cause: ReportedText { causes[0].cause }
    /// The remedy for the first cause.
    package var remedy: ReportedText { causes[0].remedy }

    /// The first cause with its remedy, in one line.
    package var explanation: ReportedText { causes[0].sentence }

    /// The texts for the log, one for each cause.
    package var lines: [ReportedText] { causes.map { "\(text: code.title): \($0.sentence)" } }

    /// The text for the log about the first cause.
    package var line: ReportedText { lines[0] }
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
