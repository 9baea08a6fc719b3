import CZlib
import Glibc
package import LinuxPlatform
import ReportedText
package import Reporting

/// The bytes of a recorded log, plain or gzip, from its beginning. Reading blocks the calling thread.
package final class RecordedLog {
    /// The name to show operators.
    package let name: String
    /// The size of the file; `nil` for a pipe.
    let totalBytes: Int64?
    /// The number of bytes of the file that have been read, before decompression.
    private(set) var bytesRead: Int64 = 0

    private let descriptor: OwnedDescriptor
    /// The signal that ends a wait for bytes from a pipe. Files need no wait.
    private let stop: EventDescriptor
    private var archive: GzipStream?
    private var isAtEnd = false
    /// A buffer whose bytes `inputStart..<inputEnd` have been read from the file but not returned yet.
    private var input = [UInt8](repeating: 0, count: 1 << 16)
    private var inputStart = 0
    private var inputEnd = 0
    /// Whether the format of the decompressed text has been checked.
    private var isTextChecked = false

    /// Opens `path`, or standard input for `-`, and checks the format of its content. `stop` ends a wait for bytes from
    /// a pipe.
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
            throw FixSourceError(log: path, Self.openingFault(at: path, error))
        }
        if kind == .directory { throw FixSourceError(log: name, .directory) }
        try readInput()
        let beginning = input[..<inputEnd]
        if beginning.isEmpty { throw FixSourceError(log: name, .empty) }
        if kind == .device, beginning.allSatisfy({ $0 == 0 }) { throw FixSourceError(log: name, .zeroDevice) }
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
            if inputStart == inputEnd, !isAtEnd { try readInput() }
            let isDrained = inputStart == inputEnd
            guard let archive else { return copy(into: &buffer) }
            // zlib may still have output when its input is used up.
            let produced = try decompress(archive, into: &buffer)
            if produced > 0 {
                if !isTextChecked { try checkText(LogFileKind(firstBytes: buffer.span.extracting(0..<produced))) }
                return produced
            }
            guard isDrained else { continue }
            guard archive.isAtMemberEnd else { throw FixSourceError(log: name, .archiveCutShort) }
            guard isTextChecked else { throw FixSourceError(log: name, .archiveWithoutContents) }
            return 0
        }
    }

    private func decompress(
        _ archive: GzipStream, into buffer: inout MutableSpan<UInt8>
    ) throws(FixSourceError) -> Int {
        // Zeros after the last member are padding, as on tapes and block devices.
        if archive.isAtMemberEnd {
            while inputStart < inputEnd, input[inputStart] == 0 { inputStart += 1 }
            if inputStart < inputEnd, input[inputStart] != 0x1F {
                throw FixSourceError(
                    log: name, .archiveFollowedByOtherData(at: bytesRead - Int64(inputEnd - inputStart)))
            }
        }
        do throws(GzipStream.Damage) {
            let step = try archive.decompress(input[inputStart..<inputEnd], into: &buffer)
            inputStart += step.consumed
            return step.produced
        } catch {
            throw FixSourceError(log: name, .archiveDamaged(reason: error.message, near: bytesRead))
        }
    }

    private func copy(into buffer: inout MutableSpan<UInt8>) -> Int {
        let count = min(buffer.count, inputEnd - inputStart)
        for index in 0..<count { buffer[index] = input[inputStart + index] }
        inputStart += count
        return count
    }

    private func readInput() throws(FixSourceError) {
        do throws(SystemError) {
            if totalBytes == nil, try poll(descriptor.raw, within: nil, unless: stop) == .stopped {
                throw SystemError(call: "poll", number: ECANCELED)
            }
            var span = input.mutableSpan
            inputEnd = try descriptor.read(into: &span)
        } catch {
            throw error.number == ECANCELED
                ? FixSourceError(log: name, .stopped)
                : FixSourceError(log: name, .readFailed(reason: error.reason, afterBytes: bytesRead))
        }
        inputStart = 0
        bytesRead += Int64(inputEnd)
        isAtEnd = inputEnd == 0
    }

    private func checkText(_ format: LogFileKind) throws(FixSourceError) {
        isTextChecked = true
        if let fault = format.fault { throw FixSourceError(log: name, fault) }
    }

    private static func open(_ path: String) throws(SystemError) -> OwnedDescriptor {
        // Without O_NONBLOCK, opening a pipe blocks until it has a writer.
        guard path == "-" else { return try OwnedDescriptor(opening: path, O_RDONLY | O_NOCTTY | O_NONBLOCK) }
        return OwnedDescriptor(
            owning: try valueOrSystemError("standard input") { fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) })
    }
}

/// Facts about a log that can be determined from its path.
extension RecordedLog {
    /// Returns the name to show operators.
    static func name(of path: String) -> String { path == "-" ? "standard input" : path }

    /// Whether the log can be read only once, and reading may block. Such logs are pipes, terminals, sockets, and `-`,
    /// which is standard input.
    static func isReadOnce(_ path: String) -> Bool {
        if path == "-" { return true }
        guard let kind = try? FileStatus(followingLinksAt: path).kind else { return false }
        return kind != .file && kind != .directory
    }

    /// Whether the log is a gzip archive; `false` if it can't be read.
    package static func isArchive(_ path: String) -> Bool {
        guard !isReadOnce(path), let beginning = try? FileSystem.read(64, at: 0, of: path) else { return false }
        return LogFileKind(firstBytes: beginning.span) == .gzip
    }

    /// Returns the reason why the log at `path` can't be opened.
    static func openingFault(at path: String, _ error: SystemError) -> LogFault {
        let obstacle: LogFault.Obstacle =
            switch error.number {
            case ENOENT where path.contains("://"): .url
            case ENOENT where path.contains("*"): .pattern
            case ENOENT, ENOTDIR: .missing
            case EACCES, EPERM: .forbidden(closedDirectory: FileSystem.closedDirectory(above: path))
            case ENXIO: .unreadableKind
            default: .other(error.reason)
            }
        return .notOpened(obstacle)
    }
}

/// The format of a file, recognised by its first bytes.
enum LogFileKind: Sendable, Hashable {
    case plain, gzip
    /// UTF-16 text, as some Windows tools save it. The value is the encoding's name for `iconv`.
    case utf16(encoding: String)
    /// A compressed format that Waypost can't read, and the command that decompresses it.
    case compressed(with: String, command: String)

    /// Detects the format of a file by its first bytes; 64 are enough.
    init(firstBytes bytes: Span<UInt8>) {
        func starts(with magic: [UInt8]) -> Bool {
            bytes.count >= magic.count && magic.indices.allSatisfy { bytes[$0] == magic[$0] }
        }
        for compressor in Self.compressors where starts(with: compressor.magic) {
            self = .compressed(with: compressor.name, command: compressor.command)
            return
        }
        if starts(with: [0x1F, 0x8B]) {
            self = .gzip
        } else {
            self = Self.utf16Encoding(of: bytes).map(Self.utf16(encoding:)) ?? .plain
        }
    }

    private static let compressors: [(magic: [UInt8], name: String, command: String)] = [
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "xz", "xz -d"), ([0x28, 0xB5, 0x2F, 0xFD], "zstd", "zstd -d"),
        ([0x42, 0x5A, 0x68], "bzip2", "bunzip2"), ([0x50, 0x4B, 0x03, 0x04], "zip", "unzip"),
        ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "7-Zip", "7z x"), (Array("Rar!".utf8), "RAR", "unrar x"),
    ]

    /// The reason why text in this format can't be used as a log; `nil` if it can.
    var fault: LogFault? {
        switch self {
        case .plain: nil
        case .gzip: .compressedTwice
        case .utf16(let encoding): .utf16(encoding: encoding)
        case .compressed(let name, let command): .compressed(with: name, command: command)
        }
    }

    /// Returns the name of the UTF-16 encoding, recognised by its byte order mark or, because the mark is often
    /// missing, by a zero in every second byte. Returns `nil` for any other text.
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

/// A stream of gzip data that is decompressed, one member after another (RFC 1952).
@safe private final class GzipStream {
    /// The error that is thrown for damaged gzip data.
    struct Damage: Error {
        /// zlib's message.
        let message: String
    }

    /// zlib's state. It is on the heap, because zlib keeps its address.
    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether the input so far ends at the end of a member. An archive may end only there.
    private(set) var isAtMemberEnd = false
    /// The error to throw in the next step. It is kept, because the output before the damage must be returned first.
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

    /// Decompresses from `input` into `output` until either is used up or a member ends.
    ///
    /// `input` is a slice because Swift 6.2 doesn't accept a `Span` together with an inout `MutableSpan` in a method.
    func decompress(
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
