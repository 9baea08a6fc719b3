import FleetEngine
import Glibc
import LinuxPlatform
package import Reporting
import ReportedText
import SQLiteOutbox
import StrictJSON
package import TimeAndRandomness

/// A collector of the parts of a support bundle. It collects the parts concurrently, each within a time limit.
package struct BundleCollector: Sendable {
    /// The contents of a part, or the reason why the part is missing.
    private typealias Contents = Result<[UInt8], MissingPart>

    private struct MissingPart: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }

    /// The time limit for collecting one part. The checks alone may wait 30 seconds for a fix.
    private static let timeLimit = Duration.seconds(60)
    /// The maximum size of the journal in a bundle. Older lines are left out.
    private static let maximumJournalLines = 5000
    private static let maximumJournalBytes = 1 << 20

    private let configuration: Configuration?
    private let problems: [String]
    private let configurationFile: String?
    private let clock: MonotonicClock

    /// Creates a collector. `configuration` is `nil` if it is unreadable or invalid; `problems` then contains the
    /// reasons.
    package init(_ configuration: Configuration?, problems: [String] = [], file: String?, clock: MonotonicClock) {
        self.configuration = configuration
        self.problems = problems
        configurationFile = file
        self.clock = clock
    }

    package func makeBundle(dated time: UTCTime) async -> SupportBundle {
        let file = await withTimeLimit { await self.redactedConfiguration() }
        // Even an invalid configuration may contain the service's address and the vehicle's id.
        let members = (try? file.get()).flatMap { try? JSONValue(parsing: $0) }
        let address = (try? file.get()).flatMap(RunningService.address)
        let vehicleID = members?["vehicle"]?["vehicleId"]?.stringValue.map { ReportedText($0, limit: 64).description }
        async let answer = Self.serviceReport(for: configuration, at: address)
        async let checks = withTimeLimit { await self.checkLines() }
        async let journal = withTimeLimit { await Self.journalLines() }
        async let modems = withTimeLimit { await Self.output(of: ["/usr/bin/mmcli", "--list-modems"], limit: 1 << 20) }
        async let machine = bytesWithTimeLimit { await onThread(named: "bundle") { Self.machineFacts } }
        async let devices = bytesWithTimeLimit { await onThread(named: "bundle") { Self.deviceList } }
        async let store = bytesWithTimeLimit {
            await onThread(named: "bundle") { Self.outboxFiles(of: configuration) }
        }

        let service = await answer
        let report = service.map(\.report).mapError { MissingPart($0.detail) }
        let status = service.mapError { MissingPart($0.detail) }.flatMap { Self.redactedStatus($0.json) }
        let silence = MissingPart("the service does not answer; see the part status.json")
        let parts = [
            Self.part(
                "why", description: "verdict with cause and remedy", report.map { $0.verdict(at: time).text.bytes }),
            Self.part("checks", description: "results of waypost check --online", await checks),
            Self.part("status.json", description: "the service's state", status, isText: false),
            Self.part("settings", description: "current values with their sources, secrets redacted", settings),
            Self.part(
                "configuration.json", description: "the configuration file, secrets redacted", file, isText: false),
            Self.part("journal", description: "the service's log of the last day", await journal),
            Self.part("outbox", description: "the outbox's files", await store),
            Self.part("machine", description: "release, kernel, system, memory", await machine),
            Self.part("devices", description: "serial and USB devices, networks", await devices),
            Self.part("modems", description: "modems known to ModemManager", await modems),
            Self.part(
                "metrics", description: "the service's metrics",
                report.map { $0.metrics().bytes }.mapError { _ in silence },
                isText: false),
        ]
        let vehicle = configuration?.vehicle.description ?? vehicleID ?? (try? report.get().vehicle)
        return SupportBundle(parts, of: vehicle, at: time)
    }

    /// Returns a part. `contents` are redacted if `isText` is `true`. JSON has already been redacted, and metrics
    /// contain nothing to redact.
    private static func part(_ name: String, description: String, _ contents: Contents, isText: Bool = true)
        -> SupportBundle.Part
    {
        switch contents {
        case .success(let bytes):
            let shown = isText ? BundledText.redactedLines(of: bytes) : bytes
            return SupportBundle.Part(name: name, description: description, contents: shown, missingReason: nil)
        case .failure(let missing):
            let reason = BundledText.redactedLine(ReportedText(missing.reason).description)
            return SupportBundle.Part(name: name, description: description, contents: [], missingReason: reason)
        }
    }

    private func withTimeLimit(_ body: @escaping @Sendable () async -> Contents) async -> Contents {
        let call = AbandonableCall<Contents>()
        // If the user interrupts the command, it ends without waiting for a silent receiver.
        let result = await withTaskCancellationHandler {
            await call.run(within: Self.timeLimit, on: clock, body)
        } onCancel: {
            call.abandon()
        }
        return result ?? .failure(MissingPart("took longer than \(Self.timeLimit.components.seconds) s"))
    }

    private func bytesWithTimeLimit(_ body: @escaping @Sendable () async -> [UInt8]) async -> Contents {
        await withTimeLimit { .success(await body()) }
    }
}

/// The parts that describe the service and its configuration.
extension BundleCollector {
    private static func serviceReport(
        for configuration: Configuration?, at address: LocalAddress?
    ) async -> Result<(report: StatusReport, json: [UInt8]), AgentError> {
        do throws(AgentError) { return .success(try await RunningService(configuration, at: address).report()) } catch {
            return .failure(error)
        }
    }

    private static func redactedStatus(_ json: [UInt8]) -> Contents {
        guard let value = try? JSONValue(parsing: json) else { return .failure(MissingPart("not JSON")) }
        return .success((BundledText.redactedStatus(value).prettyText + "\n").bytes)
    }

    private func checkLines() async -> Contents {
        guard let configuration else {
            guard !problems.isEmpty else { return .failure(MissingPart("there is no configuration to check")) }
            return .success(
                problems.map { "\(CheckLine.Verdict.fail.rawValue)  configuration  \($0)\n" }.joined().bytes)
        }
        let place = await SandboxedCheck.place(
            forFile: configurationFile ?? Configuration.defaultFile, arguments: ["--online"])
        // In the sandbox, the token program runs as the service's user and not as root.
        if case .sandbox(let command) = place {
            let child = ChildProcess(
                arguments: command, environment: ["PATH": "/usr/bin:/bin"], timeLimit: .seconds(160),
                outputLimit: 1 << 20)
            // An invalid configuration is reported on standard error. Status 1 means that the sandbox wasn't created.
            if let outcome = try? await child.run(), case .exited(let status) = outcome.ending, status != 1 {
                return .success(outcome.standardOutput + outcome.standardError)
            }
        }
        var lines: [CheckLine] = []
        if case .outside(let reason) = place {
            lines.append(CheckLine(.note, "service", "sandbox not checked: \(reason)"))
        }
        lines += await onThread(named: "check") { OfflineCheck.lines(configuration, from: configurationFile) }
        try? await OnlineCheck.run(configuration, from: configurationFile, willWait: { _ in }) { lines.append($0) }
        return .success(lines.map { "\($0.verdict.rawValue)  \($0.name)  \($0.text)\n" }.joined().bytes)
    }

    /// The settings as `waypost config` prints them, one line per key.
    private var settings: Contents {
        guard let configuration else {
            return .failure(
                MissingPart(
                    "the configuration is unreadable or invalid" + (problems.isEmpty ? "" : "; see the part checks")))
        }
        let lines = configuration.settings.map { setting in
            let source =
                switch setting.source {
                case .fallback: "default"
                case .line(let line): "line \(line)"
                case .reference(let reference): "\(reference.parts.key) \(reference.parts.name)"
                }
            let value = setting.value.map { $0.stringValue ?? $0.text } ?? "none"
            return "\(setting.path)  \(value)  \(source)\n"
        }
        return .success(lines.joined().bytes)
    }

    private func redactedConfiguration() async -> Contents {
        guard let path = configurationFile else {
            return .failure(MissingPart("the path of the configuration is unknown"))
        }
        let read: Result<[UInt8], BoundedFile.Refusal> = await onThread(named: "bundle") {
            do throws(BoundedFile.Refusal) {
                return .success(try BoundedFile.contents(of: path, limit: 1 << 20))
            } catch { return .failure(error) }
        }
        return read.mapError { MissingPart("\(path) \($0)") }.flatMap { bytes in
            guard let value = try? JSONValue(parsing: bytes) else {
                return .failure(MissingPart("\(path) is not JSON"))
            }
            return .success((BundledText.redactedConfiguration(value).prettyText + "\n").bytes)
        }
    }

}

/// The parts that describe the machine.
extension BundleCollector {
    private static func journalLines() async -> Contents {
        // Debug messages aren't included, because only they contain coordinates.
        let output = await output(
            of: [
                "/usr/bin/journalctl", "--unit=waypost", "--since=-24h", "--lines=\(maximumJournalLines)",
                "--priority=info",
                "--output=short-iso", "--no-pager", "--quiet",
            ], limit: 8 * maximumJournalBytes)
        return output.flatMap { bytes in
            guard bytes.isEmpty else { return .success(Array(bytes.suffix(maximumJournalBytes))) }
            return .failure(
                MissingPart(
                    "no entry from the last day that this user can read; root and the group adm can read all entries"))
        }
    }

    private static func output(of command: [String], limit: Int) async -> Contents {
        let program = command[0]
        do throws(SystemError) {
            let outcome = try await ChildProcess(
                arguments: command, environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"],
                timeLimit: .seconds(20), outputLimit: limit
            ).run()
            switch outcome.ending {
            case .exited(0): return .success(outcome.standardOutput)
            case .exited(let status):
                let message = ReportedText(bytes: outcome.standardError, limit: 300)
                return .failure(MissingPart("\(program) exited with \(status): \(message)"))
            case .timedOut: return .failure(MissingPart("\(program) took longer than 20 s"))
            default: return .failure(MissingPart("\(program) was terminated by a signal"))
            }
        } catch {
            return .failure(
                MissingPart(
                    error.number == ENOENT ? "\(program) is not installed" : "\(program) did not start: \(error)"))
        }
    }

    /// Returns the names and sizes of the outbox's files. No file is opened, because the outbox's owner may have placed
    /// a symbolic link to another file there.
    private static func outboxFiles(of configuration: Configuration?) -> [UInt8] {
        let path = configuration?.outbox.path ?? "/var/lib/waypost/outbox.sqlite"
        let directory = FileSystem.parent(of: path)
        let outboxName = FileSystem.lastComponent(of: path)
        let free = FileSystem.freeBytes(at: directory).map { "\($0) bytes free" }
        var lines = ["\(directory): \(free ?? "free space unknown")"]
        do throws(SystemError) {
            for name in try FileSystem.names(inDirectory: directory).sorted() where name.hasPrefix(outboxName) {
                guard let status = try FileStatus(at: "\(directory)/\(name)") else { continue }
                let contents = status.kind == .file ? "\(status.bytes) bytes" : status.kind.rawValue
                // A line break in a name would begin another line of the bundle.
                lines.append("\(ReportedText(name))  \(contents)")
            }
        } catch { lines.append("\(error)") }
        return lines.joined(separator: "\n").bytes
    }

    private static var machineFacts: [UInt8] {
        var text = "waypost \(Release.version)\n".bytes
        for path in [
            "/proc/version", "/etc/os-release", "/proc/device-tree/model", "/sys/class/dmi/id/product_name",
            "/proc/uptime", "/proc/loadavg", "/proc/meminfo",
        ] {
            guard let bytes = try? FileSystem.read(2000, at: 0, of: path), !bytes.isEmpty else { continue }
            text += "\n\(path)\n".bytes + bytes
        }
        return text
    }

    /// The machine's serial ports, USB devices and networks. Serial numbers are left out, because a modem's may be its
    /// IMEI.
    private static var deviceList: [UInt8] {
        var lines: [String] = []
        let ports = "/dev/serial/by-path"
        for name in ((try? FileSystem.names(inDirectory: ports)) ?? []).sorted() {
            let target = FileSystem.linkTarget(at: "\(ports)/\(name)") ?? ""
            lines.append("\(ports)/\(ReportedText(name)) -> \(ReportedText(target))")
        }
        let usb = "/sys/bus/usb/devices"
        for device in ((try? FileSystem.names(inDirectory: usb)) ?? []).sorted() {
            let facts = ["idVendor", "idProduct", "manufacturer", "product"].compactMap { fact in
                (try? FileSystem.read(200, at: 0, of: "\(usb)/\(device)/\(fact)")).map {
                    ReportedText(bytes: $0.prefix { $0 != UInt8(ascii: "\n") }).description
                }
            }
            if !facts.isEmpty { lines.append("usb \(device): \(facts.joined(separator: " "))") }
        }
        var text = lines.joined(separator: "\n").bytes
        for path in ["/proc/tty/drivers", "/proc/net/dev", "/proc/net/route"] {
            text += "\n\(path)\n".bytes + ((try? FileSystem.read(8000, at: 0, of: path)) ?? [])
        }
        return text
    }
}

extension String {
    fileprivate var bytes: [UInt8] { Array(utf8) }
}
