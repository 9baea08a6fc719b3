import CZlib
import Glibc
package import LinuxPlatform
import ReportedText
package import Reporting

/// The bytes of a recorded log, plain or gzip, from its beginning. Reading blocks.
package final class RecordedLog {
    /// The name for operators.
    package let name: String
    /// The size of the file; `nil` for a pipe.
    let totalBytes: Int64?
    /// How much of the file has been read, before unpacking.
    private(set) var bytesRead: Int64 = 0

    private let descriptor: OwnedDescriptor
    /// Ends the wait for a pipe. A file never blocks.
    private let stop: EventDescriptor
    private var archive: GzipStream?
    private var isAtEnd = false
    /// A buffer whose bytes `taken..<filled` have been read from the file but not returned.
    private var input = [UInt8](repeating: 0, count: 1 << 16)
    private var taken = 0
    private var filled = 0
    /// Whether the format of the text, after unpacking, has been checked.
    private var isTextChecked = false

    /// Opens `path`, or standard input for `-`, and checks its format. `stop` ends the wait for a quiet pipe.
    ///
    /// - Throws: `cannotOpen` or `notALog`, with the remedy.
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
            throw Self.cannotOpen(path, error)
        }
        if kind == .folder { throw FixSourceError.folder(name) }
        try fill()
        let beginning = input[..<filled]
        if beginning.isEmpty {
            throw FixSourceError(.notALog, "\(name) is empty; it should hold a receiver's output")
        }
        if kind == .device, let problem = FixSourceError.zeros(name, beginning) { throw problem }
        switch LogFileKind(firstBytes: beginning.span) {
        case .gzip: archive = GzipStream()
        case let format: try checkText(format)
        }
    }

    /// Reads some bytes into `buffer`. Returns their number; zero at the end of the log.
    ///
    /// - Throws: `readFailed`, or `notALog` for an archive that is damaged or ends too early, after all bytes before
    ///   the damage have been returned.
    package func read(into buffer: inout MutableSpan<UInt8>) throws(FixSourceError) -> Int {
        while true {
            if taken == filled, !isAtEnd { try fill() }
            let isDrained = taken == filled
            guard let archive else { return copy(into: &buffer) }
            // zlib may still have output when its input is used up.
            let produced = try unpack(archive, into: &buffer)
            if produced > 0 {
                if !isTextChecked { try checkText(LogFileKind(firstBytes: buffer.span.extracting(0..<produced))) }
                return produced
            }
            guard isDrained else { continue }
            guard archive.isAtMemberEnd else {
                throw FixSourceError(
                    .notALog, "\(name) ends in the middle of the archive; it was cut short; copy it again")
            }
            guard isTextChecked else {
                throw FixSourceError(.notALog, "\(name) holds nothing; record the receiver's output into it first")
            }
            return 0
        }
    }

    private func unpack(
        _ archive: GzipStream, into buffer: inout MutableSpan<UInt8>
    ) throws(FixSourceError) -> Int {
        // Zeros after the last member are padding (tapes, block devices).
        if archive.isAtMemberEnd {
            while taken < filled, input[taken] == 0 { taken += 1 }
            if taken < filled, input[taken] != 0x1F {
                throw FixSourceError(
                    .notALog,
                    "\(name) is an archive with something else after its end, from byte \(bytesRead - Int64(filled - taken)) "
                        + "on; everything before was read")
            }
        }
        do throws(GzipStream.Damage) {
            let step = try archive.unpack(input[taken..<filled], into: &buffer)
            taken += step.consumed
            return step.produced
        } catch {
            throw FixSourceError(
                .notALog, "\(name) is a damaged archive (\(error.message)) near byte \(bytesRead); copy it again")
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
                ? FixSourceError(.cancelled, "\(name): stopped")
                : FixSourceError(.readFailed, "\(name): \(error.reason) after \(bytesRead.counted("byte"))")
        }
        taken = 0
        bytesRead += Int64(filled)
        isAtEnd = filled == 0
    }

    private func checkText(_ format: LogFileKind) throws(FixSourceError) {
        isTextChecked = true
        if let problem = format.problem(of: name) { throw problem }
    }

    private static func open(_ path: String) throws(SystemError) -> OwnedDescriptor {
        // Without O_NONBLOCK, opening a pipe blocks until it has a writer.
        guard path == "-" else { return try OwnedDescriptor(opening: path, O_RDONLY | O_NOCTTY | O_NONBLOCK) }
        return OwnedDescriptor(
            owning: try valueOrSystemError("standard input") { fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) })
    }
}

/// Questions about a log that need only its path.
extension RecordedLog {
    /// Returns the name for operators.
    static func name(of path: String) -> String { path == "-" ? "standard input" : path }

    /// Whether it can be read only once, and reading may block: a pipe, a terminal, a socket, or `-`, standard input.
    static func isReadOnce(_ path: String) -> Bool {
        if path == "-" { return true }
        guard let kind = try? FileStatus(behind: path).kind else { return false }
        return kind != .file && kind != .folder
    }

    /// Whether it is a gzip archive; `false` if it can't be read.
    package static func isArchive(_ path: String) -> Bool {
        guard !isReadOnce(path), let beginning = try? FileSystem.read(64, at: 0, of: path) else { return false }
        return LogFileKind(firstBytes: beginning.span) == .gzip
    }

    /// Returns the error of a file that can't be opened, with the remedy.
    static func cannotOpen(_ path: String, _ error: SystemError) -> FixSourceError {
        let remedy =
            switch error.number {
            case ENOENT where path.contains("://"): "is no file; fetch it first, and name where it lies then"
            case ENOENT where path.contains("*"):
                "does not exist; without quotes the shell finds the files that it means"
            case ENOENT, ENOTDIR: "does not exist; check the path"
            case EACCES, EPERM:
                if let folder = FileSystem.closedFolder(above: path) {
                    "may not be read by this user, for the folder \(folder) is closed to it (chmod a+x)"
                } else {
                    "may not be read by this user; change its permissions (chmod a+r)"
                }
            case ENXIO: "is a socket, or a missing device; name a file, a pipe or a serial line"
            default: "cannot be opened: \(error.reason)"
            }
        return FixSourceError(.cannotOpen, "\(path) \(remedy)")
    }
}

extension FixSourceError {
    /// The error of a folder in place of a log.
    static func folder(_ name: String) -> FixSourceError {
        FixSourceError(.notALog, "\(name) is a folder; name the logs in it")
    }

    /// The error of a device in place of a log, by its first bytes; `nil` if these aren't all zero.
    static func zeros(_ name: String, _ firstBytes: some Collection<UInt8>) -> FixSourceError? {
        guard !firstBytes.isEmpty, firstBytes.allSatisfy({ $0 == 0 }) else { return nil }
        return FixSourceError(.notALog, "\(name) is a device that gives only zeros; name a log or a serial line")
    }
}

/// The format of a file, by its first bytes.
enum LogFileKind: Sendable, Hashable {
    case plain, gzip
    /// UTF-16 text, as some Windows tools save it, with the encoding's name for `iconv`.
    case utf16(encoding: String)
    /// A compressed format that Waypost doesn't unpack, with the command that does.
    case packed(by: String, remedy: String)

    /// Detects the format of a file by its first bytes; 64 are enough.
    init(firstBytes bytes: Span<UInt8>) {
        func starts(with magic: [UInt8]) -> Bool {
            bytes.count >= magic.count && magic.indices.allSatisfy { bytes[$0] == magic[$0] }
        }
        for packer in Self.packers where starts(with: packer.magic) {
            self = .packed(by: packer.name, remedy: packer.remedy)
            return
        }
        if starts(with: [0x1F, 0x8B]) {
            self = .gzip
        } else {
            self = Self.utf16Encoding(of: bytes).map(Self.utf16(encoding:)) ?? .plain
        }
    }

    private static let packers: [(magic: [UInt8], name: String, remedy: String)] = [
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "xz", "xz -d"), ([0x28, 0xB5, 0x2F, 0xFD], "zstd", "zstd -d"),
        ([0x42, 0x5A, 0x68], "bzip2", "bunzip2"), ([0x50, 0x4B, 0x03, 0x04], "zip", "unzip"),
        ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "7-Zip", "7z x"), (Array("Rar!".utf8), "RAR", "unrar x"),
    ]

    /// Returns the error of a log `name` in this format, with the remedy; `nil` for plain text.
    func problem(of name: String) -> FixSourceError? {
        switch self {
        case .plain: nil
        case .gzip: FixSourceError(.notALog, "\(name) is packed twice; unpack it once (gunzip)")
        case .utf16(let encoding):
            FixSourceError(
                .notALog, "\(name) is UTF-16 text; convert it first: iconv -f \(encoding) -t UTF-8 LOG > NEW")
        case .packed(let packer, let remedy):
            FixSourceError(.notALog, "\(name) is packed with \(packer); unpack it first (\(remedy))")
        }
    }

    /// Detects UTF-16 by its byte order mark, or by a zero in every second byte, because most text has no mark.
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

/// Unpacks a stream of gzip data, one member after another (RFC 1952).
@safe private final class GzipStream {
    /// The error of damaged gzip data.
    struct Damage: Error {
        /// zlib's message.
        let message: String
    }

    /// On the heap, because zlib keeps the address of this structure.
    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether the input so far ends at the end of a member, the only place where an archive may end.
    private(set) var isAtMemberEnd = false
    /// The error of the next step, because the output before the damage is returned first.
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

    /// Unpacks from `input` into `output` until either is used up or a member ends.
    ///
    /// `input` is a slice because Swift 6.2 doesn't accept a `Span` together with an inout `MutableSpan` in a method.
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
        case Z_OK, Z_BUF_ERROR: break  // Z_BUF_ERROR: there was nothing to do
        case Z_STREAM_END: isAtMemberEnd = true
        default:
            let message = unsafe stream.pointee.msg.map { unsafe ReportedText(String(cString: $0)).description }
            damage = Damage(message: message ?? "error \(code)")
        }
        let produced = output.count - Int(unsafe stream.pointee.avail_out)
        if let damage, produced == 0 { throw damage }
        return (input.count - Int(unsafe stream.pointee.avail_in), produced)
    }
}
