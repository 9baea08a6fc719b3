import Testing
import WaypostTestSupport

/// The messages that a service manager receives from `waypost run`.
@Suite(.timeLimit(.minutes(1))) struct ServiceManager {
    @Test func isNotifiedOfStartProgressAndStop() async throws {
        let bench = try ServiceBench()
        let manager = try NotifySocket(at: bench.directory.path("notify"))
        let service = try bench.start(environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "100000"])
        try #require(await manager.messages.line(saying: "READY=1") != nil)
        #expect(manager.messages.lines.first?.text == "READY=1")
        try #require(await manager.messages.line(saying: "WATCHDOG=1", times: 5) != nil)
        let beats = manager.messages.lines.filter { $0.text == "WATCHDOG=1" }
        // If no interval were requested, there would be one message per 10 s.
        #expect(beats[0].arrivedAt.duration(to: beats[4].arrivedAt) < .seconds(20))
        #expect(await manager.messages.line(saying: "STATUS=no fix yet") != nil)
        #expect(await service.terminate().ending == .exited(0))
        let said = manager.messages.lines.map(\.text)
        let stop = try #require(said.firstIndex(of: "STOPPING=1"))
        #expect(!said[stop...].contains("WATCHDOG=1") && !said[stop...].contains("READY=1"))
    }

    @Test func mayBeMissing() async throws {
        let bench = try ServiceBench()
        let path = bench.directory.path("nobody")
        let service = try bench.start(environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "100000"]) {
            $0.logFormat = "json"
        }
        #expect(await service.errors.line(saying: #""code":"system_interface_unavailable""#) != nil)
        #expect(await service.errors.line(saying: "status at") != nil)
        let manager = try NotifySocket(at: path)
        #expect(await manager.messages.line(saying: "READY=1") != nil)
        #expect(await service.errors.line(saying: "service manager receives messages again") != nil)
        #expect(await service.terminate().ending == .exited(0))
    }
}
