import FleetEngine
import FleetEngineSimulator
import FoundationEssentials
import Glibc
import HTTPMessages
import HTTPService
import LinuxPlatform
import ReceiverSimulator
import StrictJSON
import Testing
import TimeAndChance
import WaypostTestSupport

@testable import Waypost

/// `waypost run` that gets another configuration while it runs.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ReloadedService {
    let bench: ServiceBench
    /// Another Fleet Engine, with an issuer whose tokens only that one takes.
    let other: ServiceBench
    let epochs = Array(RecentDrive(epochs: 12))

    init() throws { (bench, other) = (try ServiceBench(), try ServiceBench()) }

    /// Puts another file in the place of the configuration, and asks for a reload.
    private func reload(_ service: RunningProgram, _ edit: (inout ServiceSetup) -> Void) throws {
        _ = try bench.configure(edit)
        service.signal(SIGHUP)
    }

    private func moveToTheOther(_ setup: inout ServiceSetup) {
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

    private func ledger() async throws -> JSONValue {
        let listing = try await BuiltProgram.run(
            ["outbox", "list", "--json", "--config", bench.folder.path("config.json")])
        return try JSONValue(parsing: listing.standardOutput)
    }

    @Test func deliversWhereTheNewConfigurationSays() async throws {
        let (service, receiver) = try await start()
        try receiver.send(epochs[0])
        try #require(await bench.arrival(of: epochs[0]) != nil)
        try reload(service, moveToTheOther)
        let line = await service.errors.line(saying: "configuration reloaded")
        #expect(line?.text.hasSuffix("changed: tokens are fetched anew, updates are sent by the new values") == true)
        try receiver.send(epochs[1])
        #expect(await other.arrival(of: epochs[1]) != nil)
        #expect(await service.errors.line(saying: "delivered 1 in ", times: 2) != nil)
        #expect(await service.terminate().ending == .exited(0))
        #expect(await bench.vehicle?.vehicleState == "ONLINE", "a reload is no stop")
        #expect(await other.vehicle?.vehicleState == "OFFLINE")
        #expect(await bench.vehicle?.fixTimes.count == 1)
        #expect(await other.vehicle?.fixTimes.count == 1)
        let ledger = try await ledger()
        #expect(ledger["delivered"]?.integerValue == 2, "\(ledger.text)")
    }

    /// It is looked at from then on although no fix comes, and no more once it is taken out.
    @Test func watchesThePrivateSwitchThatTheNewOneNames() async throws {
        let (service, receiver) = try await start()
        try receiver.send(epochs[0])
        try #require(await bench.arrival(of: epochs[0]) != nil)
        let path = bench.folder.path("private")
        try reload(service) { $0.vehicle = #""privateWhen": "\#(path)""# }
        try #require(await service.errors.line(saying: "configuration reloaded") != nil)
        _ = try bench.folder.write([], to: "private")
        #expect(await service.errors.line(saying: "the vehicle is private: ") != nil)
        try reload(service) { _ in }
        #expect(await service.errors.line(saying: "the vehicle is private no more") != nil)
        try receiver.send(epochs[1])
        #expect(await service.errors.line(saying: "a fix is withheld") != nil, "it may be of the moment before")
        try receiver.send(epochs[2])
        #expect(await bench.arrival(of: epochs[2]) != nil)
        #expect(await service.terminate().ending == .exited(0))
    }

    /// Each is told by its name, and the van drives on as before; the next good one ends it.
    @Test func staysAsItIsWhenTheNewOneIsBad() async throws {
        let status = "unix:" + bench.folder.path("status")
        let manager = try NotifySocket(at: bench.folder.path("notify"))
        let (service, receiver) = try await start(environment: ["NOTIFY_SOCKET": manager.path]) { $0.status = status }
        let file = bench.folder.path("config.json")
        let good = try String(contentsOf: URL(filePath: file), encoding: .utf8)
        let half = good.prefix(good.count / 2)
        let attempts = [
            (String(half), "is missing for the bracket"),
            ("", "config.json: "),
            (good.replacing(#""van-7""#, with: #""van-8""#), #""vehicle.vehicleId" is changed, which a reload cannot"#),
            (
                good.replacing("outbox.sqlite", with: "o.sqlite").replacing(#""p""#, with: #""q""#),
                #""vehicle.providerId" and "outbox.path" are changed"#
            ),
            (good.replacing(#""level""#, with: #""levle""#), "log.levle"),
            (
                good.replacing(#""upload": {"#, with: #""upload": {"caFile": "/nowhere/ca.pem", "#),
                "config.json: upload.caFile /nowhere/ca.pem cannot be read: "
            ),
        ]
        for (number, (text, words)) in attempts.enumerated() {
            _ = try bench.folder.write(text.utf8, to: "config.json")
            service.signal(SIGHUP)
            try #require(await manager.messages.line(saying: "READY=1", times: number + 2) != nil)
            let isTold = await service.errors.wait { lines in
                lines.contains { $0.text.contains("configuration not reloaded: ") && $0.text.contains(words) }
            }
            #expect(isTold, "\(service.errors.lines.last?.text ?? "nothing") instead of \(words)")
            try receiver.send(epochs[number])
            try #require(await bench.arrival(of: epochs[number]) != nil)
        }
        _ = try bench.folder.write(good.utf8, to: "config.json")
        var why = try await BuiltProgram.run(["why", "--config", file])
        #expect(String(decoding: why.standardOutput, as: UTF8.self).contains(" was rejected and changed nothing: "))
        let report = try await BuiltProgram.run(["status", "--json", "--config", file])
        let told = try JSONValue(parsing: report.standardOutput)["configuration"]
        #expect(told?["problem"]?.stringValue?.contains("upload.caFile") == true)
        #expect(told?["loadedAt"]?.stringValue?.hasSuffix("Z") == true)
        #expect(manager.messages.lines.contains { $0.text.contains("; the last reload was rejected: ") })

        service.signal(SIGHUP)
        #expect(await service.errors.line(saying: "configuration reloaded; nothing has changed") != nil)
        why = try await BuiltProgram.run(["why", "--config", file])
        #expect(!String(decoding: why.standardOutput, as: UTF8.self).contains("rejected"))
        #expect(await service.terminate().ending == .exited(0))
        let said = manager.messages.lines.map(\.text)
        #expect(said.filter { $0 == "RELOADING=1" }.count == attempts.count + 1)
        #expect(said.contains { $0.hasPrefix("MONOTONIC_USEC=") })
    }

    @Test func opensTheReceiverThatTheNewConfigurationNames() async throws {
        let (service, first) = try await start()
        let second = try PluggedReceiver(link: bench.folder.path("second"))
        try first.send(epochs[0])
        try #require(await bench.arrival(of: epochs[0]) != nil)
        try reload(service) { $0.receiver = #"{"type": "serial", "device": "\#(bench.folder.path("second"))"}"# }
        #expect(await service.errors.line(saying: "changed: the receiver is opened anew") != nil)
        try #require(await service.errors.line(saying: "second: open at 9600 baud") != nil)
        try first.send(epochs[1])
        try second.send(epochs[2])
        #expect(await bench.arrival(of: epochs[2]) != nil)
        #expect(await service.terminate().ending == .exited(0))
        #expect(await bench.vehicle?.fixTimes.map(\.description) == [epochs[0], epochs[2]].map(\.time.description))
        // One token served both.
        #expect(service.errors.text.ranges(of: "there is a token again").isEmpty)
    }

    /// What is in progress goes on where its values are the same.
    @Test func disturbsNothingThatHasNotChanged() async throws {
        let gate = Gate()
        let silent = try HTTPService(listeningOn: .loopback(host: "127.0.0.1", port: 0)) { _ in
            _ = await gate.pass()
            return .refusal(status: 503, "enough")
        }
        let serving = Task { await silent.run() }
        defer { serving.cancel() }
        let (service, receiver) = try await start { $0.endpoint = "http://\(silent.address)" }
        try receiver.send(epochs[0])
        for await _ in gate.arrivals.prefix(1) {}
        try reload(service) {
            $0.endpoint = "http://\(silent.address)"
            $0.logFormat = "json"
        }
        try #require(await service.errors.line(saying: "configuration reloaded; changed: the log") != nil)
        gate.open()
        let answer = await service.errors.line(saying: "retry follows")
        #expect(answer?.text.contains(#""level":"warning""#) == true)
        #expect(await service.terminate().ending == .exited(0))
    }

    enum Moment: CaseIterable {
        case inBackoff, whileARequestStalls, whileTheTokenEndpointHangs, whileATokenCommandHangs
    }

    /// What the old configuration waits for is waited for no longer.
    @Test(arguments: Moment.allCases) func isReloadedAtAnyTime(moment: Moment) async throws {
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
        try reload(service, moveToTheOther)
        #expect(await other.arrival(of: epochs[0]) != nil)
        #expect(await service.errors.line(saying: "delivered 1 in ") != nil)
        #expect(await service.terminate().ending == .exited(0))
        let ledger = try await ledger()
        #expect(ledger["delivered"]?.integerValue == 1, "\(ledger.text)")
    }

    @Test func isReloadedWhileTheOutboxHangs() async throws {
        let hang = try await HangingService.outboxThatHangs(in: bench.folder, with: .system)
        let (service, receiver) = try await start()
        try #require(await service.errors.line(saying: "from memory only: the outbox is not open yet") != nil)
        try receiver.send(epochs[0])
        try #require(await bench.arrival(of: epochs[0]) != nil)
        try reload(service, moveToTheOther)
        try #require(await service.errors.line(saying: "configuration reloaded") != nil)
        try receiver.send(epochs[1])
        #expect(await other.arrival(of: epochs[1]) != nil)
        _ = consume hang
        #expect(await service.errors.line(saying: "the outbox is open") != nil)
        #expect(await service.terminate().ending == .exited(0))
    }

    /// Every one of many is either carried out or one with the next; the last counts.
    @Test func takesManyInQuickSuccession() async throws {
        let (service, receiver) = try await start()
        for number in 0..<30 {
            try reload(service) { number.isMultiple(of: 2) ? moveToTheOther(&$0) : () }
        }
        try reload(service) {
            moveToTheOther(&$0)
            $0.logFormat = "json"
        }
        try #require(await service.errors.line(saying: "the log") != nil)
        for epoch in epochs {
            try receiver.send(epoch)
            try #require(await other.arrival(of: epoch) != nil)
        }
        #expect(await service.errors.line(saying: "delivered 1 in ", times: epochs.count) != nil)
        #expect(await service.terminate().ending == .exited(0))
        #expect(try await ledger()["delivered"]?.integerValue == Int64(epochs.count))
    }

    @Test func stopsWhenItIsToldToBeforeAReload() async throws {
        let manager = try NotifySocket(at: bench.folder.path("notify"))
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

    /// What a manager that was deaf hears first must not say that a reload goes on.
    @Test func isReadyForAManagerThatHeardNothingOfTheReload() async throws {
        let path = bench.folder.path("deaf")
        let socket = try NotifySocket.bound(to: path)
        let notification = ServiceNotification(socketPath: path)
        #expect(throws: SystemError(call: "notify \(path)", number: EAGAIN)) {
            for _ in 0..<100_000 { try notification.send(["X=1"]) }
        }
        let manager = Waypost.ServiceManager(notification, log: LogWriter(level: .error, format: .text))
        manager.tell(ServiceNotification.reloading)
        manager.tell(["READY=1", "STATUS=well"])
        let messages = try NotifySocket(at: path, reading: socket).messages
        await messages.line(saying: "X=1")
        await yieldTurns {
            manager.tell(["WATCHDOG=1"])
            return messages.text.contains("WATCHDOG=1")
        }
        await messages.line(saying: "READY=1")
        #expect(messages.lines.contains { $0.text == "READY=1" })
        #expect(!messages.text.contains("RELOADING=1"))
    }
}
