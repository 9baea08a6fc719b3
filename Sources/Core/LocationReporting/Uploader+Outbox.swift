/// What the uploader does while the outbox fails: it tries again, and lets no position in memory wait for that.
extension Uploader {
    /// Tells of the failure and waits; less long when there is a position to send in the meantime.
    func outboxFailed(_ error: OutboxError) async {
        observer.observe(.outboxFailed(error))
        guard case .wait(let delay) = decisions.receiveOutboxFailure(jitter: jitter()) else { return }
        observer.observe(.waiting(delay: delay, reason: error.description))
        let (offers, offer) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        offerListener = offer
        defer { offerListener = nil }
        await withTaskGroup { group in
            group.addTask { [clock] in await clock.sleep(for: delay) }
            group.addTask { for await _ in offers { return } }
            await group.next()
            group.cancelAll()
        }
    }
}
