import GNSS
import GNSSReceiver
import LinuxPlatform
import LocationReporting
import TrackDrawing
import Waypost

/// Recorded logs through the decoder, one after another, on a thread of its own; a tool's work, without a pipeline.
struct LogDecoding: Sendable {
    /// What came of one log.
    struct Outcome: Sendable {
        /// As the operator gave it.
        let name: String
        let statistics: DecoderStatistics

        /// Without the folders.
        var shortName: String { name.split(separator: "/").last.map(String.init) ?? name }
    }

    var paths: [String]
    var acceptsMissingChecksum = false
    /// Whether the last log is read on at its end, until cancelled.
    var follows = false

    private static let chunkBytes = 1 << 18

    /// Decodes everything; `take` gets the fixes of each chunk, on the decoding thread, and may end it by throwing.
    ///
    /// What was decoded before a failure has been handed over.
    func run(
        progress: @escaping @Sendable (_ name: String, _ bytesRead: Int64, _ totalBytes: Int64?) -> Void,
        take: @escaping @Sendable ([Fix]) throws(SystemError) -> Void
    ) async -> (outcomes: [Outcome], failure: (any Error)?) {
        let stop: EventDescriptor
        do { stop = try EventDescriptor() } catch { return ([], error) }
        return await withTaskCancellationHandler {
            await onThread(named: "decode") {
                var outcomes: [Outcome] = []
                for index in paths.indices {
                    do {
                        let log = try open(index, stop: stop)
                        defer { outcomes.append(Outcome(name: log.name, statistics: log.statistics)) }
                        try Self.decode(log, progress: progress, take: take)
                    } catch { return (outcomes, error) }
                }
                return (outcomes, nil)
            }
        } onCancel: {
            stop.signal()
        }
    }

    private func open(_ index: Int, stop: EventDescriptor) throws(FixSourceError) -> DecodedLog {
        try DecodedLog(
            path: paths[index],
            decoder: NMEADecoder(options: NMEADecoderOptions(acceptsMissingChecksum: acceptsMissingChecksum)),
            follows: follows && index == paths.count - 1, chunkBytes: Self.chunkBytes, stop: stop
        ) { Terminal.say("waypost: \($0)") }
    }

    private static func decode(
        _ log: DecodedLog, progress: (String, Int64, Int64?) -> Void, take: ([Fix]) throws(SystemError) -> Void
    ) throws {
        var fixes: [Fix] = []
        var failure: FixSourceError?
        var isOpen = true
        while isOpen {
            do throws(FixSourceError) { isOpen = try log.next { fixes.append($0) } } catch {
                (failure, isOpen) = (error, false)
            }
            try take(fixes)
            fixes.removeAll(keepingCapacity: true)
            progress(log.name, log.bytesRead, log.totalBytes)
        }
        if let failure { throw failure }
    }
}

extension LogDecoding {
    /// What was read before a failure has been used; now the failure is reported.
    ///
    /// - Returns: `done` when there is none, or the operator ended it.
    static func conclude(_ failure: (any Error)?) throws -> ExitStatus {
        guard let failure else { return .done }
        if let failure = failure as? FixSourceError {
            if failure.code == .cancelled { return .done }
            throw AgentError(.inputData, failure.description)
        }
        throw failure
    }

    /// Why logs with sentences have no fix that could be given.
    static func absence(of outcomes: [Outcome]) -> String {
        let names = outcomes.map(\.name).joined(separator: ", ")
        let epochs = outcomes.reduce(0) { $0 + $1.statistics.epochs }
        let undated = outcomes.reduce(0) { $0 + $1.statistics.undatedFixes }
        if undated > 0 {
            return "no fix with a date in \(names): \(FigureText.count(undated, "fix", "fixes")), "
                + "but no RMC or ZDA sentence that dates them"
        }
        guard epochs > 0 else { return "no fix in \(names): no sentence there states a position with its time" }
        return
            "no fix in \(names): \(FigureText.count(epochs, "epoch")), none with a position that its receiver vouches for"
    }
}

/// How far a log has been read, drawn for a person during the work.
enum LogProgress {
    /// A line now and then, if standard error is a terminal and standard output is not.
    static func line() -> @Sendable (_ name: String, _ bytesRead: Int64, _ totalBytes: Int64?) -> Void {
        guard Terminal.isInteractive, !StandardOutput.isTerminal else { return { _, _, _ in } }
        return drawn()
    }

    /// A line now and then, wherever the results go.
    static func drawn() -> @Sendable (_ name: String, _ bytesRead: Int64, _ totalBytes: Int64?) -> Void {
        let told = Locked(Int64(0))
        return { name, bytesRead, totalBytes in
            let isDue = told.withLock { told in
                guard bytesRead < told || bytesRead >= told + 4 << 20 else { return false }
                told = bytesRead
                return true
            }
            guard isDue else { return }
            let share = totalBytes.map { $0 > 0 ? "\(bytesRead * 100 / $0) %" : "" } ?? "\(bytesRead >> 20) MiB"
            Terminal.draw("\(name)  \(share)")
        }
    }
}

/// What `--follow` can do with a log.
enum GrowingLog {
    /// - Throws: for a log that is there and does not grow: an archive.
    static func require(_ path: String, command: String) throws(UsageError) {
        guard DecodedLog.isArchive(at: path) else { return }
        throw UsageError("\(path) is a gzip archive, which does not grow; leave --follow out", command: command)
    }
}
