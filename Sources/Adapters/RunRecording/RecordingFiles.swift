import Glibc
import LinuxPlatform

/// Where and how much of a run is kept, so that a day on the road can be played again at the desk.
package struct RecordingSettings: Sendable {
    /// Made when it is missing, for its owner only.
    let folder: String
    /// The release that records.
    let version: String
    /// The two files of a number are closed, and the next ones begun, before they hold more than this together.
    let segmentBytes: Int
    /// Only the newest so many numbers are kept.
    let segments: Int

    package init(folder: String, version: String, segmentBytes: Int = 4 << 20, segments: Int = 8) {
        (self.folder, self.version) = (folder, version)
        (self.segmentBytes, self.segments) = (segmentBytes, max(1, segments))
    }

    /// What waits for the disk at most, in bytes; what comes while it is full is counted as lost.
    static let longestBacklog = 1 << 20
    /// A power cut costs the last so much of a recording.
    static let flushInterval = Duration.seconds(5)
    /// Reads this close to each other are one entry, until a fix was made of them.
    static let readWindow = Duration.milliseconds(250)
}

/// The names of the two files of a number.
package enum RecordingName {
    static func receiver(_ number: Int) -> String { "receiver-\(padded(number)).nmea" }
    static func entries(_ number: Int) -> String { "recording-\(padded(number)).jsonl" }

    /// Far more than any run makes, and far from where numbers end.
    private static let numbers = 1...999_999_999

    /// The number of a file of either kind; `nil` for any other name.
    package static func number(of name: String) -> Int? {
        number(of: name, between: "receiver-", and: ".nmea") ?? number(of: name, between: "recording-", and: ".jsonl")
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

/// The files of a recording in the making: pairs of bounded size, the newest few of them; used on one thread.
///
/// They hold positions and nothing secret; only their owner may read them.
struct RecordingFiles {
    private let settings: RecordingSettings
    private let header: RunHeader
    private var number: Int
    private var written = 0

    /// Begins behind what is in the folder; `header` stands first in every file.
    init(_ settings: RecordingSettings, header: RunHeader) throws(SystemError) {
        (self.settings, self.header) = (settings, header)
        try FolderTrust.require(settings.folder, .none, missing: .made)  // old files are known by their names
        number = try FileSystem.names(inFolder: settings.folder).compactMap(RecordingName.number).max() ?? 0
        try beginNext()
    }

    /// Writes both kinds and puts them on the disk: the receiver's bytes first, for the lines count them.
    mutating func write(receiver: [UInt8], lines: [UInt8]) throws(SystemError) {
        if written > 0, written + receiver.count + lines.count > settings.segmentBytes { try beginNext() }
        let first = written == 0 ? RecordingLine.bytes(header) : []
        if !receiver.isEmpty { try append(receiver, to: RecordingName.receiver(number)) }
        try append(first + lines, to: RecordingName.entries(number))
        written += receiver.count + first.count + lines.count
    }

    private func append(_ bytes: [UInt8], to name: String) throws(SystemError) {
        let path = "\(settings.folder)/\(name)"
        let file = try OwnedDescriptor(writing: path, O_WRONLY | O_CREAT | O_APPEND)
        do throws(SystemError) { try file.writeAll(bytes.span) } catch {
            throw SystemError(call: "write \(path)", number: error.number)
        }
        try FileSystem.synchronizeFile(at: path)
    }

    private mutating func beginNext() throws(SystemError) {
        (number, written) = (number + 1, 0)
        for name in try FileSystem.names(inFolder: settings.folder) {
            guard let old = RecordingName.number(of: name), old <= number - settings.segments else { continue }
            try FileSystem.removeFile(at: "\(settings.folder)/\(name)")
        }
    }
}
