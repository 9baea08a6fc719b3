import HTTPMessages
import LinuxPlatform

/// One request on its way, as its task and libcurl's thread share it.
final class CurlExchange: Sendable {
    typealias Outcome = Result<HTTPResponse, HTTPTransportError>

    let request: HTTPRequest
    /// Who waits for the outcome; set before the exchange is submitted, taken by whoever answers first.
    let waiter = Locked<CheckedContinuation<Outcome, Never>?>(nil)
    private let cancelled = Locked(false)

    init(request: HTTPRequest) { self.request = request }

    /// Set before the thread is told, so that it does not matter whether request or cancellation arrives first.
    var isCancelled: Bool { cancelled.withLock { $0 } }

    func markCancelled() { cancelled.withLock { $0 = true } }

    /// Answers the task; a second answer goes nowhere.
    func finish(_ outcome: Outcome) {
        let waiting = waiter.withLock { waiter in
            defer { waiter = nil }
            return waiter
        }
        waiting?.resume(returning: outcome)
    }
}
