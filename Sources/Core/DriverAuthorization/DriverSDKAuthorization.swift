public import Foundation
public import VehicleAuthorization

// Like Google's modules, so that a provider's file needs no other import. On Linux `URLSession` is in the second.
@_exported public import Foundation
@_exported public import FoundationNetworking

/// The handler for the result of one fetch. Call it once, from any thread, with either the token or the error.
public typealias GMTDAuthTokenFetchCompletionHandler = (String?, (any Error)?) -> Void

/// A token provider in the Driver SDK's shape. A provider class of an iOS driver app compiles here if only its import
/// is changed.
///
/// Implement one of the two forms. `DriverSDKAuthorization` adapts a provider to `VehicleAuthorization`, and asks it at
/// each request. Wrap that in `CachedAuthorization` to cache tokens.
public protocol GMTDAuthorization: NSObjectProtocol {
    /// Fetches a token for the context's vehicle and calls `completion` exactly once, from any thread.
    ///
    /// The handler is `@Sendable`, so it may be called on any thread in Swift 6 mode. A class may declare it as
    /// `GMTDAuthTokenFetchCompletionHandler`.
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

    /// Calls the completion form. The first answer counts, and cancelling the task ends the wait.
    public func fetchToken(with authorizationContext: GMTDAuthorizationContext?) async throws -> String {
        let answer = FirstAnswer()
        fetchToken(with: authorizationContext) { token, error in answer.give(token, error) }
        return try await answer.value()
    }
}

/// The purpose of a driver's token: the Driver SDK's class, created by the agent.
public final class GMTDAuthorizationContext: NSObject, Sendable {
    /// The vehicle's id in Fleet Engine.
    public let vehicleID: String
    /// The task's id. Only scheduled tasks of trusted drivers have one.
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
/// It enforces the contract. Calls are made one at a time, on a dedicated queue. The first answer counts, and must
/// arrive within the time limit; a late one is ignored. A cancelled caller doesn't wait. The provider's mistakes are
/// reported once each, as `AuthorizationWarning.brokenContract`. It caches no tokens: wrap it in `CachedAuthorization`,
/// as `Agent` does.
public struct DriverSDKAuthorization: VehicleAuthorization {
    private let provider: SerializedProvider

    /// - Parameters:
    ///   - provider: transferred for good, because it need not be `Sendable`.
    ///   - timeLimit: the maximum time for its answer.
    ///   - clock: measures the time limit.
    ///   - report: notified once of each broken rule; `nil` writes to standard error.
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

    /// Asks the provider for a vehicle's token. Its lifetime is read from the token itself.
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

/// Adapts `VehicleAuthorization` to a provider in the Driver SDK's shape, for code that requires one.
public final class AgentTokenProvider: NSObject, GMTDAuthorization, Sendable {
    private let authorization: any VehicleAuthorization

    /// Creates a provider that answers with the tokens of `authorization`.
    public init(_ authorization: any VehicleAuthorization) { self.authorization = authorization }

    /// Calls `completion` once, later, with a token for the context's vehicle or an `AuthorizationError`.
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
