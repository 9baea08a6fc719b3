import Testing
import WaypostTestSupport

@testable import LocationReporting

extension Uploading {
    /// Neither the store's failure nor the wait after it keeps a position in memory from going out.
    @Test func sendsPositionsFromMemoryWhileTheOutboxFails() async throws {
        await outbox.failEverything(with: OutboxError(.unusable, "read-only"))
        let transport = ScriptedTransport { _ in Self.delivered }
        let uploader = try uploader(transport)
        let running = Task { await uploader.run() }
        defer { running.cancel() }
        var events = observer.stream.makeAsyncIterator()
        for second in 1...3 {
            while let event = await events.next() { if case .waiting = event { break } }
            await uploader.offer(
                unstored: LocationUpdate(.sample(Double(second))), overrulingStored: false)
            while let event = await events.next() { if case .delivered = event { break } }
        }
        #expect(transport.requests.count == 3)
        while let event = await events.next() { if case .waiting = event { break } }
        await outbox.failEverything(with: nil)
        try await accept(9...9)
        clock.advance(by: .seconds(60))
        while let event = await events.next() { if case .delivered = event { break } }
        try await yieldTurns { try await outbox.ledger().pending == 0 }
        #expect(try await outbox.ledger() == Ledger(accepted: 1, delivered: 1))
    }
}
