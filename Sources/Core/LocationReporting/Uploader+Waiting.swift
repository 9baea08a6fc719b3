import HTTPMessages
import ReportedText
import VehicleAuthorization

/// What the uploader waits for, and who tells it.
extension Uploader {
    /// Tells that the network has come back: whatever waits for that goes on at once, on a new connection.
    package func networkReturned() async {
        networkReturns += 1
        transport.networkChanged()
        await authorization.networkReturned()
        decisions.networkReturned()
        networkListener?.yield()
    }

    /// Asks the outbox again, if the uploader waits for something to send.
    func look() {
        hasNews = true
        idleListener?.yield()
    }

    /// Waits until there may be something to send, at most `limit`; `nil` waits for as long as it takes.
    func waitForNews(within limit: Duration?) async {
        guard !hasNews else { return }
        let (news, listener) = Self.makeListener()
        idleListener = listener
        defer { idleListener = nil }
        guard let limit else {
            for await _ in news { return }
            return
        }
        await sleep(for: limit) { for await _ in news { return } }
    }

    /// Waits for `delay`, or until the network comes back, but for `least` in any case.
    func waitForNetwork(_ delay: Duration, atLeast least: Duration, because reason: ReportedText) async {
        observer.observe(.waiting(delay: delay, reason: reason))
        let (returns, listener) = Self.makeListener()
        networkListener = listener
        defer { networkListener = nil }
        let begun = clock.now
        await sleep(for: delay) { [clock] in
            for await _ in returns { return await clock.sleep(for: least - (clock.now - begun)) }
        }
    }

    /// A stream that keeps one call in mind, and what calls.
    static func makeListener() -> (AsyncStream<Void>, AsyncStream<Void>.Continuation) {
        AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Sleeps for `delay`, or until `event` returns.
    private func sleep(for delay: Duration, unless event: @escaping @Sendable () async -> Void) async {
        await withTaskGroup { group in
            group.addTask { [clock] in await clock.sleep(for: delay) }
            group.addTask { await event() }
            await group.next()
            group.cancelAll()
        }
    }
}
