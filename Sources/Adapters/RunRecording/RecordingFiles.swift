import Glibc
import LinuxPlatform
import TimeAndChance

/// The location and the size of a recording.
package struct RecordingSettings: Sendable {
    /// The directory. If it is missing, it is created for its owner only.
    let directory: String
    /// The release that makes the recording.
    let version: String
    /// The combined size of a pair of files at which the next pair begins.
    let segmentBytes: Int
    /// The maximum number of pairs of files. The oldest pairs are removed.
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

/// The names of a pair's two files, which share a number.
package enum RecordingName {
    static func receiver(_ number: Int) -> String { "receiver-\(padded(number)).nmea" }
    static func log(_ number: Int) -> String { "log-\(padded(number)).txt" }

    /// The accepted numbers: far more than any run uses, and far from overflow.
    private static let numbers = 1...999_999_999

    /// Returns the number of a file of either kind; `nil` for any other name.
    package static func number(of name: String) -> Int? {
        number(of: name, between: "receiver-", and: ".nmea") ?? number(of: name, between: "log-", and: ".txt")
    }

    private static func number(of name: String, between front: String, and end: String) -> Int? {
        guard name.hasPrefix(front), name.hasSuffix(end) else { return nil }
        return Int(name.dropFirst(front.count).dropLast(end.count)).flatMap { numbers.contains($0) ? $0 : nil }
    }

    private static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }
}

/// Writes the files of a recording: pairs of limited size. Only the newest pairs are kept. It is used on one thread.
///
/// The files hold positions and no secrets; only their owner may read them.
struct RecordingFiles {
    private let settings: RecordingSettings
    /// The first line of every file, a comment.
    private let header: [UInt8]
    private var number: Int
    private var written = 0

    /// Continues the numbering of the files in the directory. `start` is the start of the run by the host's clock;
    /// `isSynchronized` says whether the kernel considers that clock synchronized.
    init(_ settings: RecordingSettings, start: UTCTime, isSynchronized: Bool) throws(SystemError) {
        self.settings = settings
        let clock = isSynchronized ? "synchronised" : "not synchronised"
        header = Array("# waypost \(settings.version), run of \(start), host's clock \(clock)\n".utf8)
        // Old files are recognised by their names.
        try DirectoryTrust.require(settings.directory, .none, missing: .created)
        number = try FileSystem.names(inDirectory: settings.directory).compactMap(RecordingName.number).max() ?? 0
        try beginNextFiles()
    }

    /// Writes `contents` and synchronizes both files.
    mutating func write(_ contents: RecordingBacklog.Contents) throws(SystemError) {
        var receiver = contents.receiver[...]
        if written > 0, written + contents.count > settings.segmentBytes {
            // The bytes before the first time comment belong to an epoch of the full file.
            let rest = contents.firstTime ?? 0
            try append(receiver[..<rest], to: RecordingName.receiver(number))
            receiver = receiver[rest...]
            try beginNextFiles()
        }
        try append(receiver, to: RecordingName.receiver(number))
        try append(contents.log[...], to: RecordingName.log(number))
        written += receiver.count + contents.log.count
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

    private mutating func beginNextFiles() throws(SystemError) {
        number += 1
        written = 0
        for name in try FileSystem.names(inDirectory: settings.directory) {
            guard let old = RecordingName.number(of: name), old <= number - settings.segments else { continue }
            try FileSystem.removeFile(at: "\(settings.directory)/\(name)")
        }
    }
}
