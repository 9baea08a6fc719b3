import LinuxPlatform
package import VehicleAuthorization

/// A provider that can also tell what was said beside the token.
package protocol TokenProvider: VehicleAuthorization {
    /// Asks for a token now, and takes even one whose life is over.
    func ask(for context: AuthorizationContext) async throws(AuthorizationError) -> TokenAnswer

    /// Who hears of an expiry that does not fit.
    var doubts: DoubtReporter { get }
}

extension TokenProvider {
    /// Asks, tells of a doubtful expiry, and takes only a token that lives.
    package func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        let answer = try await ask(for: context)
        doubts.tell(answer.doubt)
        return try answer.livingToken()
    }
}

/// Tells of a doubtful expiry once; every further token would say the same.
package final class DoubtReporter: Sendable {
    private let report: @Sendable (AuthorizationWarning) -> Void
    private let isTold = Locked(false)

    package init(_ report: @escaping @Sendable (AuthorizationWarning) -> Void) { self.report = report }

    package func tell(_ doubt: String?) {
        guard let doubt else { return }
        let isFirst = isTold.withLock { isTold in
            defer { isTold = true }
            return !isTold
        }
        if isFirst { report(.doubtfulExpiry(doubt)) }
    }
}
