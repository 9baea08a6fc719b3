import LinuxPlatform
package import VehicleAuthorization

/// A provider that answers from a closure and counts how often, and how many at once, it was asked.
package final class CountingAuthorization: VehicleAuthorization {
    package typealias Answer =
        @Sendable (AuthorizationContext, Int) async throws(AuthorizationError) -> AuthorizationToken

    private struct Log {
        var calls = 0
        var running: [AuthorizationContext: Int] = [:]
        var mostAtOnce = 0
        var discarded: [AuthorizationToken] = []
        var networkReturns = 0
    }

    private let answer: Answer
    private let log = Locked(Log())

    /// `answer` gets the context and the number of the call, from 1.
    package init(_ answer: @escaping Answer) { self.answer = answer }

    package var calls: Int { log.withLock { $0.calls } }
    /// The most calls that were under way for one context at the same time.
    package var mostAtOnce: Int { log.withLock { $0.mostAtOnce } }
    package var discarded: [AuthorizationToken] { log.withLock { $0.discarded } }
    /// How often it was told that the network is back.
    package var networkReturns: Int { log.withLock { $0.networkReturns } }

    package func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        let number = log.withLock { log in
            log.calls += 1
            log.running[context, default: 0] += 1
            log.mostAtOnce = max(log.mostAtOnce, log.running[context, default: 0])
            return log.calls
        }
        defer { log.withLock { $0.running[context, default: 0] -= 1 } }
        return try await answer(context, number)
    }

    package func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async {
        log.withLock { $0.discarded.append(token) }
    }

    package func networkReturned() async { log.withLock { $0.networkReturns += 1 } }
}
