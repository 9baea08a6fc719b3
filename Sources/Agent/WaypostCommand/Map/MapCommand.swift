import GNSS
import LinuxPlatform
import LocationReporting
import TrackDrawing
import Waypost

/// `waypost map`: logs in, one page with the track out.
struct MapCommand {
    private let logs: [String]
    private let output: String
    private let acceptsMissingChecksum: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        logs = arguments.operands
        output = arguments.value("-o") ?? "-"
        acceptsMissingChecksum = arguments.has("--accept-missing-checksum")
        if let log = logs.first(where: { $0 != "-" && FileSystem.isSameFile($0, output) }) {
            throw UsageError("-o \(output) is the log \(log); give the page a name of its own", command: "map")
        }
        if logs.count(where: { $0 == "-" }) > 1 {
            throw UsageError("standard input (-) can be read once only", command: "map")
        }
    }

    func run() async throws -> ExitStatus {
        // The page's place is taken first: a folder that cannot be written should be known before a long log is read.
        let page: FileReplacement?
        do throws(SystemError) { page = output == "-" ? nil : try FileReplacement(at: output) } catch {
            throw UnwritableFile(path: output, cause: error)
        }
        let survey = Locked(TrackSurvey())
        let result = await LogDecoding(paths: logs, acceptsMissingChecksum: acceptsMissingChecksum).run(
            progress: output == "-" ? LogProgress.line() : LogProgress.drawn()
        ) { fixes throws(SystemError) in
            survey.withLock { survey in for fix in fixes { survey.add(fix) } }
        }
        Terminal.draw("")
        if Task.isCancelled { return .done }
        let drawing = MapPage(
            logs: result.outcomes.filter { $0.statistics.bytes > 0 }, survey: survey.withLock { $0 },
            failure: result.failure.map { "\($0)" })
        guard let size = try await write(drawing, to: page) else {
            _ = try LogDecoding.conclude(result.failure)
            throw AgentError(.inputData, Self.emptiness(of: result.outcomes))
        }
        if page != nil, Terminal.isInteractive { Terminal.say("\(output): \(FigureText.bytes(size))") }
        return try LogDecoding.conclude(result.failure)
    }

    /// Draws and writes on a thread of its own, as the disk may take its time; the size in bytes, `nil` when there is
    /// nothing to draw.
    private func write(_ drawing: MapPage, to page: FileReplacement?) async throws -> Int? {
        let result: Result<Int?, SystemError> = await onThread(named: "map") {
            guard let bytes = drawing.bytes else {
                page?.discard()
                return .success(nil)
            }
            do throws(SystemError) {
                if let page { try page.commit(bytes) } else { try StandardOutput.write(bytes) }
            } catch { return .failure(error) }
            return .success(bytes.count)
        }
        switch result {
        case .success(let size): return size
        case .failure(let error): throw page == nil ? error : UnwritableFile(path: output, cause: error)
        }
    }

    private static func emptiness(of outcomes: [LogDecoding.Outcome]) -> String {
        if let other = outcomes.first(where: { $0.statistics.sentences == 0 }) {
            return "\(other.name) holds no NMEA 0183 sentence with a right checksum"
        }
        return LogDecoding.absence(of: outcomes)
    }
}
