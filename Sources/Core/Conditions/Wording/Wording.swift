package import ReportedText

/// A failure in words.
package struct Wording: Sendable, Hashable {
    /// What happened.
    package let cause: ReportedText
    /// What to do; empty if nothing is known to help.
    package let remedy: ReportedText

    package init(_ cause: ReportedText, _ remedy: ReportedText) {
        self.cause = cause
        self.remedy = remedy
    }

    /// Both, as one line.
    package var sentence: ReportedText { remedy.isEmpty ? cause : "\(cause); \(remedy)" }
}
