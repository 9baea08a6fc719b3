import Glibc
import LinuxPlatform
import Reporting

/// A file that another program is writing, or a FIFO. As with `tail -F`, reading continues when the file is rotated or
/// truncated, or when another writer opens the FIFO.
///
/// The file is checked four times per second, which is enough for a receiver that sends once per second. inotify isn't
/// used, because it doesn't work for network file systems that another machine writes to, nor through an overlay.
final class GrowingFile {
    enum StartPosition: Sendable, Hashable {
        case start, end
        /// The position that an earlier opening reached, if the file is still the same; otherwise the start.
        case position(FileStatus.Identity?, offset: Int64)
    }

    enum CheckResult: Sendable, Hashable {
        case bytes(Int)
        case nothingYet
        /// The file was truncated: reading continues at its start.
        case truncated
        /// The file was replaced: reading continues with the new file.
        case replaced
        /// All writers of a FIFO have closed it; `reopen` waits for the next one.
        case writersGone
    }

    /// The time between two checks.
    static let interval = Duration.milliseconds(250)
    /// The error numbers for a file that is missing, or that its writer has created but not yet made readable.
    static let missingFileErrors = [ENOENT, EACCES]

    private final class OpenFile {
        let descriptor: OwnedDescriptor
        let status: FileStatus

        init(_ path: String) throws(SystemError) {
            // Without O_NONBLOCK, opening a FIFO blocks until it has a writer.
            descriptor = try OwnedDescriptor(opening: path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
            status = try FileStatus(of: descriptor)
        }
    }

    let path: String
    private let ticker: Ticker
    private var file: OpenFile
    private(set) var offset: Int64 = 0

    init(path: String, from start: StartPosition) throws(SystemError) {
        self.path = path
        ticker = try Ticker(every: Self.interval)
        file = try OpenFile(path)
        let first: Int64 =
            switch start {
            case .start: 0
            case .end: file.status.bytes
            case .position(let identity, let offset):
                identity == file.status.identity && offset <= file.status.bytes ? offset : 0
            }
        if file.status.kind == .file, first > 0 { offset = Int64(lseek(file.descriptor.raw, off_t(first), SEEK_SET)) }
    }

    var kind: FileStatus.Kind { file.status.kind }
    /// The position from which a later opening continues.
    var position: StartPosition { .position(file.status.identity, offset: offset) }
    /// A descriptor that is readable when the next check is due.
    var raw: CInt { kind == .file ? ticker.raw : file.descriptor.raw }

    /// The first bytes of a file; empty for a FIFO, whose bytes can be read only once.
    private var firstBytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe pread(file.descriptor.raw, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    /// The reason why the file can't be followed; `nil` if it can, as far as its first bytes show.
    var fault: LogFault? {
        if kind == .directory { return .directory }
        let firstBytes = firstBytes
        if kind == .device, !firstBytes.isEmpty, firstBytes.allSatisfy({ $0 == 0 }) { return .zeroDevice }
        let format = LogFileKind(firstBytes: firstBytes.span)
        return format == .gzip ? .followedArchive : format.fault
    }

    /// Reads the available bytes, without blocking, and returns their number. If there are none, returns whether the
    /// file was truncated or replaced.
    func check(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> CheckResult {
        ticker.clear()
        switch try read(into: &buffer) {
        case .bytes(let count): return .bytes(count)
        case .nothingYet: return .nothingYet
        case .end where kind != .file: return .writersGone
        case .end: break
        }
        let open = try FileStatus(of: file.descriptor)
        switch LogFileChange(readTo: offset, of: open, current: try? FileStatus(followingLinksAt: path)) {
        case .none: return .nothingYet
        case .truncated:
            try valueOrSystemError("begin \(path) again") { lseek(file.descriptor.raw, 0, SEEK_SET) }
            offset = 0
            return .truncated
        case .replaced:
            // The writer may have appended more bytes to the old file before it switched to the new one.
            if case .bytes(let count) = try read(into: &buffer) { return .bytes(count) }
            return try reopen() ? .replaced : .nothingYet
        }
    }

    private func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> LineRead {
        let read = try LineRead { () throws(SystemError) in try file.descriptor.read(into: &buffer) }
        if case .bytes(let count) = read { offset += Int64(count) }
        return read
    }

    /// Opens the file at the path again before the old one is closed, so that the writer of a FIFO always has a reader.
    ///
    /// Returns `false` and keeps the old file open if there is no readable file at the moment.
    func reopen() throws(SystemError) -> Bool {
        do throws(SystemError) { file = try OpenFile(path) } catch {
            guard Self.missingFileErrors.contains(error.number) else { throw error }
            return false
        }
        offset = 0
        return true
    }
}

/// A change to a growing file that has been read to its end, detected as `tail -F` does.
enum LogFileChange: Sendable, Hashable {
    case none
    /// The file is shorter than the part that has been read, so its writer must have started over.
    case truncated
    /// Another file is now at the path, so the old one must have been rotated.
    case replaced

    /// - Parameters:
    ///   - offset: the offset to which the open file has been read.
    ///   - open: the open file.
    ///   - current: the file that is now at the path, if there is one.
    init(readTo offset: Int64, of open: FileStatus, current: FileStatus?) {
        if let current, current.identity != open.identity {
            self = .replaced
        } else {
            self = open.bytes < offset ? .truncated : .none
        }
    }
}

/// A rule that decides when a pause in a growing file completes an epoch. It reads no clock; the caller reports how
/// long it has waited.
///
/// A pause completes an epoch as it does on a live line, but only if the file ends with a complete line. Otherwise a
/// program that writes in blocks may just be in the middle of a sentence.
struct GrowthPause: Sendable {
    private static let minimumTimeout = Duration.milliseconds(10)

    /// The time that the decoder is given: the total time spent waiting for bytes. It doesn't advance while bytes are
    /// read and used.
    private(set) var time = Duration.zero
    private var isAtLineEnd = true

    /// Records the bytes that are decoded next, to know whether they end with a complete line.
    mutating func recordBytes(_ bytes: Span<UInt8>) {
        guard let last = bytes.indices.last else { return }
        isAtLineEnd = bytes[last] == UInt8(ascii: "\n") || bytes[last] == UInt8(ascii: "\r")
    }

    /// Records that nothing has arrived for another `duration`. Returns whether the pause may complete an epoch.
    mutating func recordWait(_ duration: Duration) -> Bool {
        if isAtLineEnd { time += duration }
        return isAtLineEnd
    }

    /// Returns how long to wait for bytes before a pause completes an epoch at `deadline`; `nil` if no pause can.
    func timeout(until deadline: Duration?) -> Duration? {
        guard isAtLineEnd, let deadline else { return nil }
        return max(deadline - time, Self.minimumTimeout)
    }
}
