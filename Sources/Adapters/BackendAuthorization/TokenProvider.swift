package import VehicleAuthorization

/// A provider that also reports what the issuer stated beside the token.
package protocol TokenProvider: VehicleAuthorization {
    /// Fetches a token now, and accepts even an expired one.
    func ask(for context: AuthorizationContext) async throws(AuthorizationError) -> TokenAnswer
}

extension TokenProvider {
    /// Fetches a token, and accepts only one that has not expired.
    package func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        try await ask(for: context).unexpiredToken()
    }
}
