import GNSSReceiver
import Testing
import WaypostTestSupport

@Suite struct Tapping {
    @Test func hearsEveryByteAndEachTurn() async throws {
        let server = try LoopbackSocket(.stream)
        let tap = RecordingTap()
        let sent = epoch(second: 1)
        try await observe(NetworkReceiver(.tcp, host: "127.0.0.1", port: server.port, tap: tap)) { observer in
            let connection = try server.accept()
            try connection.send(sent)
            #expect(await observer.fix() != nil)
        }
        let seen = tap.seen
        #expect(seen.bytes == Array(sent.utf8))
        #expect(seen.line == ["opened", "closed"])
        #expect(seen.turns >= 3, "before and after the opening, and after the bytes")
    }
}
