import FoundationEssentials

/// The sanitizer of this build, as `scripts/sanitize` names it.
///
/// A suite that is of little use under a sanitizer is disabled with a reason:
/// `@Suite(.enabled(if: !Sanitizer.isActive, "reads sources"))`.
package enum Sanitizer {
    private static let name = ProcessInfo.processInfo.environment["WAYPOST_SANITIZER"]

    package static let isActive = name != nil

    /// Whether this build has the thread sanitizer, which finds nothing in code on a single thread.
    package static let isThreadSanitizer = name == "thread"
}
