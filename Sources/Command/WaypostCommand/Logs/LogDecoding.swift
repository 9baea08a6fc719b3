import GNSS
import GNSSReceiver
import LinuxPlatform
import ReportedText
import Reporting
import TrackDrawing
import Operations

/// What became of logs that a tool has decoded, without a pipeline.
struct LogDecoding: Sendable {
    /// One for each log that was opened.
    fileprivate(set) var outcomes: [LogOutcome] = []
    fileprivate(set) var failure: (any Error)?
    /// How far the logs were read, as `31 % of town.nmea`.
    fileprivate(set) var reached = "nothing"

    /// Whether the operator ended it before the logs' end.
    var isInterrupted: Bool { (failure as? FixSourceError)?.code == .cancelled }

    /// The same with what became of the results.
    func interruption(_ results: String) -> Interruption { Interruption("\(reached) read; \(results)") }

    /// What was read before a failure has been used; now the failure is reported.
    func conclude() throws -> ExitStatus {
        guard let failure else { return .done }
        throw failure
    }

    /// Why the logs have no fix that could be given: first that one of them is not a receiver's log.
    var absence: AgentError {
        let empty = outcomes.first { $0.statistics.sentences == 0 }
        return AgentError(.inputData, "\(empty?.emptiness ?? LogOutcome.absence(of: outcomes))")
    }

    /// Says what was left out of the logs, and that they come in the wrong order.
    func reportLosses() {
        for outcome in outcomes { outcome.loss.map { Terminal.say("waypost: \($0)") } }
        LogOutcome.disorder(of: outcomes).map { Terminal.say("waypost: \($0)") }
    }
}

extension LogReader {
    /// Decodes everything; `take` gets each chunk and may end it by throwing.
    func decodeAll(
        progress: LogProgress, take: (Chunk) throws(SystemError) -> Void
    ) -> LogDecoding {
        var decoding = LogDecoding()
        var progress = progress
        while true {
            let chunk = next()
            if chunk.bytesRead > 0 {
                decoding.reached = chunk.reached
                if paths.count > 1 { decoding.reached += " (log \(decoding.outcomes.count + 1) of \(paths.count))" }
            }
            if let outcome = chunk.outcome { decoding.outcomes.append(outcome) }
            do throws(SystemError) { try take(chunk) } catch {
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

/// How far a log has been read, drawn for a person during the work.
struct LogProgress: Sendable {
    /// Nobody is shown anything.
    static let silent = LogProgress(isShown: false)
    /// A line now and then, if standard error is a terminal and standard output is not.
    static var besideResults: Self { Self(isShown: Terminal.isInteractive && !StandardOutput.isTerminal) }
    /// A line now and then, wherever the results go.
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
    /// How far its log has been read, in whole parts: `31 % of town.nmea`, or `12.3 MB of standard input`.
    fileprivate var reached: String {
        let size = totalBytes.map { size in size > 0 ? bytesRead * 100 / size : 100 }
        let share = size.map { "\($0) %" } ?? FigureText.bytes(Int(bytesRead))
        return "\(share) of \(FileSystem.name(of: name))"
    }
}

/// What `--follow` can do with a log.
enum GrowingLog {
    /// - Throws: for a log that is there and does not grow: an archive.
    static func require(_ path: String, command: String) throws(UsageError) {
        guard RecordedLog.isArchive(path) else { return }
        throw UsageError("\(path) is a gzip archive, which does not grow; leave --follow out", command: command)
    }
}
