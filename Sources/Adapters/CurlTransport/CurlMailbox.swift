import LinuxPlatform

/// How tasks reach libcurl's thread: they leave a message and wake it.
final class CurlMailbox: Sendable {
    /// What the thread is asked to do.
    enum Message: Sendable {
        case start(CurlExchange)
        case cancel(CurlExchange)
        case networkChanged
    }

    private struct Content {
        var messages: [Message] = []
        var isStopped = false
    }

    private let content = Locked(Content())
    private let multi: CurlMulti

    init(multi: CurlMulti) { self.multi = multi }

    func submit(_ exchange: CurlExchange) { leave(.start(exchange)) }

    func cancel(_ exchange: CurlExchange) {
        exchange.markCancelled()
        leave(.cancel(exchange))
    }

    func networkChanged() { leave(.networkChanged) }

    /// Asks the thread to end.
    func stop() {
        content.withLock { $0.isStopped = true }
        multi.wakeUp()
    }

    /// Everything left since the last call; for the thread.
    func take() -> (messages: [Message], isStopped: Bool) {
        content.withLock { content in
            defer { content.messages.removeAll(keepingCapacity: true) }
            return (content.messages, content.isStopped)
        }
    }

    private func leave(_ message: Message) {
        content.withLock { $0.messages.append(message) }
        multi.wakeUp()
    }
}
