/// Gives the token that authorizes one request to Fleet Engine, for a vehicle's update or a trip's reading: the port in
/// the shape of the Driver SDK's `GMTDAuthorization` and the Consumer SDK's `GMTCAuthorization`.
///
/// It is asked at every request, from any task. A provider need not cache: `CachedAuthorization` puts the rules of
/// reuse around any provider.
public protocol VehicleAuthorization: Sendable {
    /// A token for the vehicle, trip or shipment that `context` names, with at least five minutes of life left where
    /// its issuer can give that much.
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
