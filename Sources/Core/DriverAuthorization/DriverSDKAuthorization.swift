public import Foundation
public import VehicleAuthorization

// As Google's modules do: a provider's file has no other import. On Linux `URLSession` is in the second.
@_exported public import Foundation
@_exported public import FoundationNetworking

/// Takes the token, or the error, of one fetch; exactly one of them is given, once, from any thread.
public typealias GMTDAuthTokenFetchCompletionHandler = (String?, (any Error)?) -> Void

/// A token provider in the Driver SDK's shape, so that a provider class of an iOS driver app compiles here with its
/// import changed.
///
/// Implement one of the two forms. `DriverSDKAuthorization` turns a provider into `VehicleAuthorization`, and asks
/// whenever it is asked; `CachedAuthorization` around that keeps tokens.
public protocol GMTDAuthorization: NSObjectProtocol {
    /// Fetches a token for the context's vehicle and calls `completion` exactly once, from any thread.
    ///
    /// The handler may go to any thread, as the compiler knows in Swift 6 mode; a class may take it as
    /// `GMTDAuthTokenFetchCompletionHandler` all the same.
    @preconcurrency
    func fetchToken(
        with authorizationContext: GMTDAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void)

    /// Fetches a token for the context's vehicle. The default calls the completion form.
    func fetchToken(with authorizationContext: GMTDAuthorizationContext?) async throws -> String
}

extension GMTDAuthorization {
    /// Answers with an error: the provider has the `async` form, which the agent calls.
    @preconcurrency
    public func fetchToken(
        with authorizationContext: GMTDAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        completion(nil, ProviderContractError.noCompletionForm)
    }

    /// Calls the completion form; the first answer counts, and cancelling the task ends the wait.
    public func fetchToken(with authorizationContext: GMTDAuthorizationContext?) async throws -> String {
        let answer = FirstAnswer()
        fetchToken(with: authorizationContext) { token, error in answer.give(token, error) }
        return try await answer.value()
    }
}

/// What the agent asks a token for: the Driver SDK's class, made by the agent.
public final class GMTDAuthorizationContext: NSObject, Sendable {
    /// The vehicle's id as Fleet Engine knows it.
    public let vehicleID: String
    /// The task's id; only scheduled tasks of trusted drivers have one.
    public let taskID: String?

    /// A context, as tests of a provider need it.
    public init(vehicleID: String, taskID: String? = nil) {
        self.vehicleID = vehicleID
        self.taskID = taskID
    }

    /// The ids; there is no secret in them.
    public override var description: String {
        "GMTDAuthorizationContext(vehicleID: \(vehicleID)\(taskID.map { ", taskID: \($0)" } ?? ""))"
    }
}

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
            throw AuthorizationError(.unsuitableContext(context))
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
            do { completion(try await fetchToken(with: authorizationContext), nil) } catch {
                completion(nil, error)
            }
        }
    }

    /// A token for the context's vehicle.
    ///
    /// - Throws: an `AuthorizationError`; `.missingContext` when there is no context.
    public func fetchToken(with authorizationContext: GMTDAuthorizationContext?) async throws -> String {
        guard let authorizationContext else {
            throw AuthorizationError(.unsuitableContext(nil))
        }
        return try await authorization.token(
            for: AuthorizationContext(vehicleID: authorizationContext.vehicleID, taskID: authorizationContext.taskID)
        ).value
    }
}
