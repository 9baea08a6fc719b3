package import VehicleAuthorization

/// A provider that can also tell what was said beside the token.
package protocol TokenProvider: VehicleAuthorization {
    /// Asks for a token now, and takes even one whose life is over.
    func ask(for context: AuthorizationContext) async throws(AuthorizationError) -> TokenAnswer
}
