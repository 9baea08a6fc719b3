import LinuxPlatform
package import VehicleAuthorization

/// A provider that answers from a closure, and remembers what was asked and discarded.
package final class ScriptedAuthorization: VehicleAuthorization {
    package typealias Answer =
        @Sendable (AuthorizationContext, _ asked: Int) async throws(AuthorizationError) -> AuthorizationToken

    private struct Log {
        var asked: [AuthorizationContext] = []
        var discarded: [AuthorizationToken] = []
    }

    private let answer: Answer
    private let log = Locked(Log())

    /// Hands out `token-1`, `token-2` ... a new one for each asking.
    package convenience init() {
        self.init { (_, asked) throws(AuthorizationError) in
            AuthorizationToken(value: "token-\(asked)", lifetime: .seconds(3600))
        }
    }

    package init(_ answer: @escaping Answer) { self.answer = answer }

    package var asked: [AuthorizationContext] { log.withLock { $0.asked } }
    package var discarded: [AuthorizationToken] { log.withLock { $0.discarded } }

    package func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        let asked = log.withLock { log in
            log.asked.append(context)
            return log.asked.count
        }
        return try await answer(context, asked)
    }

    package func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async {
        log.withLock { $0.discarded.append(token) }
    }
}
