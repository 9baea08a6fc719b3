import GNSS
import GNSSReceiver
import LinuxPlatform
import ReportedText
import Reporting
import Operations

/// `waypost fixes --explain LINE`: explains how a line was decoded. `LINE` is the text of the line, or its number in a
/// log.
struct LineExplanation {
    let line: String
    let log: String
    let acceptsMissingChecksum: Bool

    func run() async throws -> ExitStatus {
        guard let number = Int(line) else {
            let (lines, hasMissingChecksum) = LogTrace.explanation(of: Array(line.utf8), options: options)
            try write(lines, hasMissingChecksum: hasMissingChecksum)
            return .done
        }
        guard number > 0 else { throw UsageError("--explain is \(line); line numbers start at 1", command: "fixes") }
        let (trace, failure) = try await trace(ofLine: number)
        if failure?.code == .cancelled {
            throw Interruption(
                "\(trace.lineCount.counted("line")) of \(log) read; line \(number) is not explained")
        }
        if trace.lineCount >= number {
            let text = ReportedText(bytes: trace.lineBytes.filter { $0 >= 0x20 })
            try StandardOutput.write(line: "line \(number): \(text)")
            try write(trace.explanation, hasMissingChecksum: trace.hasMissingChecksum)
        }
        if let failure { throw AgentError(.inputData, "\(failure)") }
        guard trace.lineCount >= number else {
            throw AgentError(
                .inputData, "\(log) has no line \(number): it has \(trace.lineCount.counted("line"))")
        }
        return .done
    }

    private var options: NMEADecoderOptions { NMEADecoderOptions(acceptsMissingChecksum: acceptsMissingChecksum) }

    private func write(_ lines: [String], hasMissingChecksum: Bool) throws(SystemError) {
        for text in lines { try StandardOutput.write(line: text) }
        if hasMissingChecksum {
            try StandardOutput.write(line: "  --accept-missing-checksum accepts sentences without a checksum")
        }
    }

    /// Decodes the log until the outcome of line `number` is final, and returns the line's trace. If the log can't be
    /// read that far, also returns the error.
    private func trace(ofLine number: Int) async throws(SystemError) -> (LogTrace, FixSourceError?) {
        let stop = try EventDescriptor()
        return await withTaskCancellationHandler {
            await onThread(named: "explain") {
                var trace = LogTrace(lines: number...number, options: options)
                var failure: FixSourceError?
                do throws(FixSourceError) { try read(into: &trace, unless: stop) } catch { failure = error }
                if !trace.isSettled { trace.finish() }
                return (trace, failure)
            }
        } onCancel: {
            stop.signal()
        }
    }

    private func read(into trace: inout LogTrace, unless stop: EventDescriptor) throws(FixSourceError) {
        let log = try RecordedLog(path: log, stop: stop)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var count = 1
        while count > 0, !trace.isSettled {
            var span = buffer.mutableSpan
            count = try log.read(into: &span)
            trace.read(buffer.span.extracting(first: count))
        }
    }
}
