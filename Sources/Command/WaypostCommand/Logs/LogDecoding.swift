import GNSS
import GNSSReceiver
import LinuxPlatform
import ReportedText
import Reporting
import TrackDrawing
import Operations

/// The outcome of decoding logs for a command that only reads them, such as `waypost fixes`.
struct LogDecoding: Sendable {
    /// The outcomes of the logs, one for each log that was opened.
    fileprivate(set) var outcomes: [LogOutcome] = []
    fileprivate(set) var failure: (any Error)?
    /// The share of the logs that was read, such as `31 % of town.nmea`.
    fileprivate(set) var reached = "nothing"

    /// Whether a signal ended the decoding before the end of the logs.
    var isInterrupted: Bool { (failure as? FixSourceError)?.code == .cancelled }

    /// Returns the error for an interrupted command. The error's message says how much was read, followed by `results`.
    func interruption(results: String) -> Interruption { Interruption("\(reached) read; \(results)") }

    /// Returns the exit status, or throws the failure if there is one. Call this function only after writing the
    /// results that were decoded before the failure.
    func exitStatus() throws -> ExitStatus {
        guard let failure else { return .done }
        throw failure
    }

    /// The error that says why the logs contain no fix. If a file isn't a receiver's log, the error names that file.
    var noFixError: AgentError {
        let empty = outcomes.first { $0.statistics.sentences == 0 }
        return AgentError(.inputData, "\(empty?.noSentenceError ?? LogOutcome.noFixError(of: outcomes))")
    }

    /// Prints remarks about sentences that were left out and about logs that are in the wrong order.
    func reportLosses() {
        for outcome in outcomes { outcome.checksumRemark.map { Terminal.say("waypost: \($0)") } }
        LogOutcome.orderRemark(on: outcomes).map { Terminal.say("waypost: \($0)") }
    }
}

extension LogReader {
    /// Decodes all logs, passes each chunk to `process`, and returns the outcome. If `process` throws, the decoding
    /// ends.
    func decodeAll(
        progress: LogProgress, process: (Chunk) throws(SystemError) -> Void
    ) -> LogDecoding {
        var decoding = LogDecoding()
        var progress = progress
        while true {
            let chunk = nextChunk()
            if chunk.bytesRead > 0 {
                decoding.reached = chunk.reached
                if paths.count > 1 { decoding.reached += " (log \(decoding.outcomes.count + 1) of \(paths.count))" }
            }
            if let outcome = chunk.outcome { decoding.outcomes.append(outcome) }
            do throws(SystemError) { try process(chunk) } catch {
                decoding.failure = error
                return decoding
            }
            progress.draw(decoding.reached)
            if chunk.isLast {
                decoding.failure = chunk.failure
                return decoding
            }
        }
    }
}

/// The progress line that is shown while logs are read.
struct LogProgress: Sendable {
    static let silent = LogProgress(isShown: false)
    /// A progress line that is shown only if standard error is a terminal and standard output isn't, so that it doesn't
    /// mix with the results.
    static var ifResultsAreRedirected: Self { Self(isShown: Terminal.isInteractive && !StandardOutput.isTerminal) }
    /// A progress line that is shown even if standard output is a terminal, because no results are written meanwhile.
    static let always = LogProgress(isShown: true)

    private let isShown: Bool
    private var drawn = ""

    fileprivate mutating func draw(_ reached: String) {
        guard isShown, reached != drawn else { return }
        drawn = reached
        Terminal.draw("\(reached) read")
    }
}

extension LogReader.Chunk {
    /// The share of the log that has been read, such as `31 % of town.nmea` or `12.3 MB of standard input`.
    fileprivate var reached: String {
        let size = totalBytes.map { size in size > 0 ? bytesRead * 100 / size : 100 }
        let share = size.map { "\($0) %" } ?? FigureText.bytes(Int(bytesRead))
        return "\(share) of \(FileSystem.name(of: name))"
    }
}

/// A check that a log can be followed with `--follow`.
enum GrowingLog {
    /// Throws if the log is an archive, which doesn't grow.
    static func require(_ path: String, command: String) throws(UsageError) {
        guard RecordedLog.isArchive(path) else { return }
        throw UsageError("\(path) is a gzip archive, which does not grow; remove --follow", command: command)
    }
}
