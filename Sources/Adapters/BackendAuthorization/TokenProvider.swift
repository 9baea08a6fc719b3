import LinuxPlatform
package import VehicleAuthorization

/// A provider that also reports what the issuer stated beside the token.
package protocol TokenProvider: VehicleAuthorization {
    /// Fetches a token now, and accepts even an expired one.
    func ask(for context: AuthorizationContext) async throws(AuthorizationError) -> TokenAnswer

    /// Who hears of an expiry that does not fit.
    var doubts: DoubtReporter { get }
}

extension TokenProvider {
    /// Fetches a token, reports a doubtful expiry, and accepts only a token that has not expired.
    package func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        let answer = try await ask(for: context)
        doubts.tell(answer.doubt)
        return try answer.unexpiredToken()
    }
}

/// Reports a doubtful expiry once; every further token would repeat it.
package final class DoubtReporter: Sendable {
    private let report: @Sendable (AuthorizationWarning) -> Void
    private let wasReported = Locked(false)

    package init(_ report: @escaping @Sendable (AuthorizationWarning) -> Void) { self.report = report }

    package func tell(_ doubt: String?) {
        guard let doubt else { return }
        let isFirst = wasReported.withLock { wasReported in
            defer { wasReported = true }
            return !wasReported
        }
        if isFirst { report(.doubtfulExpiry(doubt)) }
    }
}
