import FoundationEssentials

/// The sanitizer that this run is built with, as `scripts/sanitize` names it. A suite that proves nothing under one, or
/// too little for what it takes, says so where it stands: `@Suite(.enabled(if: !Sanitizer.isActive, "reads sources"))`.
package enum Sanitizer {
    private static let name = ProcessInfo.processInfo.environment["WAYPOST_SANITIZER"]

    package static let isActive = name != nil

    /// Finds races between threads, and nothing where there is one.
    package static let isOfThreads = name == "thread"
}
