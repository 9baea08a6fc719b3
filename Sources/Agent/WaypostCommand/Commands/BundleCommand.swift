import LinuxPlatform
import ReportedText
import Reporting
import TimeAndChance
import Waypost

/// `waypost bundle`: everything that a help desk needs, in one file.
struct BundleCommand {
    private let sources: SupportBundle.Sources
    private let output: String?

    init(_ arguments: Arguments) throws(UsageError) {
        // One that is wrong, or may not be read, is what a help desk should hear of.
        var configuration: Configuration?
        var problems: [String] = []
        do throws(ConfigurationError) { configuration = try arguments.configuration() } catch {
            problems = error.problems
        }
        sources = SupportBundle.Sources(
            configuration, problems: problems, file: arguments.configurationFile,
            withPositions: arguments.has("--with-positions"))
        output = arguments.value("-o")
        if let output, [".zip", ".gz", ".tgz", ".xz", ".bz2", ".zst"].contains(where: output.lowercased().hasSuffix) {
            throw UsageError("-o \(output): a bundle is a tar file that is not packed; name it .tar", command: "bundle")
        }
        if output == "-", StandardOutput.isTerminal {
            throw UsageError(
                "-o - would write a tar file to this terminal; give it to a program (| or >), or name a file",
                command: "bundle")
        }
        try output.map { path throws(UsageError) in
            try ReplacedFile.require(path, as: "bundle", of: "bundle", isOurs: SupportBundle.isBegun(by:))
        }
    }

    func run() async throws -> ExitStatus {
        // Its place is taken first: a folder that cannot be written should be known before anybody is asked.
        let time = UTCTime.system
        var file = try output.flatMap { try place(at: $0) }
        Terminal.draw("asking the service, the checks and the system: half a minute at most")
        let bundle = await SupportBundle.collect(sources, at: time, on: MonotonicClock(ContinuousClock()))
        Terminal.draw("")
        if Task.isCancelled { throw Interruption("before the bundle was written") }
        let path = output ?? bundle.name
        if output == nil { file = try place(at: path) }
        let archive = bundle.archive
        let failure: SystemError? = await onThread(named: "bundle") { [file] in
            do throws(SystemError) {
                if let file { try file.commit(archive) } else { try StandardOutput.write(archive) }
                return nil
            } catch { return error }
        }
        if let failure { throw file == nil ? failure : UnwritableFile(path: path, cause: failure) }
        let destination = file == nil ? "standard output" : path
        let told = "\(bundle.manifest)\n\(destination): \(archive.count.counted("byte"))"
        if file == nil { Terminal.say(told) } else { try StandardOutput.write(line: told) }
        return .done
    }

    /// Where it is written; `nil` for standard output.
    private func place(at path: String) throws -> FileReplacement? {
        if path == "-" { return nil }
        do throws(SystemError) { return try FileReplacement(at: path, mode: 0o600) } catch {
            throw UnwritableFile(path: path, cause: error)
        }
    }
}
