import CZlib
import Glibc
package import LinuxPlatform
import ReportedText
package import Reporting

/// The bytes of a recorded log, from its beginning: plain or gzip, told by its first bytes. Reading blocks.
package final class RecordedLog {
    /// What the operator calls it.
    package let name: String
    /// Size of the file; `nil` for what is no file (a pipe).
    let totalBytes: Int64?
    /// How much of the file has been read, before unpacking.
    private(set) var bytesRead: Int64 = 0

    private let descriptor: OwnedDescriptor
    /// Ends the wait for a pipe; a file never makes one wait.
    private let stop: EventDescriptor
    private var archive: GzipStream?
    private var isAtEnd = false
    /// What has been read from the file and is not yet handed on: `input[taken..<filled]`.
    private var input = [UInt8](repeating: 0, count: 1 << 16)
    private var taken = 0
    private var filled = 0
    /// The text's own beginning has been judged (inside a gzip archive, too).
    private var isTextJudged = false

    /// Opens `path`, or standard input for `-`, and looks at what it is.
    ///
    /// `stop` ends the wait for a pipe whose other end is quiet.
    ///
    /// - Throws: `cannotOpen` or `notALog`.
    package init(path: String, stop: EventDescriptor) throws(FixSourceError) {
        self.stop = stop
        name = Self.name(of: path)
        let kind: FileStatus.Kind
        do throws(SystemError) {
            descriptor = try Self.open(path)
            let status = try FileStatus(of: descriptor)
            kind = status.kind
            totalBytes = kind == .file ? status.bytes : nil
        } catch {
            throw FixSourceError(log: path, Self.openingFault(path, error))
        }
        if kind == .folder { throw FixSourceError(log: name, .directory) }
        try fill()
        let beginning = input[..<filled]
        if beginning.isEmpty { throw FixSourceError(log: name, .empty) }
        if kind == .device, beginning.allSatisfy({ $0 == 0 }) { throw FixSourceError(log: name, .zeroDevice) }
        switch LogFileKind(firstBytes: beginning.span) {
        case .gzip: archive = GzipStream()
        case let format: try judgeText(format)
        }
    }

    /// Fills `buffer` from its start as far as one step goes; zero means the end of the log.
    ///
    /// - Throws: `readFailed`, or `notALog` for an archive that is damaged or ends too early; everything before the
    ///   damage has then been handed out.
    package func read(into buffer: inout MutableSpan<UInt8>) throws(FixSourceError) -> Int {
        while true {
            if taken == filled, !isAtEnd { try fill() }
            let isDrained = taken == filled
            guard let archive else { return copy(into: &buffer) }
            // zlib may still hold output when its input is used up.
            let produced = try unpack(archive, into: &buffer)
            if produced > 0 {
                if !isTextJudged { try judgeText(LogFileKind(firstBytes: buffer.span.extracting(0..<produced))) }
                return produced
            }
            guard isDrained else { continue }
            guard archive.isAtMemberEnd else { throw FixSourceError(log: name, .archiveCutShort) }
            guard isTextJudged else { throw FixSourceError(log: name, .archiveWithoutContents) }
            return 0
        }
    }

    private func unpack(
        _ archive: GzipStream, into buffer: inout MutableSpan<UInt8>
    ) throws(FixSourceError) -> Int {
        // Zeros behind the last member are padding (tapes, block devices).
        if archive.isAtMemberEnd {
            while taken < filled, input[taken] == 0 { taken += 1 }
            if taken < filled, input[taken] != 0x1F {
                throw FixSourceError(log: name, .archiveContinued(at: bytesRead - Int64(filled - taken)))
            }
        }
        do throws(GzipStream.Damage) {
            let step = try archive.unpack(input[taken..<filled], into: &buffer)
            taken += step.consumed
            return step.produced
        } catch {
            throw FixSourceError(log: name, .archiveDamaged(reason: error.words, near: bytesRead))
        }
    }

    private func copy(into buffer: inout MutableSpan<UInt8>) -> Int {
        let count = min(buffer.count, filled - taken)
        for index in 0..<count { buffer[index] = input[taken + index] }
        taken += count
        return count
    }

    private func fill() throws(FixSourceError) {
        do throws(SystemError) {
            if totalBytes == nil, try poll(descriptor.raw, within: nil, unless: stop) == .stopped {
                throw SystemError(call: "poll", number: ECANCELED)
            }
            var span = input.mutableSpan
            filled = try descriptor.read(into: &span)
        } catch {
            throw error.number == ECANCELED
                ? FixSourceError(log: name, .stopped)
                : FixSourceError(log: name, .readFailed(reason: error.reason, afterBytes: bytesRead))
        }
        taken = 0
        bytesRead += Int64(filled)
        isAtEnd = filled == 0
    }

    private func judgeText(_ format: LogFileKind) throws(FixSourceError) {
        isTextJudged = true
        if let fault = format.fault { throw FixSourceError(log: name, fault) }
    }

    private static func open(_ path: String) throws(SystemError) -> OwnedDescriptor {
        // Without O_NONBLOCK, opening a pipe waits for a writer.
        guard path == "-" else { return try OwnedDescriptor(opening: path, O_RDONLY | O_NOCTTY | O_NONBLOCK) }
        return OwnedDescriptor(
            owning: try valueOrSystemError("standard input") { fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) })
    }
}

/// What can be said of a log by its path.
extension RecordedLog {
    /// What the operator calls it.
    static func name(of path: String) -> String { path == "-" ? "standard input" : path }

    /// Whether it can be read only once, and keeps its reader waiting: a pipe, a terminal, a socket, or `-`, standard
    /// input.
    static func isReadOnce(_ path: String) -> Bool {
        if path == "-" { return true }
        guard let kind = try? FileStatus(behind: path).kind else { return false }
        return kind != .file && kind != .folder
    }

    /// Whether it is a gzip archive, as far as can be seen.
    package static func isArchive(_ path: String) -> Bool {
        guard !isReadOnce(path), let beginning = try? FileSystem.read(64, at: 0, of: path) else { return false }
        return LogFileKind(firstBytes: beginning.span) == .gzip
    }

    /// Returns why the log at `path` can't be opened.
    static func openingFault(_ path: String, _ error: SystemError) -> LogFault {
        let obstacle: LogFault.Obstacle =
            switch error.number {
            case ENOENT where path.contains("://"): .address
            case ENOENT where path.contains("*"): .pattern
            case ENOENT, ENOTDIR: .missing
            case EACCES, EPERM: .forbidden(closedDirectory: FileSystem.closedFolder(above: path))
            case ENXIO: .unreadableKind
            default: .other(error.reason)
            }
        return .notOpened(obstacle)
    }
}

/// What a file is, told by its first bytes.
enum LogFileKind: Sendable, Hashable {
    case plain, gzip
    /// Text in UTF-16, as some Windows tools save it; with the name that `iconv` has for it.
    case utf16(encoding: String)
    /// Packed by something that we do not unpack, with the command that does.
    case packed(by: String, command: String)

    /// Judges by the first bytes of a file; 64 are enough.
    init(firstBytes bytes: Span<UInt8>) {
        func starts(with magic: [UInt8]) -> Bool {
            bytes.count >= magic.count && magic.indices.allSatisfy { bytes[$0] == magic[$0] }
        }
        if starts(with: [0x1F, 0x8B]) {
            self = .gzip
        } else if starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A]) {
            self = .packed(by: "xz", command: "xz -d")
        } else if starts(with: [0x28, 0xB5, 0x2F, 0xFD]) {
            self = .packed(by: "zstd", command: "zstd -d")
        } else if starts(with: [0x42, 0x5A, 0x68]) {
            self = .packed(by: "bzip2", command: "bunzip2")
        } else if starts(with: [0x50, 0x4B, 0x03, 0x04]) {
            self = .packed(by: "zip", command: "unzip")
        } else if starts(with: [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]) {
            self = .packed(by: "7-Zip", command: "7z x")
        } else if starts(with: Array("Rar!".utf8)) {
            self = .packed(by: "RAR", command: "unrar x")
        } else {
            self = Self.utf16Encoding(of: bytes).map(Self.utf16(encoding:)) ?? .plain
        }
    }

    /// Why text of this kind can't be used; `nil` if it can.
    var fault: LogFault? {
        switch self {
        case .plain: nil
        case .gzip: .packedTwice
        case .utf16(let encoding): .utf16(encoding: encoding)
        case .packed(let packer, let command): .packed(by: packer, command: command)
        }
    }

    /// By its mark, or, as most text has none, by a zero in every second byte.
    private static func utf16Encoding(of bytes: Span<UInt8>) -> String? {
        guard bytes.count >= 2 else { return nil }
        if bytes[0] == 0xFF, bytes[1] == 0xFE { return "UTF-16" }
        if bytes[0] == 0xFE, bytes[1] == 0xFF { return "UTF-16" }
        let pairs = min(bytes.count, 64) / 2
        guard pairs >= 8 else { return nil }
        func isZeroThroughout(_ offset: Int) -> Bool { (0..<pairs).allSatisfy { bytes[$0 * 2 + offset] == 0 } }
        switch (isZeroThroughout(0), isZeroThroughout(1)) {
        case (false, true): return "UTF-16LE"
        case (true, false): return "UTF-16BE"
        default: return nil
        }
    }
}

/// Unpacks gzip data as it comes, one member after another (RFC 1952).
@safe private final class GzipStream {
    /// Not gzip data, or damaged.
    struct Damage: Error {
        /// zlib's.
        let words: String
    }

    /// zlib keeps the address of this structure, so it lives on the heap.
    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether input so far ends exactly at the end of a member: the only place where an archive may end.
    private(set) var isAtMemberEnd = false
    /// What the next step throws: what came out before the damage comes first.
    private var damage: Damage?

    init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let code = unsafe czlib_inflate_init(stream)
        precondition(code == Z_OK, "cannot start zlib: error \(code)")
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Unpacks from `input` into `output`, until either is used up or a member ends.
    ///
    /// A slice and not a `Span`, which Swift 6.2 does not accept beside an inout `MutableSpan` in a method.
    func unpack(
        _ input: ArraySlice<UInt8>, into output: inout MutableSpan<UInt8>
    ) throws(Damage) -> (consumed: Int, produced: Int) {
        if let damage { throw damage }
        if isAtMemberEnd, !input.isEmpty {
            unsafe inflateReset(stream)
            isAtMemberEnd = false
        }
        let code = unsafe input.withUnsafeBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { target in
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
                unsafe stream.pointee.avail_in = UInt32(source.count)
                unsafe stream.pointee.next_out = target.baseAddress
                unsafe stream.pointee.avail_out = UInt32(target.count)
                return unsafe inflate(stream, Z_NO_FLUSH)
            }
        }
        switch code {
        case Z_OK, Z_BUF_ERROR: break  // the latter only says that there was nothing to do
        case Z_STREAM_END: isAtMemberEnd = true
        default:
            let words = unsafe stream.pointee.msg.map { unsafe ReportedText(String(cString: $0)).description }
            damage = Damage(words: words ?? "error \(code)")
        }
        let produced = output.count - Int(unsafe stream.pointee.avail_out)
        if let damage, produced == 0 { throw damage }
        return (input.count - Int(unsafe stream.pointee.avail_in), produced)
    }
}
