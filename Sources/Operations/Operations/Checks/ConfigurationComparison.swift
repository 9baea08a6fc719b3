package import Conditions
import LinuxPlatform
import ReportedText
import TimeAndChance

/// Compares the file that is checked with the configuration that the running service uses.
package enum ConfigurationComparison {
    /// The tolerated difference between a file's time and the clock, in seconds.
    private static let tolerance = 1.0

    /// Compares the file that is checked with the file that the service uses.
    ///
    /// - Parameters:
    ///   - report: the service's state.
    ///   - file: the file that is checked.
    ///   - isSame: returns whether a path leads to `file`.
    ///   - changedAt: the time at which `file` was last changed, in seconds since 1970.
    /// - Returns: the reason why the service doesn't use the file; `nil` if it does, as far as is known.
    package static func difference(
        _ report: StatusReport, file: String, isSame: (String) -> Bool, changedAt: Double?
    ) -> OnlineFinding.OtherConfiguration? {
        guard let loaded = report.configuration else { return nil }
        if let other = loaded.file, !isSame(other) { return .file(other, checked: file) }
        if let rejection = report.conditions.first(where: { $0.code == ConditionCode.reloadRejected.rawValue }) {
            let problems = rejection.causes.map { ReportedText($0.cause, limit: ReportedText.longestSentence) }
            return .rejectedReload(problems, loadedAt: loaded.loadedAt)
        }
        guard let time = UTCTime(rfc3339: loaded.loadedAt), let changedAt,
            changedAt > time.secondsSince1970 + tolerance
        else { return nil }
        return .changedSince(file, loadedAt: loaded.loadedAt)
    }

    /// Compares a file on this machine with the file that the service uses. Blocks, so it must not run on the shared
    /// pool.
    static func difference(_ report: StatusReport, file: String) -> OnlineFinding.OtherConfiguration? {
        difference(
            report, file: file,
            isSame: { $0 == FileSystem.destination(of: file) || FileSystem.isSameFile($0, file) },
            changedAt: (try? FileStatus(behind: file))?.changedAt)
    }
}
