import LinuxPlatform
import Reporting

/// A file whose space is freed when the disk is full, so that accepted updates can still be delivered and acknowledged.
final class DiskReserve {
    private let files: StoreFiles
    private let configuration: OutboxConfiguration
    /// The active warning that there is no reserve, if any.
    private var warning: OutboxWarning?

    /// The reserve's size: enough for the log between two checkpoints, and for one checkpoint.
    static let bytes: Int64 = 512 * 1024

    init(_ files: StoreFiles, _ configuration: OutboxConfiguration) {
        self.files = files
        self.configuration = configuration
    }

    /// Evaluates `work`. If the disk is full, frees the reserve and evaluates `work` again, unless the file at the
    /// reserve's path can't be removed.
    func useIfNeeded<Result>(for work: @autoclosure () throws(OutboxError) -> Result) throws(OutboxError) -> Result {
        do throws(OutboxError) { return try work() } catch {
            guard error.isFull, !error.isFailedSync else { throw error }
            do throws(SystemError) { try files.disk.removeFile(at: files.reserve) } catch _ { throw error }
        }
        return try work()
    }

    /// Makes sure that the reserve exists. If another file is at its path and this user may not remove that file, there
    /// is no reserve. This is reported once, and updates are stored anyway.
    func fill() throws(OutboxError) {
        do throws(OutboxError) {
            try withSystem(files.path, files.disk.reserve(Self.bytes, at: files.reserve))
            if let warning { configuration.reportWarningEnd(warning) }
            warning = nil
        } catch {
            guard case .refusal(let reason, let remedy) = error.cause else { throw error }
            guard warning == nil else { return }
            let missing = OutboxWarning.noReserve(reason, remedy: remedy)
            warning = missing
            configuration.reportWarning(missing)
        }
    }
}
