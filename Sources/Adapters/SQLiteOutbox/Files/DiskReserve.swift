import LinuxPlatform
import Reporting

/// A file that reserves disk space. It is removed when the disk is full, so that accepted updates can still be
/// delivered and acknowledged.
final class DiskReserve {
    private let files: StoreFiles
    private let configuration: OutboxConfiguration
    /// The warning that the reserve is missing; `nil` while the reserve exists.
    private var warning: OutboxWarning?

    /// The reserve's size. It is enough for the write-ahead log between two checkpoints, and for one checkpoint.
    static let bytes: Int64 = 512 * 1024

    init(_ files: StoreFiles, _ configuration: OutboxConfiguration) {
        self.files = files
        self.configuration = configuration
    }

    /// Evaluates `work` and returns its result. If the disk is full, removes the reserve and evaluates `work` again. If
    /// the reserve can't be removed, throws the first error.
    func useIfNeeded<Result>(for work: @autoclosure () throws(OutboxError) -> Result) throws(OutboxError) -> Result {
        do throws(OutboxError) { return try work() } catch {
            guard error.isFull, !error.isFailedSync else { throw error }
            do throws(SystemError) { try files.disk.removeFile(at: files.reserve) } catch _ { throw error }
        }
        return try work()
    }

    /// Makes sure that the reserve exists. If a file at its path must not be replaced, there is no reserve. Its absence
    /// is reported once, and updates are stored anyway.
    func createIfMissing() throws(OutboxError) {
        do throws(OutboxError) {
            try withSystem(files.path, files.disk.reserve(Self.bytes, at: files.reserve))
            if let warning { configuration.reportWarningEnd(warning) }
            warning = nil
        } catch {
            guard case .refusal(let refusal) = error.cause else { throw error }
            guard warning == nil else { return }
            let missing = OutboxWarning.noReserve(refusal)
            warning = missing
            configuration.reportWarning(missing)
        }
    }
}
