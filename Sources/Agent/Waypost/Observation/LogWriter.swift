import FoundationEssentials
import GNSS
import Glibc
import LinuxPlatform

/// Writes log lines to standard error: text for people, or JSON; with a priority prefix when journald reads it
/// (sd-daemon(3)).
///
/// Never waits long for whoever reads: a journal that hangs, as on a disk that does, must not hold up delivery. How
/// many lines that cost is told when lines are taken again.
package final class LogWriter: Sendable {
    private let level: LogLevel
    private let format: LogFormat
    private let isReadByJournal: Bool
    private let output: @Sendable ([UInt8]) -> Bool
    /// Lines that were not taken, and not told of yet.
    private let dropped = Locked(0)

    /// `output`: takes whole lines, or says that it did not; standard error unless a test listens.
    package init(
        level: LogLevel, format: LogFormat,
        isReadByJournal: Bool = ProcessInfo.processInfo.environment["JOURNAL_STREAM"] != nil,
        output: @escaping @Sendable ([UInt8]) -> Bool = NonblockingOutput(to: STDERR_FILENO).write
    ) {
        (self.level, self.format, self.isReadByJournal, self.output) = (level, format, isReadByJournal, output)
    }

    /// Writes one line when `level` is wanted.
    package func write(_ level: LogLevel, _ message: @autoclosure () -> String) {
        guard level <= self.level else { return }
        let missing = dropped.withLock { dropped in
            defer { dropped = 0 }
            return dropped
        }
        let notice = "\(missing) lines of this log were dropped, nobody took them"
        if output((missing > 0 ? line(.warning, notice) : []) + line(level, message())) { return }
        dropped.withLock { $0 += missing + 1 }
    }

    private func line(_ level: LogLevel, _ message: String) -> [UInt8] {
        let text = message.printable
        let now = UTCTime(millisecondsSince1970: SystemClock.millisecondsSince1970)
        switch format {
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            // Three texts always encode.
            let entry = try? encoder.encode(Entry(time: now.description, level: level.rawValue, message: text))
            return Array(entry ?? Data()) + [UInt8(ascii: "\n")]
        case .text:
            let start = isReadByJournal ? "<\(level.journalPriority)>" : "\(now) \(level.rawValue): "
            return Array("\(start)\(text)\n".utf8)
        }
    }

    private struct Entry: Encodable {
        let time, level, message: String
    }
}

extension LogLevel {
    /// The priorities of syslog(3).
    fileprivate var journalPriority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        case .debug: 7
        }
    }
}
