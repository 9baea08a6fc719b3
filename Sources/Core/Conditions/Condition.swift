package import Reporting
package import ReportedText
package import VehicleAuthorization

/// A condition that an operator should know about, with its causes.
package struct Condition: Sendable, Hashable {
    /// The facts that distinguish conditions with the same code. Two conditions with the same code and equal facts are
    /// the same condition, so a change of facts is logged. Details that may change with every attempt, such as a time
    /// or a server's message, aren't included.
    ///
    /// Large facts are indirect, so that a condition stays small. The whole enum isn't, because the leak sanitizer
    /// doesn't find references in which Swift also stores the case.
    package enum Facts: Sendable, Hashable {
        case none
        case answer(status: Int, about: ServiceAnswer.Subject? = nil)
        case lost(LostExchange.Cause)
        case aborted(AbortReason)
        /// `number` is the `errno` of a system call, or SQLite's result code.
        case outbox(OutboxError.Code, number: Int32? = nil)
        indirect case receiver(ReceiverFault)
        /// `hasSignal` says whether the receiver gets a signal from any satellite.
        case sky(hasSignal: Bool)
        case antenna(isShort: Bool)
        /// The label of a `FixRejection`.
        case rejection(String)
        indirect case token(TokenFault)
        case tokenWarnings([AuthorizationWarning])
        /// A wrong clock. The values are the clock that it was compared with, and whether it is ahead. The first value
        /// is `nil` if the other clock doesn't matter.
        case clock(ClockSource?, isAhead: Bool)
        case zones([Int])
        case privateSwitch(CheckFinding.PrivateSwitch)
        case systemInterface(SystemInterface)
        indirect case internalError(InternalError)
        /// The code and facts of the failure that caused this condition.
        indirect case causedBy(ConditionCode, Facts)
        /// A number, such as a time or a count, that distinguishes several events with the same code.
        case number(Int64)
    }

    package let code: ConditionCode
    package let facts: Facts
    /// The causes, at least one. Each is a sentence without a full stop. A cause without a specific remedy has the
    /// catalog's remedy for the code.
    package let causes: [Wording]

    package init(_ code: ConditionCode, _ cause: ReportedText, facts: Facts = .none) {
        self.init(code, Wording(cause, ""), facts: facts)
    }

    /// Creates a condition with one cause, or with several if there are `others`. An empty remedy is replaced by the
    /// catalog's remedy for the code.
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

    /// The texts to log, one for each cause.
    package var lines: [ReportedText] { causes.map { "\(text: code.title): \($0.sentence)" } }

    /// The text to log about the first cause.
    package var line: ReportedText { lines[0] }
}

extension ReportedText.StringInterpolation {
    /// Appends `text` without redaction, so it must be Waypost's own or already redacted.
    mutating func appendInterpolation(text: String) { appendLiteral(text) }
}

/// An active condition, and the time when it started.
package struct ActiveCondition: Sendable, Hashable {
    package let condition: Condition
    package let since: Duration

    package var code: ConditionCode { condition.code }
}
