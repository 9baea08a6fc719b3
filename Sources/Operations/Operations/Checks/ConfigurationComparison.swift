package import Conditions
import LinuxPlatform
import ReportedText
import TimeAndRandomness

/// A comparison of the configuration file being checked and the one that the running service uses.
package enum ConfigurationComparison {
    /// The tolerance in seconds when the file's time of change is compared with the time at which the service read it.
    private static let timeTolerance = 1.0

    /// Compares `file` with the configuration that the service uses.
    ///
    /// - Parameters:
    ///   - file: the configuration file being checked.
    ///   - report: the service's status.
    ///   - isSameFile: returns whether a path leads to the same file as `file`.
    ///   - changedAt: the time at which `file` was last changed, in seconds since 1970.
    /// - Returns: the reason why the service doesn't use the contents of `file`; `nil` if no difference is known.
    package static func difference(
        of file: String, from report: StatusReport, isSameFile: (String) -> Bool, changedAt: Double?
    ) -> OnlineFinding.OtherConfiguration? {
        guard let loaded = report.configuration else { return nil }
        if let other = loaded.file, !isSameFile(other) { return .otherFile(other, checked: file) }
        if let rejection = report.conditions.first(where: { $0.code == ConditionCode.reloadRejected.rawValue }) {
            let problems = rejection.causes.map { ReportedText($0.cause, limit: ReportedText.maximumSentenceLength) }
            return .rejectedReload(problems, loadedAt: loaded.loadedAt)
        }
        guard let time = UTCTime(rfc3339: loaded.loadedAt), let changedAt,
            changedAt > time.secondsSince1970 + timeTolerance
        else { return nil }
        return .fileChanged(file, loadedAt: loaded.loadedAt)
    }

    /// Compares `file`, which is on this machine, with the configuration that the service uses. Blocks, so it must not
    /// run on the shared thread pool.
    static func difference(of file: String, from report: StatusReport) -> OnlineFinding.OtherConfiguration? {
        difference(
            of: file, from: report,
            isSameFile: { $0 == FileSystem.destination(of: file) || FileSystem.isSameFile($0, file) },
            changedAt: (try? FileStatus(followingLinksAt: file))?.changedAt)
    }
}
