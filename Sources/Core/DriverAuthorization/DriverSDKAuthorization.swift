public import Foundation
public import VehicleAuthorization

// These modules are re-exported, as in Google's modules, so that a file with a provider needs no other import. On
// Linux, `URLSession` is in FoundationNetworking.
@_exported public import Foundation
@_exported public import FoundationNetworking

/// A handler for the result of one fetch. Call it once, from any thread, with either the token or the error.
public typealias GMTDAuthTokenFetchCompletionHandler = (String?, (any Error)?) -> Void

/// A token provider with the interface that the Driver SDK defines. A provider class from an iOS driver app compiles
/// here once its import is changed.
///
/// Implement one of the two forms of `fetchToken`. `DriverSDKAuthorization` adapts a provider to `VehicleAuthorization`
/// and asks it for a token at each request. Wrap the adapter in `CachedAuthorization` to cache tokens.
public protocol GMTDAuthorization: NSObjectProtocol {
    /// Fetches a token for the context's vehicle and calls `completion` exactly once, from any thread.
    ///
    /// The handler is `@Sendable`, so it may be called on any thread in Swift 6 mode. A class may declare the type of
    /// `completion` as `GMTDAuthTokenFetchCompletionHandler`.
    @preconcurrency
    func fetchToken(
        with authorizationContext: GMTDAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void)

    /// Fetches and returns a token for the context's vehicle. The default implementation calls the completion form.
    func fetchToken(with authorizationContext: GMTDAuthorizationContext?) async throws -> String
}

extension GMTDAuthorization {
    /// Fails, because the provider implements only the `async` form. The agent calls that form instead.
    @preconcurrency
    public func fetchToken(
        with authorizationContext: GMTDAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        completion(nil, ProviderContractError.noCompletionForm)
    }

    /// Calls the completion form and returns its first answer. Cancelling the task ends the wait.
    public func fetchToken(with authorizationContext: GMTDAuthorizationContext?) async throws -> String {
        let answer = FirstAnswer()
        fetchToken(with: authorizationContext) { token, error in answer.accept(token: token, error: error) }
        return try await answer.value()
    }
}

/// The vehicle and task that a driver's token is for. This is the counterpart of the Driver SDK's class; the agent
/// creates it.
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

/// An adapter that makes a provider for the Driver SDK usable as `VehicleAuthorization`.
///
/// The adapter enforces the provider's contract. Calls are made one at a time, on a dedicated queue. The first answer
/// is used if it arrives within the time limit; any other is ignored. A caller that is cancelled stops waiting at once.
/// Each kind of contract violation is reported once, as `AuthorizationWarning.brokenContract`. The adapter doesn't
/// cache tokens; wrap it in `CachedAuthorization`, as `Agent` does.
public struct DriverSDKAuthorization: VehicleAuthorization {
    private let provider: SerializedProvider

    /// - Parameters:
    ///   - provider: the provider. Don't use it elsewhere afterwards, because it needn't be `Sendable`.
    ///   - timeLimit: the maximum time that the provider may take to answer.
    ///   - clock: the clock that measures the time limit.
    ///   - report: a function that receives each kind of contract violation once. If it is `nil`, violations are
    ///     written to standard error.
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

    /// Asks the provider for a vehicle's token and returns it. The token's lifetime is read from the token itself.
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

/// An adapter that makes `VehicleAuthorization` usable in code that requires a provider for the Driver SDK.
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
        // This function can't wait for the token, because it isn't `async`.
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
