import FleetEngine
import Glibc
import LinuxPlatform
import ReportedText
package import Reporting
import RunRecording
import SQLiteOutbox
import StrictJSON
package import TimeAndChance

/// Everything that a help desk needs to know of one vehicle's service, as one file: no secret is in it, and no position
/// unless it is wanted.
///
/// What cannot be had (a service that does not answer, a journal that may not be read) is named, and the rest is there.
package struct SupportBundle: Sendable {
    package struct Sources: Sendable {
        /// Where the service is, and what is checked; `nil` when it cannot be read.
        package var configuration: Configuration?
        /// What is wrong with it, where it can be read and is wrong; each names its place.
        package var problems: [String]
        /// The file that it was read from, or why there is none.
        package var configurationFile: String?
        /// Whether positions are wanted: recordings, and where the satellites stand.
        package var withPositions: Bool
        /// Of the service that makes it itself: what it says, and the last lines of its log.
        var maker: (report: StatusReport, log: [String])?

        package init(
            _ configuration: Configuration?, problems: [String] = [], file: String?, withPositions: Bool = false
        ) {
            self.configuration = configuration
            self.problems = problems
            configurationFile = file
            self.withPositions = withPositions
        }
    }

    /// One file of it, or why it is missing.
    package struct Item: Sendable, Hashable {
        package let name: String
        /// What it holds.
        package let about: String
        package let contents: [UInt8]
        /// Why there are none.
        package let absence: String?
    }

    package let items: [Item]
    /// As far as it is known.
    private let vehicle: String?
    private let withPositions: Bool
    private let time: UTCTime

    /// What a file is made of, or why it cannot be.
    private typealias Contents = Result<[UInt8], Absence>

    private struct Absence: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }

    private struct ItemList {
        let text: BundledText
        private(set) var items: [Item] = []

        mutating func add(_ name: String, _ about: String, _ contents: Contents, isText: Bool = true) {
            switch contents {
            case .success(let bytes):
                items.append(Item(name: name, about: about, contents: isText ? text.lines(bytes) : bytes, absence: nil))
            case .failure(let absence):
                let reason = ReportedText(absence.reason).description
                items.append(Item(name: name, about: about, contents: [], absence: text.line(reason)))
            }
        }

        mutating func add(recordings: Result<[(name: String, contents: Contents)], Absence>) {
            switch recordings {
            case .success(let files):
                for (name, contents) in files {
                    add("recordings/\(name)", "a run recording", contents, isText: false)
                }
            case .failure(let absence): add("recordings", "run recordings", .failure(absence))
            }
        }
    }

    /// How long is waited for one of them: the checks have half a minute for a fix.
    private static let patience = Duration.seconds(60)
    /// A journal of an hour at debug level is longer; what is newest counts.
    private static let journalLines = 5000
    /// A recording holds 32 MiB at most.
    private static let recordingLimit = 33 << 20

    /// Asks everybody, side by side.
    package static func collect(_ sources: Sources, at time: UTCTime, on clock: MonotonicClock) async -> SupportBundle {
        let configuration = sources.configuration
        let text = BundledText(keepsPositions: sources.withPositions)
        let maker = sources.maker
        async let answer = Self.answer(sources)
        async let checks = limited(on: clock) {
            await Self.checks(
                configuration, sources.problems, from: sources.configurationFile, asService: maker?.report)
        }
        async let journal = limited(on: clock) { await Self.journal() }
        async let modems = limited(on: clock) { await Self.output(of: ["mmcli", "--list-modems"]) }
        async let file = limited(on: clock) { await Self.file(sources.configurationFile, text) }
        async let machine = had(on: clock) { await onThread(named: "bundle") { Self.machine } }
        async let devices = had(on: clock) { await onThread(named: "bundle") { Self.devices } }
        async let store = had(on: clock) { await onThread(named: "bundle") { Self.store(configuration) } }
        async let recordings = had(on: clock) {
            await onThread(named: "bundle") { sources.withPositions ? Self.recordings(configuration) : [] }
        }

        let asked = await answer
        let written = await file
        var list = ItemList(text: text)
        let report = asked.mapError { _ in Absence("the service does not answer; the line of status.json says why") }
        list.add(
            "status.json", "what the service says of itself",
            asked.mapError { Absence($0.detail) }.flatMap { report in
                guard let value = try? JSONValue(parsing: report.json) else { return .failure(Absence("is no JSON")) }
                return .success((text.status(value).prettyText + "\n").bytes)
            }, isText: false)
        list.add("why.txt", "whether positions arrive, and why not", report.map { $0.report.why(at: time).text.bytes })
        list.add(
            "metrics.txt", "the same as figures, for Prometheus", report.map { $0.report.metrics.bytes }, isText: false)
        list.add("checks.txt", "what waypost check --online finds", await checks)
        list.add("settings.txt", "what is in force and where it came from, secrets struck out", settings(sources))
        list.add("configuration.json", "the configuration's file, secrets struck out", written, isText: false)
        list.add("journal.txt", "the last hour of the service's log", await journal)
        if let maker {
            let log = maker.log.joined(separator: "\n") + "\n"
            list.add("log.txt", "the last lines of that log, as the service remembers them", .success(log.bytes))
        }
        list.add("outbox.txt", "the files of the outbox", await store)
        list.add("machine.txt", "release, kernel, system, memory", await machine)
        list.add("devices.txt", "serial and USB devices, networks", await devices)
        list.add("modems.txt", "what ModemManager knows", await modems)
        if sources.withPositions { list.add(recordings: await recordings) }
        let vehicle =
            configuration?.vehicle.description ?? (try? asked.get().report.vehicle) ?? vehicleID(in: written)
        return SupportBundle(items: list.items, vehicle: vehicle, withPositions: sources.withPositions, time: time)
    }

    /// A name that says whose and of when.
    package var name: String {
        let id = vehicle?.split(separator: "/").last ?? "unknown"
        let plain = id.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        let short = plain.prefix(60)
        let second = time.description.prefix(19).filter { $0 != "-" && $0 != ":" }
        return "waypost-\(String(short))-\(second)Z.tar"
    }

    /// Whether a file that begins with `bytes` is a bundle.
    package static func isBegun(by bytes: [UInt8]) -> Bool {
        guard let first = TarArchive.firstName(in: bytes) else { return false }
        return first.starts(with: "waypost-".utf8) && first.reversed().starts(with: manifestName.utf8.reversed())
    }

    /// Of the first file, in the bundle's folder.
    private static let manifestName = "/MANIFEST"

    /// What is in it, and what is not and why.
    package var manifest: String {
        let width = items.map(\.name.count).max() ?? 0
        let lines = items.map { item in
            let name = item.name + String(repeating: " ", count: width - item.name.count)
            let contents = "\(item.about), \(item.contents.count) bytes"
            return "\(name)  \(item.absence.map { "missing: \($0)" } ?? contents)"
        }
        let claim =
            withPositions
            ? "It holds positions and no secrets."
            : "It holds no secrets and no positions (--with-positions adds them)."
        let whose = vehicle.map { "of \($0)" } ?? "of a vehicle that neither configuration nor service names"
        return """
            Support bundle \(whose), made by waypost \(Release.version) at \(time).
            \(claim)

            \(lines.joined(separator: "\n"))

            """
    }

    /// All of it with its manifest, to be written to a file.
    package var archive: [UInt8] {
        var archive = TarArchive(modified: time)
        let folder = String(name.dropLast(4))
        archive.add(folder + Self.manifestName, manifest.bytes)
        for item in items where item.absence == nil { archive.add("\(folder)/\(item.name)", item.contents) }
        archive.finish()
        return archive.bytes
    }
}

extension SupportBundle {
    private static func limited<Value: Sendable>(
        on clock: MonotonicClock, _ body: @escaping @Sendable () async -> Result<Value, Absence>
    ) async -> Result<Value, Absence> {
        let call = AbandonableCall<Result<Value, Absence>>()
        // Whoever stops the command does not wait for a receiver that is silent.
        let result = await withTaskCancellationHandler {
            await call.run(within: patience, on: clock, body)
        } onCancel: {
            call.abandon()
        }
        return result ?? .failure(Absence("took longer than \(patience.components.seconds) s"))
    }

    private static func had<Value: Sendable>(
        on clock: MonotonicClock, _ body: @escaping @Sendable () async -> Value
    ) async -> Result<Value, Absence> {
        await limited(on: clock) { .success(await body()) }
    }

    /// What the service says of itself, or why it says nothing.
    private static func answer(_ sources: Sources) async -> Result<(report: StatusReport, json: [UInt8]), AgentError> {
        if let report = sources.maker?.report {
            return .success((report, (try? JSONValue(encoding: report))?.text.bytes ?? []))
        }
        do throws(AgentError) { return .success(try await RunningService(sources.configuration).report()) } catch {
            return .failure(error)
        }
    }

    private static func checks(
        _ configuration: Configuration?, _ problems: [String], from file: String?, asService own: StatusReport?
    ) async -> Contents {
        guard let configuration else {
            guard !problems.isEmpty else { return .failure(Absence("there is no configuration to check")) }
            return .success(
                problems.map { "\(CheckLine.Verdict.fail.rawValue)  configuration  \($0)\n" }.joined().bytes)
        }
        var lines = await onThread(named: "check") { OfflineCheck.lines(configuration, from: file) }
        try? await OnlineCheck.run(configuration, from: file, asService: own, waits: { _ in }) { lines.append($0) }
        return .success(lines.map { "\($0.verdict.rawValue)  \($0.name)  \($0.text)\n" }.joined().bytes)
    }

    private static func journal() async -> Contents {
        // Coordinates are at debug level only.
        let told = await output(of: [
            "journalctl", "--unit=waypost", "--since=-1h", "--lines=\(journalLines)", "--priority=info",
            "--output=short-iso", "--no-pager", "--quiet",
        ])
        guard case .success(let bytes) = told, bytes.isEmpty else { return told }
        return .failure(
            Absence("there is no entry of the last hour that this user may read; root and the group adm may read all"))
    }

    private static func output(of command: [String]) async -> Contents {
        let program = command[0]
        do throws(SystemError) {
            let outcome = try await ChildProcess(
                arguments: command, environment: ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"],
                timeLimit: .seconds(20), outputLimit: 8 << 20
            ).run()
            switch outcome.ending {
            case .exited(0): return .success(outcome.standardOutput)
            case .exited(let status):
                let words = ReportedText(bytes: outcome.standardError, limit: 300)
                return .failure(Absence("\(program) ended with \(status): \(words)"))
            case .timedOut: return .failure(Absence("\(program) took longer than 20 s"))
            default: return .failure(Absence("\(program) did not end in order"))
            }
        } catch {
            return .failure(
                Absence(
                    error.number == ENOENT ? "\(program) is not installed" : "\(program) cannot be started: \(error)"))
        }
    }

    /// A line a key, as `waypost config` has them.
    private static func settings(_ sources: Sources) -> Contents {
        guard let configuration = sources.configuration else {
            return .failure(
                Absence(
                    "the configuration cannot be read, or is wrong"
                        + (sources.problems.isEmpty ? "" : "; checks.txt says how")))
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

    private static func file(_ path: String?, _ text: BundledText) async -> Contents {
        guard let path else { return .failure(Absence("its file is not known here")) }
        let read: Result<[UInt8], BoundedFile.Refusal> = await onThread(named: "bundle") {
            do throws(BoundedFile.Refusal) {
                return .success(try BoundedFile.contents(of: path, limit: 1 << 20))
            } catch { return .failure(error) }
        }
        return read.mapError { Absence("\(path) \($0)") }.flatMap { bytes in
            guard let value = try? JSONValue(parsing: bytes) else { return .failure(Absence("\(path) is not JSON")) }
            return .success((text.configuration(value).prettyText + "\n").bytes)
        }
    }

    /// What a file that is wrong elsewhere says of its vehicle.
    private static func vehicleID(in file: Contents) -> String? {
        let value = (try? file.get()).flatMap { try? JSONValue(parsing: $0) }
        return value?["vehicle"]?["vehicleId"]?.stringValue.map { ReportedText($0, limit: 64).description }
    }

    private static func store(_ configuration: Configuration?) -> [UInt8] {
        let path = configuration?.outbox.path ?? "/var/lib/waypost/outbox.sqlite"
        let folder = FileSystem.parent(of: path)
        let own = FileSystem.name(of: path)
        let free = FileSystem.freeBytes(at: folder).map { "\($0) bytes free" }
        var lines = ["\(folder): \(free ?? "cannot be looked at")"]
        do throws(SystemError) {
            for name in try FileSystem.names(inFolder: folder).sorted() where name.hasPrefix(own) {
                guard let status = try FileStatus(at: "\(folder)/\(name)") else { continue }
                lines.append("\(name)  \(status.kind == .file ? "\(status.bytes) bytes" : status.kind.rawValue)")
            }
        } catch { lines.append("\(error)") }
        return lines.joined(separator: "\n").bytes
    }

    private static var machine: [UInt8] {
        var text = "waypost \(Release.version)\n".bytes
        for path in [
            "/proc/version", "/etc/os-release", "/proc/device-tree/model", "/sys/class/dmi/id/product_name",
            "/proc/uptime", "/proc/loadavg", "/proc/meminfo", "/proc/sys/kernel/random/boot_id",
        ] {
            guard let bytes = try? FileSystem.read(2000, at: 0, of: path), !bytes.isEmpty else { continue }
            text += "\n\(path)\n".bytes + bytes
        }
        return text
    }

    private static var devices: [UInt8] {
        var lines: [String] = []
        for folder in ["/dev/serial/by-id", "/dev/serial/by-path"] {
            for name in ((try? FileSystem.names(inFolder: folder)) ?? []).sorted() {
                lines.append("\(folder)/\(name) -> \(FileSystem.linkTarget(at: "\(folder)/\(name)") ?? "")")
            }
        }
        let usb = "/sys/bus/usb/devices"
        for device in ((try? FileSystem.names(inFolder: usb)) ?? []).sorted() {
            // Serial numbers stay out: of a modem it may be the number of its owner's contract.
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

    /// The recorded runs in folders next to the outbox, the newest files first, up to `recordingLimit`. Root makes
    /// bundles, and these folders are the service's: no link in them is followed.
    private static func recordings(_ configuration: Configuration?) -> [(name: String, contents: Contents)] {
        let folder = FileSystem.parent(of: configuration?.outbox.path ?? "/var/lib/waypost/outbox.sqlite")
        var found: [(name: String, contents: Contents)] = []
        var room = recordingLimit
        for inner in ((try? FileSystem.names(inFolder: folder)) ?? []).sorted() {
            let path = "\(folder)/\(inner)"
            guard (try? FileStatus(at: path))?.kind == .folder else { continue }
            let names = (try? FileSystem.names(inFolder: path)) ?? []
            for name in names.sorted(by: >) where RecordingName.number(of: name) != nil {
                do throws(BoundedFile.Refusal) {
                    let bytes = try BoundedFile.contents(of: name, ownedInFolder: path, limit: room)
                    room -= bytes.count
                    found.append(("\(inner)/\(name)", .success(bytes)))
                } catch { found.append(("\(inner)/\(name)", .failure(Absence("\(error)")))) }
            }
        }
        return found
    }
}

extension String {
    fileprivate var bytes: [UInt8] { Array(utf8) }
}
