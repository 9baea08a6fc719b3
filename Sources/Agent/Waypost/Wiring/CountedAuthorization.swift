import VehicleAuthorization

/// Tells each time that a provider is really asked, which is beyond the cache.
struct CountedAuthorization: VehicleAuthorization {
    private let provider: any VehicleAuthorization
    private let fetched: @Sendable () -> Void

    init(_ provider: any VehicleAuthorization, fetched: @escaping @Sendable () -> Void) {
        (self.provider, self.fetched) = (provider, fetched)
    }

    func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        fetched()
        return try await provider.token(for: context)
    }

    func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async {
        await provider.discard(token, for: context)
    }

    func networkReturned() async { await provider.networkReturned() }
}
