import Glibc
import LinuxPlatform
import TimeAndRandomness

/// The directory and the size limits of a recording.
package struct RecordingSettings: Sendable {
    /// The path of the directory. If the directory is missing, it is created, and only its owner can access it.
    let directory: String
    /// The version of Waypost that makes the recording.
    let version: String
    /// The combined size of a pair of files, in bytes, beyond which the next pair is begun.
    let segmentBytes: Int
    /// The maximum number of pairs of files. The oldest pairs are deleted.
    let segments: Int

    package init(directory: String, version: String, segmentBytes: Int = 4 << 20, segments: Int = 8) {
        self.directory = directory
        self.version = version
        self.segmentBytes = segmentBytes
        self.segments = max(1, segments)
    }

    /// The interval between two writes. A power cut loses at most the recording of one interval.
    static let flushInterval = Duration.seconds(5)
}

/// The names of the two files of a pair, which have the same number.
package enum RecordingName {
    static func receiver(_ number: Int) -> String { "receiver-\(padded(number)).nmea" }
    static func log(_ number: Int) -> String { "log-\(padded(number)).txt" }

    /// The valid file numbers. No run needs so many, and the next number can't overflow.
    private static let numbers = 1...999_999_999

    /// Returns the number in the name of a receiver or log file; `nil` for any other name.
    package static func number(of name: String) -> Int? {
        number(of: name, prefix: "receiver-", suffix: ".nmea") ?? number(of: name, prefix: "log-", suffix: ".txt")
    }

    private static func number(of name: String, prefix: String, suffix: String) -> Int? {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
        return Int(name.dropFirst(prefix.count).dropLast(suffix.count)).flatMap { numbers.contains($0) ? $0 : nil }
    }

    private static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }
}

/// The files of a recording, which are written as pairs of limited size. Only the newest pairs are kept. Use this on
/// one thread only.
///
/// Only their owner can read the files, because they contain positions. They contain no secrets.
struct RecordingFiles {
    private let settings: RecordingSettings
    /// A comment, which is the first line of every file.
    private let header: [UInt8]
    private var number: Int
    private var writtenBytes = 0

    /// Creates the next files of the directory, continuing its numbering. `start` is the time at which the run started,
    /// by the host's clock. `isSynchronized` says whether the kernel considers that clock synchronised.
    init(_ settings: RecordingSettings, start: UTCTime, isSynchronized: Bool) throws(SystemError) {
        self.settings = settings
        let clock = isSynchronized ? "synchronised" : "not synchronised"
        header = Array("# waypost \(settings.version), run of \(start), host's clock \(clock)\n".utf8)
        try DirectoryTrust.require(settings.directory, .none, missing: .created)
        // Continues the numbers of earlier runs' files.
        number = try FileSystem.names(inDirectory: settings.directory).compactMap(RecordingName.number).max() ?? 0
        try beginNextPair()
    }

    /// Writes `contents` and syncs both files to the disk.
    mutating func write(_ contents: RecordingBacklog.Contents) throws(SystemError) {
        var receiver = contents.receiver[...]
        if writtenBytes > 0, writtenBytes + contents.count > settings.segmentBytes {
            // The bytes before the first time comment continue the last data in the full file, so they are written to
            // that file.
            let rest = contents.firstTime ?? 0
            try append(receiver[..<rest], to: RecordingName.receiver(number))
            receiver = receiver[rest...]
            try beginNextPair()
        }
        try append(receiver, to: RecordingName.receiver(number))
        try append(contents.log[...], to: RecordingName.log(number))
        writtenBytes += receiver.count + contents.log.count
    }

    private func append(_ bytes: ArraySlice<UInt8>, to name: String) throws(SystemError) {
        guard !bytes.isEmpty else { return }
        let path = "\(settings.directory)/\(name)"
        let file = try OwnedDescriptor(writing: path, O_WRONLY | O_CREAT | O_APPEND)
        do throws(SystemError) {
            let isNew = try FileStatus(of: file).bytes == 0
            let content = (isNew ? header : []) + bytes
            try file.writeAll(content.span)
        } catch {
            throw SystemError(call: "write \(path)", number: error.number)
        }
        try FileSystem.synchronizeFile(at: path)
    }

    private mutating func beginNextPair() throws(SystemError) {
        number += 1
        writtenBytes = 0
        for name in try FileSystem.names(inDirectory: settings.directory) {
            guard let old = RecordingName.number(of: name), old <= number - settings.segments else { continue }
            try FileSystem.removeFile(at: "\(settings.directory)/\(name)")
        }
    }
}
