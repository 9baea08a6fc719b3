import FoundationEssentials
import Glibc
import LinuxPlatform
import LocationReporting
import Testing
import WaypostTestSupport

@testable import GNSSReceiver

/// The real gpsd, where it is installed, fed by a pseudo-terminal.
@Suite(.timeLimit(.minutes(1)), .enabled(if: ChildProcess.gpsd != nil, "gpsd is not installed"))
struct RealGPSD {
    @Test func givesTheFixesOfItsReceiverAlsoAfterARestart() async throws {
        let port = try LoopbackSocket(.stream).port  // free a moment ago
        let receiver = GPSDReceiver(host: "127.0.0.1", port: port, patience: .seconds(30))
        try await observe(receiver) { observer in
            for second in [0, 20] {
                let terminal = try PseudoTerminal()
                // In the foreground (-N), reading at once (-n) and only reading (-b).
                let daemon = try ChildProcess(
                    [ChildProcess.gpsd ?? "gpsd", "-b", "-N", "-n", "-S", "\(port)", terminal.path])
                await observer.state(saying: "connected")
                // gpsd listens to some sentences before it knows what speaks; as fast as this it keeps up.
                let feeding = Task {
                    for step in 0..<60 {
                        try terminal.send(epoch(second: second + step % 20, minute: 15 + step / 20))
                        try await Task.sleep(for: .milliseconds(20))
                    }
                }
                #expect(await observer.fix() != nil)
                feeding.cancel()
                _ = await feeding.result
                daemon.stop()
            }
        }
    }
}
