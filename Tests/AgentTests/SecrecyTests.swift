import FoundationEssentials
import LinuxPlatform
import ReceiverSimulator
import Testing
import WaypostTestSupport

/// What a running service keeps to itself.
@Suite(.timeLimit(.minutes(1))) struct Secrets {
    @Test func areNowhereToBeFound() async throws {
        let bench = try ServiceBench(faults: [("--errors", "503:0.3,401:0.2,403:0.1"), ("--resets", "0.1")])
        let backend = try TokenBackend(of: bench.simulator, pages: 1)
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start { $0.tokenURL = backend.url }
        let address = try await service.statusAddress()
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        for epoch in RecentDrive(epochs: 25) {
            try receiver.send(epoch)
            try #require(await bench.arrival(of: epoch) != nil)
        }
        var found = ""
        for path in ["/status", "/metrics", "/healthz"] {
            let answer = await RawExchange.send(
                ["GET \(path) HTTP/1.1\r\nHost: status\r\nConnection: close\r\n\r\n"], to: address)
            #expect(answer.text.contains("HTTP/1.1 200"))
            found += answer.text
        }
        for file in try FileManager.default.contentsOfDirectory(atPath: bench.folder.url.path)
        where file.hasPrefix("outbox") {
            found += String(
                decoding: try Data(contentsOf: bench.folder.url.appending(path: file)), as: Unicode.ASCII.self)
        }
        #expect(await service.terminate().ending == .exited(0))
        found += service.errors.text

        // There was something to tell, and it was told.
        #expect(found.contains("SQLite format 3"))
        #expect(found.contains("the token is refused") && found.contains("not delivered, will be retried"))
        #expect(backend.tokens.count > 1)
        for token in backend.tokens {
            let parts = token.split(separator: ".")
            #expect(parts.count == 3)
            for part in parts { #expect(!found.contains(part)) }
        }
        #expect(!found.contains("Bearer") && !found.contains("Please log in"))
    }
}
