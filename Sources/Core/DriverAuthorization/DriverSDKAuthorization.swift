public import Foundation
public import VehicleAuthorization

// Re-exported as Google's modules do, so that a provider's file needs no other import. On Linux, `URLSession` is in
// FoundationNetworking.
@_exported public import Foundation
@_exported public import FoundationNetworking

/// The handler for the result of one fetch. Call it once, from any thread, with either the token or the error.
public typealias GMTDAuthTokenFetchCompletionHandler = (String?, (any Error)?) -> Void

/// A token provider in the Driver SDK's shape. A provider class of an iOS driver app compiles here once its import is
/// changed.
///
/// Implement one of the two forms. `DriverSDKAuthorization` adapts a provider to `VehicleAuthorization`, and asks the
/// provider for each request. Wrap the adapter in `CachedAuthorization` to cache tokens.
public protocol GMTDAuthorization: NSObjectProtocol {
    /// Fetches a token for the context's vehicle and calls `completion` exactly once, from any thread.
    ///
    /// The handler is `@Sendable`, so it may be called on any thread in Swift 6 mode. A class may declare the handler
    /// as `GMTDAuthTokenFetchCompletionHandler`.
    @preconcurrency
    func fetchToken(
        with authorizationContext: GMTDAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void)

    /// Fetches a token for the context's vehicle. The default implementation calls the completion form.
    func fetchToken(with authorizationContext: GMTDAuthorizationContext?) async throws -> String
}

extension GMTDAuthorization {
    /// Fails, because the provider has only the `async` form, which the agent calls.
    @preconcurrency
    public func fetchToken(
        with authorizationContext: GMTDAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        completion(nil, ProviderContractError.noCompletionForm)
    }

    /// Calls the completion form and returns the first answer. Cancelling the task ends the wait.
    public func fetchToken(with authorizationContext: GMTDAuthorizationContext?) async throws -> String {
        let answer = FirstAnswer()
        fetchToken(with: authorizationContext) { token, error in answer.accept(token, error) }
        return try await answer.value()
    }
}

/// The purpose of a driver's token: the Driver SDK's class, created by the agent.
public final class GMTDAuthorizationContext: NSObject, Sendable {
    /// The vehicle's id in Fleet Engine.
    public let vehicleID: String
    /// The task's id; `nil` except for scheduled tasks of trusted drivers.
    public let taskID: String?

    /// Creates a context, for tests of a provider.
    public init(vehicleID: String, taskID: String? = nil) {
        self.vehicleID = vehicleID
        self.taskID = taskID
    }

    /// A description with the ids, which aren't secret.
    public override var description: String {
        "GMTDAuthorizationContext(vehicleID: \(vehicleID)\(taskID.map { ", taskID: \($0)" } ?? ""))"
    }
}

/// Adapts a provider in the Driver SDK's shape to `VehicleAuthorization`.
///
/// The adapter enforces the contract. Calls are made one at a time, on a dedicated queue. The first answer is used if
/// it arrives within the time limit; any other is ignored. A cancelled caller doesn't wait. Each kind of contract
/// violation is reported once, as `AuthorizationWarning.brokenContract`. The adapter doesn't cache tokens; wrap it in
/// `CachedAuthorization`, as `Agent` does.
public struct DriverSDKAuthorization: VehicleAuthorization {
    private let provider: SerializedProvider

    /// - Parameters:
    ///   - provider: the provider, which the caller must not use any longer, because it needn't be `Sendable`.
    ///   - timeLimit: the maximum time for the provider's answer.
    ///   - clock: measures the time limit.
    ///   - report: receives each kind of contract violation once; `nil` writes to standard error.
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

    /// Asks the provider for a vehicle's token. The token's lifetime is read from the token itself.
    public func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        guard case .vehicle = context.subject else {
            throw AuthorizationError(.unsuitableContext(context))
        }
        return try await provider.token(for: context)
    }

    /// Ensures that later callers don't get the result of an earlier request.
    public func forgetTokens() async { await provider.forgetTokens() }
}

extension GMTDAuthorizationContext {
    fileprivate convenience init(_ context: AuthorizationContext) {
        self.init(vehicleID: context.vehicleID, taskID: context.taskID)
    }
}

/// Adapts `VehicleAuthorization` to a provider in the Driver SDK's shape, for code that requires such a provider.
public final class AgentTokenProvider: NSObject, GMTDAuthorization, Sendable {
    private let authorization: any VehicleAuthorization

    /// Creates a provider that returns the tokens of `authorization`.
    public init(_ authorization: any VehicleAuthorization) { self.authorization = authorization }

    /// Calls `completion` once, asynchronously, with a token for the context's vehicle or an `AuthorizationError`.
    @preconcurrency
    public func fetchToken(
        with authorizationContext: GMTDAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        // The completion form has no task to wait in.
        Task {
            do { completion(try await fetchToken(with: authorizationContext), nil) } catch {
                completion(nil, error)
            }
        }
    }

    /// Returns a token for the context's vehicle.
    ///
    /// - Throws: an `AuthorizationError`; `.missingContext` if there is no context.
    public func fetchToken(with authorizationContext: GMTDAuthorizationContext?) async throws -> String {
        guard let authorizationContext else {
            throw AuthorizationError(.unsuitableContext(nil))
        }
        return try await authorization.token(
            for: AuthorizationContext(vehicleID: authorizationContext.vehicleID, taskID: authorizationContext.taskID)
        ).value
    }
}
