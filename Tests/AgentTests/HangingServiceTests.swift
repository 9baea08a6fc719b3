import LinuxPlatform
import ReceiverSimulator
import Testing
import WaypostTestSupport

/// `waypost run` beside a world that hangs: it is alive, says what it waits for, and feeds the service manager.
@Suite(.serialized, .timeLimit(.minutes(2))) struct HangingService {
    @Test func goesOnAndSaysWhatItWaitsFor() async throws {
        let bench = try ServiceBench()
        let manager = try NotifySocket(at: bench.folder.path("notify"))
        // A feeder that is stopped: its socket takes the connection, and nothing comes.
        let feeder = try LoopbackSocket(.stream)
        let service = try bench.start(environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000"]) {
            $0.receiver = #"{"type": "tcp", "host": "127.0.0.1", "port": \#(feeder.port)}"#
            $0.authorization = #"{"type": "command", "command": ["/bin/sleep", "1000"], "timeoutSeconds": 1}"#
        }
        #expect(await service.errors.line(saying: "silent for 5 s") != nil)
        let beats = manager.messages.lines.filter { $0.text == "WATCHDOG=1" }.count
        #expect(await manager.messages.line(saying: "WATCHDOG=1", times: beats + 3) != nil)

        // A position comes at last, and the token command never ends by itself.
        let connection = try feeder.accept()
        let epoch = try #require(RecentDrive(epochs: 1).first { _ in true })
        try connection.send(String(decoding: epoch.sentences, as: UTF8.self))
        #expect(await service.errors.line(saying: "accepted update 1") != nil)
        #expect(await service.errors.line(saying: "took longer than 1 s and was ended") != nil)
        #expect(await manager.messages.line(saying: "no token: token command /bin/sleep took longer") != nil)
        #expect(!service.errors.text.contains("through"), "nothing of this is a stage that stands still")
        #expect(await service.terminate().ending == .exited(0))
    }
}
