import Conditions
import LinuxPlatform
import TimeAndChance

/// Whether the running service goes by the file that is checked: what is found otherwise says nothing of it. Pure.
package enum ConfigurationInForce {
    /// By how much the times of a file and of the clock may differ.
    private static let tolerance = 1.0

    /// Why it does not, with the remedy, to stand behind what the service is; `nil` when it does, as far as is known.
    ///
    /// - Parameters:
    ///   - report: the service's.
    ///   - file: the file that is checked.
    ///   - isSame: whether a path is that of `file`.
    ///   - changedAt: when `file` was changed last, in seconds since 1970.
    /// - Returns: the doubt; `nil` if there is none.
    package static func doubt(
        _ report: StatusReport, file: String, isSame: (String) -> Bool, changedAt: Double?
    ) -> String? {
        guard let loaded = report.configuration else { return nil }
        if let other = loaded.file, !isSame(other) {
            return
                "it goes by another file, \(other), and not by \(file): check that one (--config \(other)), or name this "
                + "one in its unit (systemctl edit waypost)"
        }
        if let rejection = report.conditions.first(where: { $0.code == ConditionCode.reloadRejected.rawValue }) {
            return "it goes by what it read at \(loaded.loadedAt); \(rejection.line)"
        }
        guard let time = UTCTime(rfc3339: loaded.loadedAt), let changedAt,
            changedAt > time.secondsSince1970 + tolerance
        else { return nil }
        return
            "it goes by what it read at \(loaded.loadedAt), and \(file) has been changed since; type systemctl reload "
            + "waypost (for new credentials or environment values, systemctl restart waypost)"
    }

    /// The same of this machine's file. Reads its status; not for the shared pool.
    static func doubt(_ report: StatusReport, file: String) -> String? {
        doubt(
            report, file: file,
            isSame: { $0 == FileSystem.destination(of: file) || FileSystem.isSameFile($0, file) },
            changedAt: (try? FileStatus(behind: file))?.changedAt)
    }
}
