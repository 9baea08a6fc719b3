public import Foundation
public import VehicleAuthorization

/// A provider in the Driver SDK's shape, seen as `VehicleAuthorization`.
///
/// It holds the provider to the contract: calls come one at a time, on a queue of their own; the first answer counts
/// and must come within the time limit; a late one is ignored; a caller who is cancelled does not wait. What
/// the provider does wrong is reported once, as `AuthorizationWarning.brokenContract`. It keeps no tokens; put
/// `CachedAuthorization` around it, as `Agent` does.
public struct DriverSDKAuthorization: VehicleAuthorization {
    private let provider: SerializedProvider

    /// - Parameters:
    ///   - provider: handed over for good, since it need not be `Sendable`.
    ///   - timeLimit: how long its answer may take.
    ///   - clock: measures that.
    ///   - report: hears once of each rule that is broken; `nil` writes to standard error.
    public init(
        _ provider: sending any GMTDAuthorization, timeLimit: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(), report: (@Sendable (AuthorizationWarning) -> Void)? = nil
    ) {
        self.provider = SerializedProvider(
            ProviderVariants(
                completing: { provider.fetchToken(with: GMTDAuthorizationContext($0), completion: $1) },
                asynchronous: { try await provider.fetchToken(with: GMTDAuthorizationContext($0)) }),
            timeLimit: timeLimit, clock: clock, report: report)
    }

    /// Asks the provider for a vehicle's token. How long it lives is read from the token itself.
    public func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        guard case .vehicle = context.subject else {
            throw AuthorizationError(.missingContext, "a driver's provider gives no token for \(context)")
        }
        return try await provider.token(for: context)
    }

    /// Sees to it that nobody is given what the provider was asked for before.
    public func forgetTokens() async { await provider.forgetTokens() }
}

extension GMTDAuthorizationContext {
    fileprivate convenience init(_ context: AuthorizationContext) {
        self.init(vehicleID: context.vehicleID, taskID: context.taskID)
    }
}

/// `VehicleAuthorization` seen as a provider in the Driver SDK's shape, for code that expects one.
public final class AgentTokenProvider: NSObject, GMTDAuthorization, Sendable {
    private let authorization: any VehicleAuthorization

    /// A provider that answers with what `authorization` gives.
    public init(_ authorization: any VehicleAuthorization) { self.authorization = authorization }

    /// Calls `completion` once, later, with a token for the context's vehicle or an `AuthorizationError`.
    @preconcurrency
    public func fetchToken(
        with authorizationContext: GMTDAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        // The completion style has no task to wait in.
        Task {
            do {
                completion(try await fetchToken(with: authorizationContext), nil)
            } catch {
                completion(nil, error)
            }
        }
    }

    /// A token for the context's vehicle.
    ///
    /// - Throws: an `AuthorizationError`; `.missingContext` when there is no context.
    public func fetchToken(with authorizationContext: GMTDAuthorizationContext?) async throws -> String {
        guard let authorizationContext else {
            throw AuthorizationError(.missingContext, "a token was asked for without a context")
        }
        return try await authorization.token(
            for: AuthorizationContext(vehicleID: authorizationContext.vehicleID, taskID: authorizationContext.taskID)
        ).value
    }
}
