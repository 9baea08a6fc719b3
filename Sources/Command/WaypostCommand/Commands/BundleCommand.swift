import LinuxPlatform
import ReportedText
import Reporting
import TimeAndRandomness
import Operations

/// `waypost bundle`: writes everything that a help desk needs into one text file.
struct BundleCommand {
    private let collector: BundleCollector
    private let output: String?

    init(_ arguments: Arguments) throws(UsageError) {
        // The bundle is written even if the configuration is invalid or unreadable, and lists the configuration's
        // problems.
        var configuration: Configuration?
        var problems: [String] = []
        do throws(ConfigurationError) { configuration = try arguments.configuration() } catch {
            problems = error.problems.map(\.description)
        }
        collector = BundleCollector(
            configuration, problems: problems, file: arguments.configurationFile,
            clock: MonotonicClock(ContinuousClock()))
        output = arguments.value("-o")
        try output.map { path throws(UsageError) in
            try ReplacedFile.require(path, as: "bundle", of: "bundle", isOurs: SupportBundle.isBundle(startingWith:))
        }
    }

    func run() async throws -> ExitStatus {
        // A file given by `-o` is created before the data is collected, so that an unwritable directory is reported at
        // once.
        let time = UTCTime.system
        var file = try output.flatMap { try openFile(at: $0) }
        Terminal.draw("collecting data from the service, the checks and the system (up to 60 s per part)")
        let bundle = await collector.makeBundle(dated: time)
        Terminal.draw("")
        if Task.isCancelled { throw Interruption("no bundle was written") }
        let path = output ?? bundle.fileName
        if output == nil { file = try openFile(at: path) }
        let text = bundle.contents
        let failure: SystemError? = await onThread(named: "bundle") { [file] in
            do throws(SystemError) {
                if let file { try file.commit(text) } else { try StandardOutput.write(text) }
                return nil
            } catch { return error }
        }
        if let failure { throw file == nil ? failure : UnwritableFile(path: path, cause: failure) }
        let destination = file == nil ? "standard output" : path
        let summary = "\(bundle.summary)\n\(destination): \(text.count.counted("byte"))"
        if file == nil { Terminal.say(summary) } else { try StandardOutput.write(line: summary) }
        return .done
    }

    /// Creates the file that will replace the file at `path`. Returns `nil` if `path` is `-`, which means standard
    /// output.
    private func openFile(at path: String) throws -> FileReplacement? {
        if path == "-" { return nil }
        do throws(SystemError) { return try FileReplacement(at: path) } catch {
            throw UnwritableFile(path: path, cause: error)
        }
    }
}
