import Glibc
import LinuxPlatform
import LocationReporting

extension SystemError {
    /// Whether a file is not there, or not yet to be read: its writer creates it first and permits reading then.
    var isOfAMissingFile: Bool { number == ENOENT || number == EACCES }
}

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
        case place(FileMark, offset: Int64)
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

    private final class OpenFile {
        let descriptor: OwnedDescriptor
        let mark: FileMark

        init(_ path: String) throws(SystemError) {
            // Without O_NONBLOCK, opening a FIFO waits for a writer.
            descriptor = try OwnedDescriptor(opening: path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
            mark = try FileMark(of: descriptor.raw)
        }
    }

    let path: String
    private let ticker: Ticker
    private var file: OpenFile
    private(set) var offset: Int64 = 0

    /// Opens what is at `path`.
    init(path: String, from beginning: Beginning) throws(SystemError) {
        self.path = path
        ticker = try Ticker(every: Self.interval)
        file = try OpenFile(path)
        let start: Int64 =
            switch beginning {
            case .start: 0
            case .end: file.mark.size
            case .place(let mark, let offset): mark.isSameFile(as: file.mark) && offset <= file.mark.size ? offset : 0
            }
        if file.mark.kind == .file, start > 0 { offset = Int64(lseek(file.descriptor.raw, off_t(start), SEEK_SET)) }
    }

    /// What was opened.
    var mark: FileMark { file.mark }
    /// Where another opening continues.
    var place: Beginning { .place(file.mark, offset: offset) }
    /// Readable when a look is worth while.
    var raw: CInt { file.mark.kind == .file ? ticker.raw : file.descriptor.raw }

    /// The first bytes of a file, which tell what it is; empty for a FIFO, whose bytes can be read only once.
    private var firstBytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe pread(file.descriptor.raw, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    /// What it is, as far as its first bytes tell.
    var kind: LogFileKind { LogFileKind(firstBytes: firstBytes.span) }

    /// Why it cannot be followed; `nil` when it can, as far as its first bytes tell.
    var problem: FixSourceError? {
        if file.mark.kind == .folder { return FixSourceError(.notALog, "\(path) is a folder; name the logs in it") }
        if file.mark.kind == .device, !firstBytes.isEmpty, firstBytes.allSatisfy({ $0 == 0 }) {
            return FixSourceError(.notALog, "\(path) is a device that gives only zeros; name a log or a serial line")
        }
        return kind == .gzip
            ? FixSourceError(.notALog, "\(path) is a gzip archive, which cannot be followed") : kind.problem(of: path)
    }

    /// Takes what is there, without waiting.
    func look(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> Look {
        ticker.clear()
        let read = try LineRead { () throws(SystemError) in try file.descriptor.read(into: &buffer) }
        switch read {
        case .bytes(let count):
            offset += Int64(count)
            return .bytes(count)
        case .nothingYet: return .nothingYet
        case .end where file.mark.kind != .file: return .writersGone
        case .end: break
        }
        switch GrowthChange(readTo: offset, of: try FileMark(of: file.descriptor.raw), there: FileMark(at: path)) {
        case .none: return .nothingYet
        case .truncated:
            try valueOrSystemError("begin \(path) again") { lseek(file.descriptor.raw, 0, SEEK_SET) }
            offset = 0
            return .truncated
        case .replaced:
            // What the writer said last, before it turned to the new file.
            if case .bytes(let count) = try LineRead({ () throws(SystemError) in
                try file.descriptor.read(into: &buffer)
            }) {
                offset += Int64(count)
                return .bytes(count)
            }
            return try reopen() ? .replaced : .nothingYet
        }
    }

    /// Opens what is at the path now, before what was open is closed: the writer of a FIFO finds a reader all the time.
    ///
    /// False, with what was open still open, when there is nothing that may be read for the moment.
    func reopen() throws(SystemError) -> Bool {
        do throws(SystemError) { file = try OpenFile(path) } catch {
            guard error.isOfAMissingFile else { throw error }
            return false
        }
        offset = 0
        return true
    }
}

/// Which file it is, and how long: what two looks at a path are compared by.
struct FileMark: Sendable, Hashable {
    var device: UInt64
    var inode: UInt64
    var size: Int64
    var kind: Kind

    enum Kind: Sendable, Hashable { case file, folder, pipe, device }

    private init(_ status: stat) {
        (device, inode, size) = (UInt64(status.st_dev), UInt64(status.st_ino), Int64(status.st_size))
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFIFO, S_IFSOCK: .pipe
            default: .device
            }
    }

    init(device: UInt64 = 0, inode: UInt64, size: Int64, kind: Kind = .file) {
        (self.device, self.inode, self.size, self.kind) = (device, inode, size, kind)
    }

    /// What lies at `path`, links followed; `nil` when nothing does, or nothing that may be seen.
    init?(at path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// What an open descriptor leads to.
    init(of raw: CInt) throws(SystemError) {
        var status = stat()
        try valueOrSystemError("fstat") { unsafe fstat(raw, &status) }
        self.init(status)
    }

    /// Whether a descriptor leads to a device.
    static func isDevice(_ raw: CInt) -> Bool { (try? FileMark(of: raw))?.kind == .device }

    /// Whether both are the same file, however long.
    func isSameFile(as other: Self) -> Bool { device == other.device && inode == other.inode }
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
    init(readTo offset: Int64, of open: FileMark, there: FileMark?) {
        if let there, !there.isSameFile(as: open) {
            self = .replaced
        } else {
            self = open.size < offset ? .truncated : .none
        }
    }
}
