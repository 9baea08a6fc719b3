import HTTPService
import LinuxPlatform
import Reporting
import Testing
import WaypostTestSupport

@Suite(.timeLimit(.minutes(1))) struct AbsentVehicle {
    /// A backend creates the vehicle after an hour. Until then, the reporter sends a few small requests, and uses one
    /// token.
    @Test func isProbedRarelyWithSmallRequestsUntilItExists() async throws {
        let isMissing = Locked(true)
        let server = try StandInFleetEngine { _, _ in
            isMissing.withLock { $0 } ? StandInFleetEngine.refusal(404, "NOT_FOUND") : nil
        }
        let bench = LinkBench()
        try await bench.appendUpdates(of: 1...40)
        let start = bench.clock.now
        let reporter = try bench.reporter(to: "http://\(server.address)")
        await reporter.finishWhenEmpty()
        var probes: [Duration] = []
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await server.service.run() }
            group.addTask { await reporter.deliver() }
            for await event in bench.observer.stream {
                if case .idle = event { break }
                guard case .waiting(let delay) = event else { continue }
                probes.append(start.duration(to: bench.clock.now))
                if probes.count == 14 { isMissing.withLock { $0 = false } }
                bench.clock.advance(by: delay)
            }
            group.cancelAll()
        }
        // The reporter sent 14 probes in an hour, minutes apart.
        #expect(probes.count == 14)
        #expect(probes.last.map { (.seconds(3000)...(.seconds(4000))).contains($0) } == true, "\(probes)")
        let first = server.arrivals[0]
        let rest = server.arrivals[1..<14]
        #expect(first.past.count == 8)
        #expect(rest.allSatisfy { $0.past.isEmpty && $0.byteCount < 800 }, "\(rest.map(\.byteCount))")
        #expect(bench.authorization.discarded.isEmpty)
        // The fifteenth probe found the vehicle, and everything followed without another wait.
        #expect(server.arrivals[14].last == 40 && server.arrivals[14].past.isEmpty)
        #expect(try await bench.outbox.ledger() == Ledger(accepted: 40, delivered: 40))
    }
}
