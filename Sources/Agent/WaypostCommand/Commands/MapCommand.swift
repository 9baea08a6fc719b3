import GNSS
import LinuxPlatform
import LocationReporting
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
        let bytes = MapPage(
            logs: result.outcomes.filter { $0.statistics.bytes > 0 }.map {
                MapLog(name: $0.name, statistics: $0.statistics)
            },
            survey: survey.withLock { $0 }, failure: result.failure.map { "\($0)" }
        ).bytes
        guard let bytes else {
            _ = try LogDecoding.conclude(result.failure)
            throw AgentError(.inputData, Self.emptiness(of: result.outcomes))
        }
        if let page {
            do throws(SystemError) { try page.commit(bytes) } catch {
                throw UnwritableFile(path: output, cause: error)
            }
            if Terminal.isInteractive { Terminal.say("\(output): \(FigureText.bytes(bytes.count))") }
        } else {
            try StandardOutput.write(bytes)
        }
        return try LogDecoding.conclude(result.failure)
    }

    private static func emptiness(of outcomes: [LogDecoding.Outcome]) -> String {
        if let other = outcomes.first(where: { $0.statistics.sentences == 0 }) {
            return "\(other.name) holds no NMEA 0183 sentence with a right checksum"
        }
        return LogDecoding.absence(of: outcomes)
    }
}
