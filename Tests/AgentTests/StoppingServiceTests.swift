import FleetEngineSimulator
import Glibc
import HTTPService
import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite(.serialized, .timeLimit(.minutes(2))) struct StoppingService {
    enum Moment: CaseIterable {
        case beforeTheReceiverIsConnected, whileReceiving, inBackoff, whileARequestStalls, whileTheTokenEndpointHangs
    }

    @Test(arguments: Moment.allCases) func stopsInLessThanFiveSeconds(moment: Moment) async throws {
        let bench = try ServiceBench(faults: moment == .whileARequestStalls ? [("--stalls", "1")] : [])
        let gate = Gate()
        let silent = try HTTPService(listeningOn: .loopback(host: "127.0.0.1", port: 0)) { _ in
            _ = await gate.pass()
            return .refusal(status: 503, "the test is over")
        }
        let serving = Task { await silent.run() }
        defer { serving.cancel() }
        let receiver = moment == .beforeTheReceiverIsConnected ? nil : try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start {
            if moment == .whileTheTokenEndpointHangs { $0.tokenURL = "http://\(silent.address)/token" }
            if moment == .inBackoff { $0.retryDelay = 60 }
        }
        if moment == .inBackoff { await bench.simulator.beginOutage() }
        if let receiver {
            let epoch = try #require(RecentDrive(epochs: 1).first { _ in true })
            try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
            try receiver.send(epoch)
            switch moment {
            case .beforeTheReceiverIsConnected: break
            case .whileReceiving: try #require(await service.errors.line(saying: "delivered 1 update in") != nil)
            case .inBackoff: try #require(await service.errors.line(saying: "next attempt in") != nil)
            case .whileARequestStalls: try #require(await bench.arrival(of: epoch) != nil)
            case .whileTheTokenEndpointHangs: for await _ in gate.arrivals.prefix(1) {}
            }
        } else {
            try #require(await service.errors.line(saying: "no such device") != nil)
        }

        let stop = await service.terminate()
        #expect(stop.ending == .exited(0))
        #expect(service.errors.lines.last?.text.hasSuffix("stopped") == true)
        let state = await bench.vehicle?.vehicleState
        switch moment {
        case .beforeTheReceiverIsConnected, .whileReceiving: #expect(state == "OFFLINE")
        case .whileARequestStalls: #expect(state != nil)
        case .inBackoff, .whileTheTokenEndpointHangs: #expect(state == nil)
        }
    }

    /// The outbox is a directory, and Fleet Engine is unreachable.
    @Test func reportsTheUpdatesThatAreLostFromMemory() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start {
            $0.outbox = "."
            $0.endpoint = "http://127.0.0.1:1"
        }
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        try receiver.send(try #require(RecentDrive(epochs: 1).first { _ in true }))
        try #require(await service.errors.line(saying: "Fleet Engine unreachable") != nil)
        #expect(await service.terminate().ending == .exited(0))
        let lines = service.errors.lines.map(\.text).filter { $0.contains("unstored updates dropped") }
        #expect(
            lines.count == 1 && lines[0].contains("1 update, because the outbox accepts none and the service stops"))
    }

    /// The signal of a closing terminal is the same as that for a reload, which also works in a terminal.
    @Test func shutsDownCleanlyWhenTheTerminalCloses() async throws {
        let bench = try ServiceBench()
        let terminal = try PseudoTerminal()
        let line = try OwnedDescriptor(opening: terminal.path, O_RDWR | O_NOCTTY)
        let service = try RunningProgram(
            ["/usr/bin/setsid", "--ctty", BuiltProgram.waypost, "run", "--config", try bench.configure()],
            environment: BuiltProgram.environment, input: line.raw)
        _ = consume line
        try #require(await service.errors.line(saying: "no such device") != nil)
        service.signal(SIGHUP)
        try #require(await service.errors.line(saying: "configuration reloaded") != nil)
        terminal.unplug()
        #expect(await service.end() == .exited(0))
        #expect(service.errors.lines.last?.text.hasSuffix("stopped") == true)
    }

    @Test func isCutShortByASecondSignal() async throws {
        let bench = try ServiceBench()
        let silent = try LoopbackSocket(.stream)
        let manager = try NotifySocket(at: bench.directory.path("notify"))
        let service = try bench.start(environment: ["NOTIFY_SOCKET": manager.path]) {
            $0.tokenURL = "http://127.0.0.1:\(silent.port)/token"
        }
        try #require(await manager.messages.line(saying: "READY=1") != nil)
        service.signal(SIGTERM)
        try #require(await manager.messages.line(saying: "STOPPING=1") != nil)
        // A second signal within a tenth of a second is treated as the same request, so the test repeats it until the
        // service reacts.
        let hasEnded = Locked(false)
        async let ending = service.terminate()
        async let insisting: Void = {
            while !Task.isCancelled, !hasEnded.withLock({ $0 }) {
                service.signal(SIGTERM)
                await Task.yield()
            }
        }()
        let second = await ending
        hasEnded.withLock { $0 = true }
        await insisting
        #expect(second.ending == .exited(128 + SIGTERM))
        #expect(second.took < .seconds(2), "\(second.took)")
    }
}
