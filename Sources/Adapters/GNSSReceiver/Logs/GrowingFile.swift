import Glibc
import LinuxPlatform
import Reporting

/// A file that another program writes to, read as `tail -F` does: what is appended, through rotation and truncation; or
/// a FIFO, through one writer after another.
///
/// It looks four times a second instead of asking for notices (inotify): those do not come for what another machine
/// writes to a network file system, nor through an overlay, and a receiver speaks once a second.
final class GrowingFile {
    /// Where reading begins.
    enum Beginning: Sendable, Hashable {
        case start, end
        /// Where it was left off, if the same file is still there; else at the start.
        case place(FileStatus.Identity?, offset: Int64)
    }

    /// What one look gave.
    enum Look: Sendable, Hashable {
        case bytes(Int)
        case nothingYet
        /// It was truncated: reading continues at its start.
        case truncated
        /// Another file is in its place: reading continues there.
        case replaced
        /// The writers of a FIFO have gone; `reopen` waits for the next one.
        case writersGone
    }

    /// How often a file is looked at.
    static let interval = Duration.milliseconds(250)
    /// What the system says of one that is not there, or not yet to be read: its writer creates it first and permits
    /// reading then.
    static let missing = [ENOENT, EACCES]

    private final class OpenFile {
        let descriptor: OwnedDescriptor
        let status: FileStatus

        init(_ path: String) throws(SystemError) {
            // Without O_NONBLOCK, opening a FIFO waits for a writer.
            descriptor = try OwnedDescriptor(opening: path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
            status = try FileStatus(of: descriptor)
        }
    }

    let path: String
    private let ticker: Ticker
    private var file: OpenFile
    private(set) var offset: Int64 = 0

    init(path: String, from beginning: Beginning) throws(SystemError) {
        self.path = path
        ticker = try Ticker(every: Self.interval)
        file = try OpenFile(path)
        let start: Int64 =
            switch beginning {
            case .start: 0
            case .end: file.status.bytes
            case .place(let identity, let offset):
                identity == file.status.identity && offset <= file.status.bytes ? offset : 0
            }
        if file.status.kind == .file, start > 0 { offset = Int64(lseek(file.descriptor.raw, off_t(start), SEEK_SET)) }
    }

    /// What was opened.
    var kind: FileStatus.Kind { file.status.kind }
    /// Where another opening continues.
    var place: Beginning { .place(file.status.identity, offset: offset) }
    /// Readable when a look is worth while.
    var raw: CInt { kind == .file ? ticker.raw : file.descriptor.raw }

    /// The first bytes of a file, which tell what it is; empty for a FIFO, whose bytes can be read only once.
    private var firstBytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe pread(file.descriptor.raw, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    /// Why the file can't be followed; `nil` if it can, as far as its first bytes show.
    var fault: LogFault? {
        if kind == .folder { return .directory }
        let firstBytes = firstBytes
        if kind == .device, !firstBytes.isEmpty, firstBytes.allSatisfy({ $0 == 0 }) { return .zeroDevice }
        let format = LogFileKind(firstBytes: firstBytes.span)
        return format == .gzip ? .followedArchive : format.fault
    }

    /// Takes what is there, without waiting.
    func look(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> Look {
        ticker.clear()
        switch try read(into: &buffer) {
        case .bytes(let count): return .bytes(count)
        case .nothingYet: return .nothingYet
        case .end where kind != .file: return .writersGone
        case .end: break
        }
        let open = try FileStatus(of: file.descriptor)
        switch GrowthChange(readTo: offset, of: open, there: try? FileStatus(behind: path)) {
        case .none: return .nothingYet
        case .truncated:
            try valueOrSystemError("begin \(path) again") { lseek(file.descriptor.raw, 0, SEEK_SET) }
            offset = 0
            return .truncated
        case .replaced:
            // What the writer said last, before it turned to the new file.
            if case .bytes(let count) = try read(into: &buffer) { return .bytes(count) }
            return try reopen() ? .replaced : .nothingYet
        }
    }

    private func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> LineRead {
        let read = try LineRead { () throws(SystemError) in try file.descriptor.read(into: &buffer) }
        if case .bytes(let count) = read { offset += Int64(count) }
        return read
    }

    /// Opens what is at the path now, before what was open is closed: the writer of a FIFO finds a reader all the time.
    ///
    /// False, with what was open still open, when there is nothing that may be read for the moment.
    func reopen() throws(SystemError) -> Bool {
        do throws(SystemError) { file = try OpenFile(path) } catch {
            guard Self.missing.contains(error.number) else { throw error }
            return false
        }
        offset = 0
        return true
    }
}

/// What has become of a growing file that has been read to its end: a decision, as `tail -F` makes it.
enum GrowthChange: Sendable, Hashable {
    case none
    /// It is shorter than what has been read of it: its writer began it again.
    case truncated
    /// Another file is in its place: it was rotated away.
    case replaced

    /// - Parameters:
    ///   - offset: how far the open file has been read.
    ///   - open: the open file.
    ///   - there: what lies at its path; `nil` when nothing does, which may be for the moment only.
    init(readTo offset: Int64, of open: FileStatus, there: FileStatus?) {
        if let there, there.identity != open.identity {
            self = .replaced
        } else {
            self = open.bytes < offset ? .truncated : .none
        }
    }
}

/// When a pause of a growing file completes an epoch: a decision, without a clock of its own.
///
/// It does as on a live line, but only where the file ends with a line: a program that writes by the block stops in the
/// midst of a sentence.
struct GrowthPause: Sendable {
    private static let shortestPatience = Duration.milliseconds(10)

    /// The file's own time, for the decoder: so long has been waited for bytes. It stands still while what is there is
    /// read and used.
    private(set) var time = Duration.zero
    private var isAtLineEnd = true

    /// Bytes have come; they are decoded as of `time`.
    mutating func bytesArrived(_ bytes: Span<UInt8>) {
        guard let last = bytes.indices.last else { return }
        isAtLineEnd = bytes[last] == UInt8(ascii: "\n") || bytes[last] == UInt8(ascii: "\r")
    }

    /// Nothing has come for `duration` more; whether the decoder is to hear of it.
    mutating func waited(_ duration: Duration) -> Bool {
        if isAtLineEnd { time += duration }
        return isAtLineEnd
    }

    /// How long to wait for bytes at most, when a pause until `deadline` would complete an epoch.
    func patience(until deadline: Duration?) -> Duration? {
        guard isAtLineEnd, let deadline else { return nil }
        return max(deadline - time, Self.shortestPatience)
    }
}
