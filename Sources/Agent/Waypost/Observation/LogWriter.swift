import FoundationEssentials
import GNSS
import LinuxPlatform

/// Writes log lines to standard error: text for people, or JSON; with a priority prefix when journald reads it
/// (sd-daemon(3)).
package final class LogWriter: Sendable {
    private let level: LogLevel
    private let format: LogFormat
    private let isReadByJournal: Bool
    private let output: @Sendable ([UInt8]) -> Void

    /// `output`: takes whole lines; standard error unless a test listens.
    package init(
        level: LogLevel, format: LogFormat,
        isReadByJournal: Bool = ProcessInfo.processInfo.environment["JOURNAL_STREAM"] != nil,
        output: @escaping @Sendable ([UInt8]) -> Void = StandardError.write
    ) {
        (self.level, self.format, self.isReadByJournal, self.output) = (level, format, isReadByJournal, output)
    }

    /// Writes one line when `level` is wanted.
    package func write(_ level: LogLevel, _ message: @autoclosure () -> String) {
        guard level <= self.level else { return }
        let text = message().printable
        let now = UTCTime(millisecondsSince1970: SystemClock.millisecondsSince1970)
        let line: String
        switch format {
        case .json:
            let entry = Entry(time: now.description, level: level.rawValue, message: text)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            guard let bytes = try? encoder.encode(entry) else { return }  // three texts always encode
            line = String(decoding: bytes, as: UTF8.self)
        case .text:
            line = isReadByJournal ? "<\(level.journalPriority)>\(text)" : "\(now) \(level.rawValue): \(text)"
        }
        output(Array((line + "\n").utf8))
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
