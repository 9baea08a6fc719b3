import FleetEngine
import FleetEngineSimulator
import FoundationEssentials
import Glibc
import HTTPMessages
import HTTPService
import LinuxPlatform
import ReceiverSimulator
import Reporting
import StrictJSON
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import Operations
@testable import Waypost

/// `waypost run`, which receives another configuration while it runs, and executes its program again with that
/// configuration.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ReloadedService {
    let bench: ServiceBench
    /// Another Fleet Engine, with an issuer whose tokens only it accepts.
    let other: ServiceBench
    let epochs = Array(RecentDrive(epochs: 12))

    init() throws { (bench, other) = (try ServiceBench(), try ServiceBench()) }

    private func reload(_ service: RunningProgram, _ edit: (inout ServiceSetup) -> Void) throws {
        _ = try bench.configure(edit)
        service.signal(SIGHUP)
    }

    private func useTheOtherFleetEngine(_ setup: inout ServiceSetup) {
        setup.endpoint = other.simulator.baseURL.origin
        setup.tokenURL = other.simulator.tokenURL(for: .onDemandTrips)
    }

    private func start(
        environment: [String: String] = [:], _ edit: (inout ServiceSetup) -> Void = { _ in }
    ) async throws -> (RunningProgram, PluggedReceiver) {
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start(environment: environment, edit)
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        return (service, receiver)
    }

    /// Waits until the service has been reloaded `times` times and has opened its receiver again. Returns `false` if
    /// that doesn't happen in time.
    private func isReloaded(_ service: RunningProgram, times: Int = 1) async -> Bool {
        guard await service.errors.line(saying: "configuration reloaded", times: times) != nil else { return false }
        return await service.errors.line(saying: "waiting for the first sentence", times: times + 1) != nil
    }

    /// Waits until no reload is requested or in progress, because a reload can lose an epoch. The service notifies its
    /// manager as soon as it has taken the signal, and when the reload is complete.
    private func waitForTheLastReload(of service: RunningProgram, notifying manager: NotifySocket) async throws {
        func isRequested() throws -> Bool {
            let status = try String(contentsOf: URL(filePath: "/proc/\(service.processID)/status"), encoding: .utf8)
            let signals = status.split(separator: "\n").first { $0.hasPrefix("ShdPnd:") }?.split(separator: "\t").last
            return (signals.flatMap { UInt64($0, radix: 16) } ?? 0) & 1 << UInt64(SIGHUP - 1) != 0
        }
        while true {
            try Task.checkCancellation()
            await Task.yield()
            try await service.waitUntilAtRest()
            guard try !isRequested() else { continue }
            try await service.waitUntilAtRest()
            // All earlier messages have been read when this one arrives.
            let mark = "STATUS=mark \(manager.messages.lines.count)"
            try ServiceNotifier(socketPath: manager.path).send([mark])
            try #require(await manager.messages.line(saying: mark) != nil)
            let said = manager.messages.lines.map(\.text)
            if said.count(where: { $0 == "READY=1" }) > said.count(where: { $0 == "RELOADING=1" }) { return }
        }
    }

    private func ledger() async throws -> JSONValue {
        let listing = try await BuiltProgram.run(
            ["outbox", "list", "--json", "--config", bench.directory.path("config.json")])
        return try JSONValue(parsing: listing.standardOutput)
    }

    /// The process stays the same, and reports to its first Fleet Engine that the vehicle has stopped.
    @Test func deliversToTheServerOfTheNewConfiguration() async throws {
        let (service, receiver) = try await start()
        try receiver.send(epochs[0])
        try #require(await bench.arrival(of: epochs[0]) != nil)
        try reload(service, useTheOtherFleetEngine)
        try #require(await isReloaded(service))
        #expect(commandName(ofProcess: service.processID) == "waypost")
        #expect(HoldingProcess(reading: service.processID).isService)
        #expect(FileLock.holder(at: bench.directory.path("outbox.sqlite.lock"))?.processID == service.processID)
        #expect(await bench.vehicle?.vehicleState == "OFFLINE", "the endpoint has changed")
        try receiver.send(epochs[1])
        #expect(await other.arrival(of: epochs[1]) != nil)
        #expect(await service.errors.line(saying: "delivered 1 update in ", times: 2) != nil)
        #expect(await service.terminate().ending == .exited(0))
        #expect(await other.vehicle?.vehicleState == "OFFLINE")
        #expect(await bench.vehicle?.fixTimes.count == 1)
        #expect(await other.vehicle?.fixTimes.count == 1)
        let ledger = try await ledger()
        #expect(ledger["delivered"]?.integerValue == 2, "\(ledger.text)")
    }

    /// After the reload, every change is in effect. No stop is reported to Fleet Engine.
    @Test func changesReceiverOutboxStatusAddressAndLog() async throws {
        let manager = try NotifySocket(at: bench.directory.path("notify"))
        let (service, receiver) = try await start(environment: ["NOTIFY_SOCKET": manager.path])
        try receiver.send(epochs[0])
        try #require(await bench.arrival(of: epochs[0]) != nil)
        try #require(await service.errors.line(saying: "delivered 1 update in ") != nil)
        let status = bench.directory.path("status")
        let second = try PluggedReceiver(link: bench.directory.path("second"))
        try reload(service) {
            $0.receiver = #"{"type": "serial", "device": "\#(bench.directory.path("second"))"}"#
            $0.outbox = "second.sqlite"
            $0.status = "unix:\(status)"
            $0.logFormat = "json"
        }
        try #require(await service.errors.line(saying: #""message":"configuration reloaded""#) != nil)
        try #require(await service.errors.line(saying: "second: ") != nil)
        #expect(FileSystem.isSameFile("/proc/\(service.processID)/exe", BuiltProgram.waypost))
        try receiver.send(epochs[1])
        try second.send(epochs[2])
        #expect(await bench.arrival(of: epochs[2]) != nil)
        let report = try await BuiltProgram.run(["status", "--json", "--config", bench.directory.path("config.json")])
        #expect(try JSONValue(parsing: report.standardOutput)["ledger"]?["accepted"]?.integerValue == 1)
        #expect(await bench.vehicle?.vehicleState == "ONLINE", "a reload isn't a stop")
        #expect(FileLock.holder(at: bench.directory.path("outbox.sqlite.lock")) == nil)
        #expect(await service.terminate().ending == .exited(0))
        let said = manager.messages.lines.map(\.text).filter { ["READY=1", "RELOADING=1", "STOPPING=1"].contains($0) }
        #expect(said == ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1"])
        #expect(manager.messages.lines.contains { $0.text.hasPrefix("MONOTONIC_USEC=") })
    }

    /// The updates in the previous outbox are safe, but aren't sent until it is configured again.
    @Test func saysThatThePreviousOutboxContainsPendingUpdates() async throws {
        let (service, receiver) = try await start { $0.endpoint = "http://127.0.0.1:1" }
        try receiver.send(epochs[0])
        try #require(await service.errors.line(saying: "Fleet Engine unreachable") != nil)
        try reload(service) {
            $0.endpoint = "http://127.0.0.1:1"
            $0.outbox = "second.sqlite"
        }
        let line = try #require(await service.errors.line(saying: "the previous outbox, ")).text
        #expect(line.contains("outbox.sqlite, contains 1 pending update; to send"), "\(line)")
        #expect(await service.terminate().ending == .exited(0))
    }

    /// The stop is reported under the old name, and no update of the old vehicle is ever sent under the new name.
    @Test func reportsAsAnotherVehicleOnceNothingIsPending() async throws {
        let (service, receiver) = try await start()
        await bench.simulator.beginOutage()
        try receiver.send(epochs[0])
        try #require(await service.errors.line(saying: "accepted update 1") != nil)
        let file = bench.directory.path("config.json")
        let other = try String(contentsOf: URL(filePath: file), encoding: .utf8).replacing("van-7", with: "van-8")
        _ = try bench.directory.write(other.utf8, to: "config.json")
        service.signal(SIGHUP)
        let line = await service.errors.line(saying: "reload rejected: ")
        #expect(line?.text.contains("1 update of providers/p/vehicles/van-7 is pending") == true)
        await bench.simulator.endOutage()
        try #require(await bench.arrival(of: epochs[0]) != nil)
        try #require(await service.errors.line(saying: "delivered 1 update in ") != nil)
        // The reload is rejected until the outbox has the acknowledgement.
        for answers in 2..<100 {
            service.signal(SIGHUP)
            _ = await service.errors.wait { lines in
                lines.count { ["reload rejected: ", "configuration reloaded"].contains(where: $0.text.contains) }
                    >= answers
            }
            if service.errors.text.contains("configuration reloaded") { break }
        }
        try #require(await isReloaded(service))
        #expect(await bench.vehicle?.vehicleState == "OFFLINE")
        try receiver.send(epochs[1])
        #expect(await bench.arrival(of: epochs[1])?.text.contains("van-8") == true)
        #expect(await service.errors.line(saying: "delivered 1 update in ", times: 2) != nil)
        #expect(await service.terminate().ending == .exited(0))
        #expect(try await ledger()["delivered"]?.integerValue == 2)
    }

    /// The service uses the text that was validated, even if the files have changed since.
    @Test func usesTheTextThatWasValidated() async throws {
        let pending = UTCTime.system.advanced(by: .seconds(-600))
        let hang = try await HangingService.makeHangingOutbox(in: bench.directory, updateAt: pending)
        let id = try bench.directory.write("van-7".utf8, to: "id")
        let (service, receiver) = try await start()
        try #require(await service.errors.line(saying: "the outbox is not open yet; sending from memory only") != nil)
        try receiver.send(epochs[0])
        try #require(await bench.arrival(of: epochs[0]) != nil)
        let file = bench.directory.path("config.json")
        let good = try String(contentsOf: URL(filePath: file), encoding: .utf8)
            .replacing(#""van-7""#, with: #"{"file": "\#(id)"}"#).replacing("\"text\"", with: "\"json\"")
        _ = try bench.directory.write(good.utf8, to: "config.json")
        service.signal(SIGHUP)
        try #require(await service.errors.line(saying: "reload delayed until positions in memory are stored") != nil)
        try FileSystem.removeFile(at: id)
        _ = try bench.directory.write("{".utf8, to: "config.json")
        _ = consume hang
        try #require(await isReloaded(service))
        try receiver.send(epochs[1])
        #expect(await bench.arrival(of: epochs[1]) != nil)
        service.signal(SIGHUP)
        #expect(await service.errors.line(saying: "reload rejected") != nil)
        #expect(await service.terminate().ending == .exited(0))
        _ = try bench.configure()
        let ledger = try await ledger()
        // The stop may precede the answer to the last upload.
        let counts = try ["delivered", "pending"].map { try #require(ledger[$0]?.integerValue) }
        #expect(ledger["accepted"]?.integerValue == 3 && counts.reduce(0, +) == 3, "\(ledger.text)")
        #expect(ledger["balances"]?.boolValue == true)
    }

    /// A package upgrade replaces the program's file.
    @Test(arguments: [true, false]) func executesTheCurrentlyInstalledProgram(isReplaced: Bool) async throws {
        let program = bench.directory.path("waypost")
        try FileManager.default.copyItem(atPath: BuiltProgram.waypost, toPath: program)
        let service = try RunningProgram(
            [program, "run", "--config", try bench.configure()], environment: BuiltProgram.environment)
        try #require(await service.errors.line(saying: "no such device") != nil)
        try FileManager.default.removeItem(atPath: program)
        if isReplaced { try FileManager.default.copyItem(atPath: BuiltProgram.waypost, toPath: program) }
        service.signal(SIGHUP)
        if isReplaced {
            try #require(await service.errors.line(saying: "configuration reloaded") != nil)
            #expect(FileSystem.isSameFile("/proc/\(service.processID)/exe", program))
            #expect(await service.terminate().ending == .exited(0))
        } else {
            #expect(await service.end() == .exited(1))
            #expect(service.errors.lines.last?.text.contains("execute \(program): No such file") == true)
        }
    }

    @Test func keepsTheDetectedBaudRate() async throws {
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let automatic = #"{"type": "serial", "device": "\#(bench.devicePath)", "baudRate": "automatic"}"#
        let service = try bench.start { $0.receiver = automatic }
        try #require(await service.errors.line(saying: "looking for the baud rate, now 9600") != nil)
        try receiver.send(epochs[0])
        try #require(await bench.arrival(of: epochs[0]) != nil)
        try reload(service) { $0.receiver = automatic }
        #expect(await service.errors.line(saying: "open at 9600 baud, waiting for the first sentence") != nil)
        #expect(await service.terminate().ending == .exited(0))
    }

    /// The switch is checked although no fix arrives, and no longer once it is removed from the configuration.
    @Test func watchesThePrivateSwitchOfTheNewConfiguration() async throws {
        let (service, receiver) = try await start()
        try receiver.send(epochs[0])
        try #require(await bench.arrival(of: epochs[0]) != nil)
        let path = bench.directory.path("private")
        try reload(service) { $0.vehicle = #""privateModeFile": "\#(path)""# }
        try #require(await service.errors.line(saying: "configuration reloaded") != nil)
        _ = try bench.directory.write([], to: "private")
        #expect(await service.errors.line(saying: "private mode on: ") != nil)
        try reload(service) { _ in }
        try #require(await isReloaded(service, times: 2))
        try receiver.send(epochs[1])
        #expect(await bench.arrival(of: epochs[1]) != nil)
        #expect(await service.terminate().ending == .exited(0))
    }

    /// The log names the key of each error, and the service continues unchanged. The next valid configuration ends the
    /// condition.
    @Test func keepsItsConfigurationIfTheNewOneIsInvalid() async throws {
        let status = "unix:" + bench.directory.path("status")
        let manager = try NotifySocket(at: bench.directory.path("notify"))
        let (service, receiver) = try await start(environment: ["NOTIFY_SOCKET": manager.path]) { $0.status = status }
        let file = bench.directory.path("config.json")
        let good = try String(contentsOf: URL(filePath: file), encoding: .utf8)
        let attempts = [
            (#"{"vehicle": {"#, "is missing for the bracket"),
            ("", "config.json: "),
            (good.replacing(#""type": "serial""#, with: #""type": "stdin""#), "receiver"),
            (
                good.replacing(#"{"type": "serial", "device""#, with: #"{"type": "file", "path""#),
                #"config.json: "receiver" is or becomes stdin, or a file without follow"#
            ),
            (good.replacing(#""level""#, with: #""levle""#), "log.levle"),
            (
                good.replacing(#""upload": {"#, with: #""upload": {"caFile": "/nowhere/ca.pem", "#),
                "config.json: upload.caFile /nowhere/ca.pem cannot be read: "
            ),
        ]
        for (number, (text, words)) in attempts.enumerated() {
            _ = try bench.directory.write(text.utf8, to: "config.json")
            service.signal(SIGHUP)
            try #require(await manager.messages.line(saying: "READY=1", times: number + 2) != nil)
            let isReported = await service.errors.wait { lines in
                lines.contains { $0.text.contains("reload rejected: ") && $0.text.contains(words) }
            }
            #expect(isReported, "\(service.errors.lines.last?.text ?? "nothing") instead of \(words)")
            try receiver.send(epochs[number])
            try #require(await bench.arrival(of: epochs[number]) != nil)
        }
        _ = try bench.directory.write(good.utf8, to: "config.json")
        var why = try await BuiltProgram.run(["why", "--config", file])
        #expect(String(decoding: why.standardOutput, as: UTF8.self).contains("Reload rejected, since "))
        let report = try await BuiltProgram.run(["status", "--json", "--config", file])
        let parsedReport = try JSONValue(parsing: report.standardOutput)
        let rejection = parsedReport["conditions"]?.arrayValue?.first { $0["code"]?.stringValue == "reload_rejected" }
        #expect(rejection?["cause"]?.stringValue?.contains("upload.caFile") == true)
        #expect(parsedReport["configuration"]?["loadedAt"]?.stringValue?.hasSuffix("Z") == true)
        #expect(manager.messages.lines.contains { $0.text.contains("; reload rejected: ") })

        service.signal(SIGHUP)
        try #require(await isReloaded(service))
        try #require(await manager.messages.line(saying: "READY=1", times: attempts.count + 2) != nil)
        why = try await BuiltProgram.run(["why", "--config", file])
        #expect(!String(decoding: why.standardOutput, as: UTF8.self).contains("rejected"))
        #expect(await service.terminate().ending == .exited(0))
        let said = manager.messages.lines.map(\.text)
        #expect(said.filter { $0 == "RELOADING=1" }.count == attempts.count + 1)
        #expect(said.contains { $0.hasPrefix("MONOTONIC_USEC=") })
    }

    enum Moment: CaseIterable {
        case inBackoff, whileARequestStalls, whileTheTokenEndpointHangs, whileATokenCommandHangs
    }

    /// A reload abandons the waits of the old configuration.
    @Test(arguments: Moment.allCases) func canBeReloadedAtAnyTime(moment: Moment) async throws {
        let gate = Gate()
        let silent = try HTTPService(listeningOn: .loopback(host: "127.0.0.1", port: 0)) { _ in
            _ = await gate.pass()
            return .refusal(status: 503, "the test is over")
        }
        let serving = Task { await silent.run() }
        defer { serving.cancel() }
        let (service, receiver) = try await start {
            switch moment {
            case .inBackoff: $0.retryDelay = 60
            case .whileARequestStalls: $0.endpoint = "http://\(silent.address)"
            case .whileTheTokenEndpointHangs: $0.tokenURL = "http://\(silent.address)/token"
            case .whileATokenCommandHangs:
                $0.authorization = #"{"type": "command", "command": ["/bin/sleep", "1000"], "timeoutSeconds": 120}"#
            }
        }
        if moment == .inBackoff { await bench.simulator.beginOutage() }
        try receiver.send(epochs[0])
        switch moment {
        case .inBackoff: try #require(await service.errors.line(saying: "next attempt in") != nil)
        case .whileARequestStalls, .whileTheTokenEndpointHangs: for await _ in gate.arrivals.prefix(1) {}
        case .whileATokenCommandHangs: try #require(await service.errors.line(saying: "accepted update 1") != nil)
        }
        try reload(service, useTheOtherFleetEngine)
        #expect(await other.arrival(of: epochs[0]) != nil)
        #expect(await service.errors.line(saying: "delivered 1 update in ") != nil)
        #expect(await service.terminate().ending == .exited(0))
        let ledger = try await ledger()
        #expect(ledger["delivered"]?.integerValue == 1, "\(ledger.text)")
    }

    /// Each reload is either carried out or merged with the next one, so the last configuration is in effect. No other
    /// process can open the outbox meanwhile.
    @Test func handlesManyReloadsInQuickSuccession() async throws {
        let manager = try NotifySocket(at: bench.directory.path("notify"))
        let (service, receiver) = try await start(environment: ["NOTIFY_SOCKET": manager.path])
        let rival = try bench.directory.write(
            try String(contentsOf: URL(filePath: bench.directory.path("config.json")), encoding: .utf8).utf8,
            to: "rival.json")
        async let endings: [ChildProcess.Termination] = {
            var endings: [ChildProcess.Termination] = []
            for _ in 0..<12 { endings.append(try await BuiltProgram.run(["run", "--config", rival]).ending) }
            return endings
        }()
        for number in 0..<30 {
            try reload(service) { number.isMultiple(of: 2) ? useTheOtherFleetEngine(&$0) : () }
            _ = await service.errors.line(saying: "configuration reloaded", times: 1 + number / 3)
        }
        #expect(try await endings == Array(repeating: .exited(69), count: 12))
        try await waitForTheLastReload(of: service, notifying: manager)
        try reload(service) {
            useTheOtherFleetEngine(&$0)
            $0.logFormat = "json"
        }
        let isReady = await service.errors.wait { lines in
            let last = lines.lastIndex { $0.text.contains(#""message":"configuration reloaded""#) }
            return last.map { lines[$0...].contains { $0.text.contains("waiting for the first sentence") } } ?? false
        }
        try #require(isReady)
        try await waitForTheLastReload(of: service, notifying: manager)
        for epoch in epochs {
            try receiver.send(epoch)
            try #require(await other.arrival(of: epoch) != nil)
        }
        #expect(await service.errors.line(saying: "delivered 1 update in ", times: epochs.count) != nil)
        #expect(await service.terminate().ending == .exited(0))
        #expect(try await ledger()["delivered"]?.integerValue == Int64(epochs.count))
    }

    /// The program blocks the signal before anything else. Then it removes the unwanted variable by executing itself
    /// again without it, long before it is ready.
    @Test func canBeReloadedBeforeItIsReady() async throws {
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start(environment: ["CURL_HOME": "/nowhere", "KEPT": "1"])
        try await yieldTurns {
            let environment = try FileSystem.read(1 << 16, at: 0, of: "/proc/\(service.processID)/environ")
            let variables = String(decoding: environment, as: UTF8.self).split(separator: "\0")
            return variables.contains("KEPT=1") && !variables.contains("CURL_HOME=/nowhere")
        }
        service.signal(SIGHUP)
        let isReady = await service.errors.wait { lines in
            let reload = lines.firstIndex { $0.text.contains("configuration reloaded") }
            return reload.map { lines[$0...].contains { $0.text.contains("waiting for the first sentence") } } ?? false
        }
        try #require(isReady)
        try receiver.send(epochs[0])
        #expect(await bench.arrival(of: epochs[0]) != nil)
        #expect(await service.terminate().ending == .exited(0))
    }

    @Test func stopsOnASignalBeforeAReload() async throws {
        let manager = try NotifySocket(at: bench.directory.path("notify"))
        let silent = try LoopbackSocket(.stream)
        let (service, _) = try await start(environment: ["NOTIFY_SOCKET": manager.path]) {
            $0.tokenURL = "http://127.0.0.1:\(silent.port)/token"
        }
        service.signal(SIGTERM)
        try #require(await manager.messages.line(saying: "STOPPING=1") != nil)
        for _ in 0..<1000 {
            service.signal(SIGHUP)
            await Task.yield()
        }
        #expect(await service.end() == .exited(0))
        #expect(manager.messages.lines.last { $0.text.hasSuffix("ING=1") }?.text == "STOPPING=1")
    }

    /// If a manager was too busy to receive messages during a reload, its next message must not say RELOADING=1.
    @Test func notifiesAManagerThatMissedTheReload() async throws {
        let path = bench.directory.path("deaf")
        let socket = try NotifySocket.bound(to: path)
        let notifier = ServiceNotifier(socketPath: path)
        #expect(throws: SystemError(call: "notify \(path)", number: EAGAIN)) {
            for _ in 0..<100_000 { try notifier.send(["X=1"]) }
        }
        let manager = Waypost.ServiceManager(notifier, monitor: AgentMonitor(clock: MonotonicClock(ManualClock())))
        manager.send(ServiceNotifier.reloading)
        manager.send(["READY=1", "STATUS=well"])
        let messages = try NotifySocket(at: path, reading: socket).messages
        await messages.line(saying: "X=1")
        await yieldTurns {
            manager.send(["WATCHDOG=1"])
            return messages.text.contains("WATCHDOG=1")
        }
        await messages.line(saying: "READY=1")
        #expect(messages.lines.contains { $0.text == "READY=1" })
        #expect(!messages.text.contains("RELOADING=1"))
    }
}
