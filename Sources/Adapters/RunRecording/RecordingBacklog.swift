import ReportedText
import TimeAndChance

/// Bytes from a receiver, and the time at which they were read.
struct RecordedRead: Sendable {
    let at: UTCTime
    let bytes: [UInt8]
}

/// The part of a recording that hasn't been written yet. Its size is limited.
///
/// A comment line (`# 2026-11-21T20:32:54.544Z`) before a sentence says when that sentence was read. Decoders,
/// including gpsd's, skip such lines.
struct RecordingBacklog: Sendable {
    /// Bytes for the two files.
    struct Contents: Sendable {
        var receiver: [UInt8] = []
        var log: [UInt8] = []
        /// The offset of the first time comment in `receiver`, where another file may begin.
        var firstTime: Int?

        var count: Int { receiver.count + log.count }
    }

    /// The maximum size in bytes. Data that arrives while the disk is too slow is lost and counted.
    static let maximumBytes = 1 << 20
    /// The minimum time between two time comments.
    private static let timeInterval = Duration.milliseconds(250)
    /// The bytes that a line from a receiver or gpsd can start with. Any other byte may belong to a binary frame.
    private static let lineStarts = Set("$!\\{".utf8)

    private var contents = Contents()
    private var isAtLineStart = true
    private var isBrokenOff = false
    private var lastTime: UTCTime?
    private var lost = 0

    /// Records that the next read doesn't follow the last one.
    mutating func breakOff() { isBrokenOff = true }

    mutating func add(_ read: RecordedRead) {
        guard !read.bytes.isEmpty else { return }
        guard checkRoom(for: read.bytes.count) else { return breakOff() }
        if isBrokenOff {
            if !isAtLineStart { contents.receiver.append(UInt8(ascii: "\n")) }
            isAtLineStart = true
            isBrokenOff = false
            lastTime = nil
        }
        var rest = read.bytes[...]
        if needsTime(at: read.at), let start = lineStart(in: read.bytes) {
            contents.receiver += rest[..<start]
            contents.firstTime = contents.firstTime ?? contents.receiver.count
            contents.receiver += "# \(read.at)\n".utf8
            lastTime = read.at
            rest = rest[start...]
        }
        contents.receiver += rest
        isAtLineStart = read.bytes.last == UInt8(ascii: "\n")
    }

    mutating func add(logLine: String, at now: UTCTime) {
        guard checkRoom(for: logLine.utf8.count) else { return }
        if lost > 0 {
            contents.log +=
                "\(now) warning: \(lost.counted("entry", "entries")) not recorded: the disk was too slow\n".utf8
            lost = 0
        }
        contents.log += "\(now) \(logLine)\n".utf8
    }

    /// Removes and returns everything; `nil` if there is nothing.
    mutating func take() -> Contents? {
        guard contents.count > 0 else { return nil }
        defer { contents = Contents() }
        return contents
    }

    /// Returns whether there is room for the given number of bytes. Counts a loss if there is none.
    private mutating func checkRoom(for bytes: Int) -> Bool {
        if contents.count + bytes < Self.maximumBytes { return true }
        lost += 1
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
