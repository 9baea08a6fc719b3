import VehicleAuthorization

/// The two forms of a provider's `fetchToken`, whichever SDK it comes from. Not `Sendable`: the provider need not be.
struct ProviderForms {
    typealias Completion = @Sendable (String?, (any Error)?) -> Void

    let completing: (AuthorizationContext, @escaping Completion) -> Void
    let asynchronous: (AuthorizationContext) async throws -> String
}
