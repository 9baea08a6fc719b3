import GNSSReceiver
import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite struct Taps {
    @Test func areNotifiedOfAllBytesAndIterations() async throws {
        let server = try LoopbackSocket(.stream)
        let tap = RecordingTap()
        let sent = epoch(second: 1)
        try await observe(LiveReceiver.tcp(host: "127.0.0.1", port: server.port, progress: tap, tap: tap)) { observer in
            let connection = try server.accept()
            try connection.send(sent)
            #expect(await observer.fix() != nil)
        }
        let record = tap.record
        #expect(record.bytes == Array(sent.utf8))
        #expect(record.openings == 1 && record.fixes == 2 && record.hasEnded)
        #expect(record.iterations >= 3, "before and after the opening, and after the bytes")
    }

    /// Bytes without fixes are read in small portions after the first portion, which may be a backlog.
    @Test(.timeLimit(.minutes(1))) func receiveAFloodInSmallPortions() async throws {
        let server = try LoopbackSocket(.stream)
        let tap = RecordingTap()
        let flood = String(repeating: sentence("GPTXT,01,01,02,nothing of use"), count: 40_000)
        try await observe(LiveReceiver.tcp(host: "127.0.0.1", port: server.port, progress: tap, tap: tap)) { observer in
            let connection = try server.accept()
            await onThread(named: "flood") { try? connection.send(flood + epoch(second: 1)) }
            #expect(await observer.fix() != nil)
        }
        let reads = tap.record.bytesPerIteration.filter { $0 > 0 }
        #expect(reads.reduce(0, +) > flood.utf8.count)
        var first = 0
        var later = reads[...]
        while first < 1 << 20, let read = later.popFirst() { first += read }
        #expect(!later.isEmpty)
        // A read that begins within the portion may exceed it.
        #expect(later.allSatisfy { $0 < 3 << 15 }, "\(reads)")
    }
}
