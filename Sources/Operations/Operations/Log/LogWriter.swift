package import Conditions
import LinuxPlatform
import ReportedText
import StrictJSON
import TimeAndRandomness

/// A writer of log lines to standard error, as text or JSON. If journald reads standard error, each line of text begins
/// with a priority prefix (sd-daemon(3)).
///
/// Writing never blocks, because a journal that hangs must not delay deliveries.
package final class LogWriter: Sendable {
    private let level: LogLevel
    private let format: LogFormat
    private let isReadByJournal: Bool
    private let listener: (@Sendable (LogLevel, String, _ failure: ConditionCode?) -> Void)?
    private let listensToDebug: Bool
    private let output: (@Sendable ([UInt8]) -> Void)?

    /// Creates a writer.
    ///
    /// `output` receives complete lines; if it is `nil`, they are written to standard error. `listener` receives every
    /// message except debug messages, regardless of `level`. If `listensToDebug` is `true`, it receives debug messages
    /// too.
    package init(
        level: LogLevel, format: LogFormat,
        isReadByJournal: Bool = ProcessEnvironment.variables["JOURNAL_STREAM"] != nil,
        output: (@Sendable ([UInt8]) -> Void)? = nil, listensToDebug: Bool = false,
        listener: (@Sendable (LogLevel, String, _ failure: ConditionCode?) -> Void)? = nil
    ) {
        self.level = level
        self.format = format
        self.isReadByJournal = isReadByJournal
        self.output = output
        self.listensToDebug = listensToDebug
        self.listener = listener
    }

    /// Writes a line about an active condition.
    package func write(_ line: ActiveConditions.Line) {
        write(LogLevel(line.severity), line.text.description, code: line.code, isEnd: line.isEnd)
    }

    /// Writes a line for each cause of a condition that is only logged, without becoming active.
    package func write(_ condition: Condition) {
        for line in condition.lines {
            write(LogLevel(condition.code.severity), line.description, code: condition.code)
        }
    }

    /// Writes the error that ends the service.
    package func write(_ error: AgentError) { write(.error, error.detail, code: error.condition) }

    /// Writes one line, if messages of `level` are logged. `code` is the code of the condition that the message is
    /// about, and `isEnd` says whether that condition has ended.
    package func write(
        _ level: LogLevel, _ message: @autoclosure () -> String, code: ConditionCode? = nil, isEnd: Bool = false
    ) {
        if let listener, listensToDebug || level < .debug {
            listener(level, message().printable, isEnd ? nil : code)
        }
        guard level <= self.level else { return }
        let line = line(level, message(), code)
        if let output { return output(line) }
        StandardError.write(line, notice: notice(ofDropped:))
    }

    /// Returns a line to be written in place of `count` lines that were dropped.
    package func notice(ofDropped count: Int) -> [UInt8] {
        line(.warning, "\(count.counted("log line")) dropped: standard error was not read")
    }

    private func line(_ level: LogLevel, _ message: String, _ code: ConditionCode? = nil) -> [UInt8] {
        let text = message.printable
        let now = UTCTime.system
        switch format {
        case .json:
            var entry: [String: JSONValue] = [
                "time": .string(now.description), "level": .string(level.rawValue), "message": .string(text),
            ]
            entry["code"] = code.map { .string($0.rawValue) }
            return Array("\(JSONValue.object(entry).text)\n".utf8)
        case .text:
            let start = isReadByJournal ? "<\(level.journalPriority)>" : "\(now) \(level.rawValue): "
            return Array("\(start)\(text)\n".utf8)
        }
    }
}

package enum LogFormat: String, Sendable, Hashable, CaseIterable { case text, json }

/// The severity of a message. If a level is configured, messages of that level and of all levels before it are logged.
package enum LogLevel: String, Sendable, Hashable, CaseIterable, Comparable {
    case error, warning, info, debug

    /// Creates the level at which conditions of `severity` are logged.
    fileprivate init(_ severity: ConditionCode.Severity) {
        self =
            switch severity {
            case .error: .error
            case .warning: .warning
            case .info: .info
            }
    }

    package static func < (one: Self, other: Self) -> Bool { one.journalPriority < other.journalPriority }

    /// The priority of this level in syslog(3).
    fileprivate var journalPriority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        case .debug: 7
        }
    }
}
