package import ReportedText

/// The text that describes a failure: its cause and its remedy.
package struct Wording: Sendable, Hashable {
    /// The cause, without a full stop.
    package let cause: ReportedText
    /// The remedy; empty if nothing is known to help.
    package let remedy: ReportedText

    package init(_ cause: ReportedText, _ remedy: ReportedText) {
        self.cause = cause
        self.remedy = remedy
    }

    /// Cause and remedy in one line.
    package var sentence: ReportedText { remedy.isEmpty ? cause : "\(cause); \(remedy)" }
}
