import ReportedText
import TimeAndRandomness

/// The bytes of one read from the receiver, and the time of that read.
struct RecordedRead: Sendable {
    let time: UTCTime
    let bytes: [UInt8]
}

/// The part of a recording that hasn't been written to disk yet. Its size is limited.
///
/// A comment line (`# 2026-11-21T20:32:54.544Z`) gives the time at which the next sentence was read. Decoders,
/// including gpsd's, skip such lines.
struct RecordingBacklog: Sendable {
    /// The bytes to append to the two files of a recording.
    struct Contents: Sendable {
        var receiver: [UInt8] = []
        var log: [UInt8] = []
        /// The offset of the first time comment in `receiver`, where the next file may begin; `nil` if there is none.
        var firstTime: Int?

        var count: Int { receiver.count + log.count }
    }

    /// The maximum size in bytes. If the disk is so slow that this size is reached, further data is dropped and
    /// counted.
    static let maximumBytes = 1 << 20
    /// The minimum time between two time comments.
    private static let timeInterval = Duration.milliseconds(250)
    /// The bytes with which a line from a receiver or from gpsd can start. Any other byte may belong to a binary frame,
    /// so no comment is inserted before it.
    private static let lineStarts = Set("$!\\{".utf8)

    private var contents = Contents()
    private var isAtLineStart = true
    private var hasGap = false
    private var lastTime: UTCTime?
    private var droppedEntries = 0

    /// Records that data is missing before the next read, which then starts on a new line.
    mutating func recordGap() { hasGap = true }

    mutating func add(_ read: RecordedRead) {
        guard !read.bytes.isEmpty else { return }
        guard checkRoom(for: read.bytes.count) else { return recordGap() }
        if hasGap {
            if !isAtLineStart { contents.receiver.append(UInt8(ascii: "\n")) }
            isAtLineStart = true
            hasGap = false
            lastTime = nil
        }
        var rest = read.bytes[...]
        if needsTime(at: read.time), let start = lineStart(in: read.bytes) {
            contents.receiver += rest[..<start]
            contents.firstTime = contents.firstTime ?? contents.receiver.count
            contents.receiver += "# \(read.time)\n".utf8
            lastTime = read.time
            rest = rest[start...]
        }
        contents.receiver += rest
        isAtLineStart = read.bytes.last == UInt8(ascii: "\n")
    }

    mutating func add(logLine: String, at now: UTCTime) {
        guard checkRoom(for: logLine.utf8.count) else { return }
        if droppedEntries > 0 {
            contents.log +=
                "\(now) warning: \(droppedEntries.counted("entry", plural: "entries")) not recorded: the disk was too slow\n"
                .utf8
            droppedEntries = 0
        }
        contents.log += "\(now) \(logLine)\n".utf8
    }

    /// Removes and returns everything; `nil` if the backlog is empty.
    mutating func takeContents() -> Contents? {
        guard contents.count > 0 else { return nil }
        defer { contents = Contents() }
        return contents
    }

    /// Returns whether the given number of bytes still fits. If not, counts one dropped entry.
    private mutating func checkRoom(for bytes: Int) -> Bool {
        if contents.count + bytes < Self.maximumBytes { return true }
        droppedEntries += 1
        return false
    }

    private func needsTime(at now: UTCTime) -> Bool {
        lastTime.map { abs($0.duration(to: now)) >= Self.timeInterval } ?? true
    }

    private func lineStart(in bytes: [UInt8]) -> Int? {
        bytes.indices.first { index in
            let follows = index == 0 ? isAtLineStart : bytes[index - 1] == UInt8(ascii: "\n")
            return follows && Self.lineStarts.contains(bytes[index])
        }
    }
}

private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
