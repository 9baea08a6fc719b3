/// Gives the token that authorizes one location update: the port in the shape of the Driver SDK's `GMTDAuthorization`.
///
/// The agent asks at every upload, from any task, and packs the answer with the update. A provider need not cache:
/// `CachedAuthorization` puts the rules of reuse around any provider.
public protocol VehicleAuthorization: Sendable {
    /// A token for the vehicle that `context` names, with at least five minutes of life left where its issuer can
    /// give that much.
    func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken

    /// Tells that Fleet Engine refused `token`: it must not be handed out again.
    func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async

    /// Tells that the network has come back: an issuer that could not be reached may be asked again at once.
    func networkReturned() async
}

extension VehicleAuthorization {
    /// Does nothing: a provider that keeps no tokens has none to drop.
    public func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async {}

    /// Does nothing: a provider that remembers no failure has none to forget.
    public func networkReturned() async {}
}
