import LinuxPlatform

/// Space that is given back when the disk is full, so that what was accepted can still be delivered and written down.
final class DiskReserve {
    private let files: StoreFiles
    private let reportWarning, reportWarningEnd: @Sendable (OutboxWarning, String) -> Void
    private var hasReportedMissing = false

    /// Room for the log between two checkpoints, and for one checkpoint.
    static let bytes: Int64 = 512 * 1024

    init(_ files: StoreFiles, _ configuration: OutboxConfiguration) {
        self.files = files
        reportWarning = configuration.reportWarning
        reportWarningEnd = configuration.reportWarningEnd
    }

    /// Evaluates `work` again with the reserve given back when the disk is full, unless something else lies in the
    /// reserve's place and stays there.
    func lending<Result>(_ work: @autoclosure () throws(StoreError) -> Result) throws(StoreError) -> Result {
        do throws(StoreError) { return try work() } catch {
            guard error.kind == .full, !error.isFailedSync else { throw error }
            do throws(SystemError) { try files.disk.removeFile(at: files.reserve) } catch _ { throw error }
        }
        return try work()
    }

    /// Makes sure of the reserve. What lies in its place and is not this user's to remove stays there: then there is
    /// none, which is reported once until it is over, and updates are stored nevertheless.
    func fill() throws(StoreError) {
        do throws(StoreError) {
            try withSystem(files.path, files.disk.reserve(Self.bytes, at: files.reserve))
            if hasReportedMissing { reportWarningEnd(.noReserve, "there is a reserve for a full disk again") }
            hasReportedMissing = false
        } catch {
            guard error.kind == .refused else { throw error }
            if !hasReportedMissing {
                reportWarning(
                    .noReserve, "there is no reserve for a full disk, updates are stored all the same: \(error.reason)")
            }
            hasReportedMissing = true
        }
    }
}
